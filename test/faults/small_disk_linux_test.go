package faults

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// smallDisk mounts a disk of some bytes in a directory.
func smallDisk(t *testing.T, dir string, bytes int) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0755", bytes)); err != nil {
		t.Fatal("mount a small disk (this test needs to be root, or CAP_SYS_ADMIN):", err)
	}
	t.Cleanup(func() {
		for range 100 { // the server's last process may just be ending
			if unix.Unmount(dir, 0) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Error("the small disk can't be unmounted")
	})
	pgtest.ChownToServer(t, dir)
}
