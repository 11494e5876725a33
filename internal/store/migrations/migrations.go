// Package migrations holds the schema's history, one folder per engine with the
// same numbers and names.
//
// A migration must leave the schema usable by programs of the previous version, so servers
// keep running during an upgrade. It may add tables, indexes and columns (nullable or with a
// default), and may replace indexes, constraints, triggers or a table's storage, but it must
// not remove or rename anything that such a program reads or writes. A migration that does so
// comes a release later and raises schema_compatibility.oldest_program to the first version
// whose program does not need what is removed. Programs of versions 1 to 8
// do not read that column; to stop them, such a migration also removes migrations that they
// expect from goose's list:
//
//	DELETE FROM goose_db_version WHERE version_id BETWEEN 1 AND 8
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// names are the names of all migrations in their order, without ".sql". The engines have the
// same ones.
var names = readNames()

// Version is the number of the newest migration.
var Version = int64(len(names)) // a test checks that they are numbered from 1

func readNames() []string {
	entries, err := files.ReadDir("sqlite")
	if err != nil {
		panic(err) // unreachable: the folder is embedded
	}
	var out []string
	for _, entry := range entries {
		out = append(out, strings.TrimSuffix(entry.Name(), ".sql"))
	}
	return out
}

// For returns the migrations of one engine.
func For(engine string) (fs.FS, error) {
	sub, err := fs.Sub(files, engine)
	if err != nil {
		return nil, fmt.Errorf("open the migrations of %s: %w", engine, err)
	}
	return sub, nil
}

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
	return slices.Clone(names[min(int(version), len(names)):])
}

// OldestProgramSQL reads Schema.OldestProgram.
const OldestProgramSQL = "SELECT oldest_program FROM schema_compatibility WHERE id = 1"
