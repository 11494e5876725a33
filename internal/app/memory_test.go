package app

import (
	"io/fs"
	"testing"
)

func TestParseMemory(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "512MiB": 512 << 20, "512m": 512 << 20, "2GB": 2e9, "1.5GiB": 3 << 29, "100000000": 100_000_000, " 64 MiB ": 64 << 20,
	} {
		if got, err := ParseMemory(text); err != nil || got != want {
			t.Errorf("ParseMemory(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"much", "-1", "-1MiB", "1TiB", "NaN", "1e30GiB", "MiB"} {
		if got, err := ParseMemory(text); err == nil {
			t.Errorf("ParseMemory(%q) = %d, want an error", text, got)
		}
	}
	if got, err := ParseMemory("auto"); err != nil || got < minMemoryLimit {
		t.Errorf("ParseMemory(auto) = %d, %v", got, err)
	}
}

func TestAvailableMemory(t *testing.T) {
	t.Parallel()
	machine := "MemTotal:       8388608 kB\nMemFree:        1 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing known":       {nil, 0},
		"machine":             {map[string]string{"/proc/meminfo": machine}, 8 << 30},
		"unlimited cgroup":    {map[string]string{"/proc/meminfo": machine, "/sys/fs/cgroup/memory.max": "max\n"}, 8 << 30},
		"container":           {map[string]string{"/proc/meminfo": machine, "/sys/fs/cgroup/memory.max": "268435456\n"}, 256 << 20},
		"old cgroups":         {map[string]string{"/proc/meminfo": machine, "/sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n"}, 256 << 20},
		"old cgroups, nested": {map[string]string{"/proc/meminfo": machine, "/proc/self/cgroup": "5:devices:/\n4:memory:/a\n0::/\n", "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "536870912\n"}, 512 << 20},
		"service of system":   {map[string]string{"/proc/meminfo": machine, "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/memory.max": "536870912\n", "/sys/fs/cgroup/a/b/memory.max": "max\n"}, 512 << 20},
	} {
		read := func(path string) ([]byte, error) {
			if text, found := c.files[path]; found {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		}
		if got := availableMemory(read); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
