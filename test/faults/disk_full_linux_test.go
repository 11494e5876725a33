package faults

import (
	"net/http"
	"testing"

	"golang.org/x/sys/unix"
)

// A limit on the size of files simulates a full disk: writes are refused without
// side effects and readiness fails, reads still work, and writes work again once there
// is space.
func TestSQLiteOnAFullDisk(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	acme, inbox := newCompany(t, database), newReceiver(t, nil)
	acme.addWebhook(t, inbox.URL)
	server := serve(t, database)
	acme.provision(t, server.url, "there")
	inbox.waitFor(t, timeout, "there", 1)
	limitFileSize := func(bytes uint64) {
		t.Helper()
		limit := unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(server.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
			t.Fatal("limit the size of files:", err)
		}
	}
	limitFileSize(4 << 10)
	for range 3 {
		got, err := acme.send(t.Context(), http.MethodPost, server.url+"/api/v1/employees/provision", newPerson("lost"))
		if err != nil {
			t.Fatal("no answer:", err)
		}
		wantError(t, got, http.StatusServiceUnavailable, "unavailable")
		if status, err := probe(acme.client, server.url+"/readyz"); err != nil || status != http.StatusServiceUnavailable {
			t.Errorf("/readyz answers %d, %v while no change can be made, want 503", status, err)
		}
	}
	acme.mustSend(t, http.MethodGet, server.url+"/api/v1/employees/there", nil)
	if acme.hasEmployee(t, server.url, "lost") {
		t.Error("a change that was refused was made after all")
	}
	limitFileSize(unix.RLIM_INFINITY)
	waitForRecovery(t, acme, server.url, "back", inbox)
}
