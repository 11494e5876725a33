// Package migrations holds the schema's history, one folder per engine with the
// same numbers and names.
//
// A migration only adds: tables, indexes, and columns that are nullable or have a
// default. Running programs of the version before go on with the new schema, so an
// upgrade takes no server out. A migration that removes something comes a release
// later, and raises schema_compatibility.oldest_program to the first version whose
// program does not need what is removed. Programs of versions below FirstChecking do
// not read that column; to stop them, such a migration also runs ForgetFirstSQL.
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

// FirstChecking is the first version whose program asks the schema for the oldest
// program that may run on it.
const FirstChecking = 9

// ForgetFirstSQL stops programs of versions below FirstChecking, for every command:
// they refuse a schema whose list of migrations lacks one that they know.
const ForgetFirstSQL = "DELETE FROM goose_db_version WHERE version_id BETWEEN 1 AND 8"

// Applied returns the numbers of the migrations that a schema of this version
// contains, whether its list still names them or not.
func Applied(version int64) []int64 {
	var out []int64
	for n := int64(1); n <= min(version, Version); n++ {
		out = append(out, n)
	}
	return out
}

// Schema is the state of a database's schema.
type Schema struct {
	Version int64 // the newest migration that was applied
	// OldestProgram is the oldest program that may run on the schema, named by its
	// newest migration. It is read only if Version is newer than the program's.
	OldestProgram int64
}

// Check returns an error if this program cannot run on the schema.
func Check(s Schema) error {
	switch {
	case s.Version < Version:
		return &OutdatedError{s.Version}
	case s.Version > Version && s.OldestProgram > Version:
		return fmt.Errorf("the schema is at version %d, which needs a program of version %d or newer; this one is of version %d: use a newer coursebridge",
			s.Version, s.OldestProgram, Version)
	}
	return nil
}

// OutdatedError means that migrations are missing.
type OutdatedError struct{ Version int64 }

func (e *OutdatedError) Error() string {
	return fmt.Sprintf("the schema is at version %d and must be migrated to %d; coursebridge serve does it at its start, coursebridge migrate without serving",
		e.Version, Version)
}

// Missing returns the names of the migrations that a schema of this version lacks, in
// their order.
func Missing(version int64) []string {
	entries, err := files.ReadDir("sqlite") // the engines have the same
	if err != nil {
		panic(err) // unreachable: the folder is embedded
	}
	var out []string
	for _, entry := range entries[min(int(version), len(entries)):] {
		out = append(out, strings.TrimSuffix(entry.Name(), ".sql"))
	}
	return out
}

// OldestProgramSQL reads Schema.OldestProgram.
const OldestProgramSQL = "SELECT oldest_program FROM schema_compatibility WHERE id = 1"
