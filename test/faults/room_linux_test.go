package faults

import (
	"net/http"
	"testing"

	"golang.org/x/sys/unix"
)

// A file that can't grow stands for a full disk: what fails is refused whole, what
// is there can be read, and space that is freed is used.
func TestSQLiteHasNoRoomToGrow(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	f, caller, inbox := newFirm(t, database), newCaller(t), newReceiver(t, nil)
	f.listen(t, inbox.URL)
	server := serve(t, database)
	f.join(t, caller, server.url, "there")
	inbox.about(t, patience, "there", 1)
	room := func(bytes uint64) {
		t.Helper()
		limit := unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(server.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
			t.Fatal("limit the size of files:", err)
		}
	}
	room(4 << 10)
	for range 3 {
		got, err := f.call(t.Context(), caller, http.MethodPost, server.url+"/api/v1/employees/provision", someone("lost"))
		if err != nil {
			t.Fatal("no answer:", err)
		}
		wantError(t, got, http.StatusServiceUnavailable, "unavailable")
	}
	f.must(t, caller, http.MethodGet, server.url+"/api/v1/employees/there", nil)
	if f.has(t, caller, server.url, "lost") {
		t.Error("a change that was refused has happened")
	}
	room(unix.RLIM_INFINITY)
	works(t, f, caller, server.url, "back", inbox)
}
