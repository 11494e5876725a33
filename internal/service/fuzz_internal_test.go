package service

import "testing"

// A stored hash that is accepted has a cost that cannot exhaust the machine.
func FuzzParsePHC(f *testing.F) {
	for _, seed := range []string{
		"$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g", "", "$$$$$",
		"$argon2id$v=19$m=4294967295,t=4294967295,p=255$AA$AA", "$argon2id$v=19$m=64,t=1,p=1 extra$AA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cost, _, sum, err := parsePHC(text)
		if err == nil && (cost.Memory > maxStoredMemory || cost.Passes < 1 || cost.Passes > maxStoredPasses || cost.Threads < 1 || len(sum) != hashBytes) {
			t.Errorf("%q has the cost %+v and a sum of %d bytes", text, cost, len(sum))
		}
	})
}
