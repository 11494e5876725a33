package app

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30
	// minMemoryLimit is what the program needs to serve at all.
	minMemoryLimit = 64 * mebibyte
)

// units are the suffixes of memory sizes, longest first.
var units = []struct {
	suffix string
	bytes  int64
}{
	{"kib", 1 << 10}, {"mib", mebibyte}, {"gib", gibibyte}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9},
	{"k", 1 << 10}, {"m", mebibyte}, {"g", gibibyte}, {"b", 1}, {"", 1},
}

// ParseMemory parses a size such as 512MiB or 2GB, or "auto" for 80 % of the
// memory that the container or the machine has. 0 means no limit.
func ParseMemory(text string) (int64, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "auto" || text == "" {
		return defaultMemoryLimit(), nil
	}
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n >= 0) || n*float64(u.bytes) >= math.MaxInt64 {
			break
		}
		return int64(n * float64(u.bytes)), nil
	}
	return 0, fmt.Errorf("--memory-limit must be a size such as 512MiB, auto, or 0 for no limit, not %q", text)
}

func checkMemoryLimit(limit int64) error {
	if limit != 0 && limit < minMemoryLimit {
		return errors.New("--memory-limit must be at least 64MiB, or 0 for no limit")
	}
	return nil
}

// defaultMemoryLimit is 80 % of the container's or the machine's memory, 0 where
// neither is known.
func defaultMemoryLimit() int64 {
	limit := availableMemory(os.ReadFile)
	if limit == 0 {
		return 0
	}
	return max(limit/5*4, minMemoryLimit)
}

// availableMemory returns the smaller of the cgroup's limit and the machine's memory.
func availableMemory(read func(path string) ([]byte, error)) int64 {
	var least int64
	consider := func(n int64, ok bool) {
		if ok && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	for _, path := range cgroupFiles(read) {
		text, err := read(path)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" means no limit
		consider(n, err == nil)
	}
	consider(machineMemory(read))
	return least
}

// cgroupFiles lists the files that may hold the limit of our cgroup, in both
// versions of cgroups, up to the root: a parent's limit holds too.
func cgroupFiles(read func(path string) ([]byte, error)) []string {
	files := []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}
	text, err := read("/proc/self/cgroup")
	if err != nil {
		return files
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		root, file := "/sys/fs/cgroup", "/memory.max"
		group, ok := strings.CutPrefix(line, "0::")
		if !ok {
			root, file = "/sys/fs/cgroup/memory", "/memory.limit_in_bytes"
			_, group, ok = strings.Cut(line, ":memory:")
		}
		for ok && len(group) > 1 {
			files = append(files, root+group+file)
			group = group[:strings.LastIndexByte(group, '/')]
		}
	}
	return files
}

func machineMemory(read func(path string) ([]byte, error)) (int64, bool) {
	text, err := read("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return n << 10, err == nil
		}
	}
	return 0, false
}

// tuneCollector sets the collector's memory limit and pace. The live heap is a
// few megabytes, so the usual pace of 100 would collect many times a second under
// load; where memory is short, that is still the better choice. GOMEMLIMIT and
// GOGC win.
func tuneCollector(limit int64) {
	if limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
	if os.Getenv("GOGC") == "" && (limit == 0 || limit >= gibibyte) {
		debug.SetGCPercent(400)
	}
}
