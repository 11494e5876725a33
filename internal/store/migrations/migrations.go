// Package migrations holds the schema's history, one folder per engine with the
// same numbers and names.
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// Version is the number of the newest migration.
var Version = newest()

func newest() int64 {
	entries, err := files.ReadDir("sqlite")
	if err != nil {
		panic(err) // unreachable: the folder is embedded
	}
	number, _, _ := strings.Cut(entries[len(entries)-1].Name(), "_")
	version, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		panic(err) // unreachable: a test reads all names
	}
	return version
}

// For returns the migrations of one engine.
func For(engine string) (fs.FS, error) {
	sub, err := fs.Sub(files, engine)
	if err != nil {
		return nil, fmt.Errorf("open the migrations of %s: %w", engine, err)
	}
	return sub, nil
}

// Check returns an error if a database's schema version does not fit the program.
func Check(version int64) error {
	switch {
	case version < Version:
		return fmt.Errorf("the schema is at version %d and must be migrated to %d", version, Version)
	case version > Version:
		return fmt.Errorf("the schema is at version %d, newer than this program's %d", version, Version)
	}
	return nil
}
