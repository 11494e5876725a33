package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// exportedParents are the tables without a column company_id that hold rows of a
// company, with the condition that selects them.
var exportedParents = []exportedTable{
	{name: "companies", key: "id", where: `id = $1`},
	{name: "administrators", key: "id", where: `id IN (SELECT m.administrator_id FROM company_administrators m WHERE m.company_id = $1)`},
	{name: "courses", key: "id", where: companyCourses},
	{name: "course_modules", key: "course_id, position", where: `course_id IN (SELECT courses.id FROM courses WHERE ` + companyCourses + `)`},
}

const companyCourses = `(owner_company_id = $1 OR id IN (SELECT g.course_id FROM course_grants g WHERE g.company_id = $1))`

// unexportedTables hold what follows from other rows, or what lives for minutes.
var unexportedTables = map[string]bool{
	"totals": true, "total_changes": true, "total_companies": true, "form_submissions": true, "api_request_mentions": true, "erased_mentions": true,
	"former_leases": true,
}

// unexportedColumns hold secrets, their hashes, and what only the program itself uses.
var unexportedColumns = map[string]bool{
	"hash": true, "previous_hash": true, "secret": true, "previous_secret": true, "headers": true, "password_hash": true, "totp_secret": true, "recovery_hashes": true,
	"lease_owner": true, "lease_until": true, "theme": true,
}

// exportedJSON are text columns that hold JSON, which becomes part of the exported row.
var exportedJSON = map[string]bool{
	"allowed": true, "attributes": true, "body": true, "cells": true, "events": true, "fields": true, "header": true, "past_events": true,
	"request_headers": true, "response_headers": true, "scopes": true, "states": true, "tags": true,
}

// exportedPoints are columns in hundredths.
var exportedPoints = map[string]bool{"pass_mark": true, "percent": true, "score": true}

// exportedBools are the columns that SQLite, which has no booleans, keeps as 0 and 1.
var exportedBools = map[string]bool{
	"asked_required": true, "is_assessment": true, "is_required": true, "is_test": true, "passed": true, "strict_order": true,
}

// isInstant reports whether a column holds an instant. SQLite keeps it as an integer.
func isInstant(column string) bool {
	for _, suffix := range []string{"_at", "_until", "_since", "deadline"} {
		if strings.HasSuffix(column, suffix) {
			return true
		}
	}
	return column == "at" || column == "hour"
}

type exportedTable struct{ name, key, where string }

// columnNamesSQL selects the columns of a table in their order.
var columnNamesSQL = map[string]string{
	"sqlite": `SELECT name FROM pragma_table_info($1) ORDER BY cid`,
	"postgres": `SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = CAST(CAST($1 AS text) AS regclass)
		AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
}

// ExportCompany calls fn for every row of a company, table by table, as of one instant.
// It leaves out secrets and their hashes. The row is only valid during the call.
func (s *Store) ExportCompany(ctx context.Context, company int64, fn func(table string, row map[string]any) error) error {
	tables, err := s.companyTables(ctx)
	if err != nil {
		return err
	}
	exported := exportedParents[:len(exportedParents):len(exportedParents)]
	for _, t := range tables {
		if !unexportedTables[t.name] {
			exported = append(exported, exportedTable{name: t.name, key: t.key, where: `company_id = $1`})
		}
	}
	return mapUnavailable(s.db.Snapshot(ctx, func(c db.Conn) error {
		for _, t := range exported {
			if err := s.exportTable(ctx, c, t, company, fn); err != nil {
				return fmt.Errorf("export %s: %w", t.name, err)
			}
		}
		return nil
	}))
}

func (s *Store) exportTable(ctx context.Context, c db.Conn, t exportedTable, company int64, fn func(string, map[string]any) error) error {
	var columns []string
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var name string
		err := r.Scan(&name)
		if !unexportedColumns[name] && !strings.HasSuffix(name, "_folded") {
			columns = append(columns, name)
		}
		return err
	}, columnNamesSQL[s.db.Name()], t.name)
	if err := c.Send(ctx, b); err != nil {
		return err
	}
	values, dest := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		dest[i] = &values[i]
	}
	row := make(map[string]any, len(columns))
	rows := query{`SELECT ` + strings.Join(columns, ", ") + ` FROM ` + t.name + ` WHERE ` + t.where + ` ORDER BY ` + t.key, []any{company}}
	return forEachRow(ctx, c, rows, dest, func() error {
		for i, name := range columns {
			row[name] = exportValue(name, values[i])
		}
		return fn(t.name, row)
	})
}

// exportValue returns a value of a column as both engines' exports show it.
func exportValue(column string, value any) any {
	switch v := value.(type) {
	case time.Time:
		return domain.FormatInstant(v)
	case [16]byte:
		return uuid.UUID(v).String()
	case int64:
		switch {
		case isInstant(column):
			return domain.FormatInstant(time.UnixMilli(v))
		case exportedBools[column]:
			return v != 0
		case exportedPoints[column]:
			return domain.Points(v).Float()
		}
	case []byte:
		return exportText(column, string(v))
	case string:
		return exportText(column, v)
	}
	return value
}

func exportText(column, text string) any {
	if exportedJSON[column] && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
