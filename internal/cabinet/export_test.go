package cabinet

// PrivatePatterns lists the patterns of all pages that need a session.
func PrivatePatterns() (out []string) {
	(&Cabinet{}).privatePages(func(pattern string, _ handler) { out = append(out, pattern) })
	return out
}
