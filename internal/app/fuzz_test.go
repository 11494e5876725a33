package app

import "testing"

// A memory size that is accepted is not negative.
func FuzzParseMemory(f *testing.F) {
	for _, seed := range []string{"auto", "", "0", "512MiB", "2GB", "1e400", "nan", "-1", "inf", "9223372036854775807", "8388608TiB", ".5g", "0x10"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := ParseMemory(text); err == nil && n < 0 {
			t.Errorf("%q is %d bytes", text, n)
		}
	})
}
