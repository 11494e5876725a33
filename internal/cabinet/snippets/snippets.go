// Package snippets holds the programs that the cabinet shows to verify a
// webhook's signature, one per language. Each is a whole program: it reads the
// body from standard input, SECRET, SIGNATURE and SIGNATURE_PREVIOUS from the
// environment, and prints genuine or not genuine, so that tests run exactly what
// people paste. The service shows these programs but never runs them.
package snippets

import (
	"embed"
)

//go:embed go/main.go python/verify.py node/verify.mjs php/verify.php java/Verify.java
var files embed.FS

// Snippet is one program.
type Snippet struct {
	ID    string
	Label string
	File  string // its path here
	Run   []string
}

// All lists the programs in the order they are shown. Run is the command that
// takes the file as its last argument.
var All = []Snippet{
	{"go", "Go", "go/main.go", []string{"go", "run"}},
	{"python", "Python", "python/verify.py", []string{"python3"}},
	{"node", "Node", "node/verify.mjs", []string{"node"}},
	{"php", "PHP", "php/verify.php", []string{"php"}},
	{"java", "Java", "java/Verify.java", []string{"java"}},
}

// Code is the program's text.
func (s Snippet) Code() string {
	text, err := files.ReadFile(s.File)
	if err != nil {
		panic("snippets: " + err.Error()) // All names embedded files only
	}
	return string(text)
}
