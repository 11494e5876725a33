package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// CompanyExported is a file with everything of a company.
type CompanyExported struct {
	ID   int64            `json:"id"`
	File string           `json:"file"`
	Rows map[string]int64 `json:"rows"`
}

// Table implements Table.
func (c CompanyExported) Table() (header []string, rows [][]string) {
	return []string{"TABLE", "EXPORTED ROWS"}, countedRows(c.Rows)
}

// Footnote implements Footnote.
func (c CompanyExported) Footnote() string {
	return fmt.Sprintf("Company %d was written to %s.", c.ID, c.File)
}

// exportLine is one line of an export.
type exportLine struct {
	Table string         `json:"table"`
	Row   map[string]any `json:"row"`
}

// ExportCompany writes everything of a company, except secrets, to a new file, one JSON
// object per row. The file appears complete or not at all.
func (a *App) ExportCompany(ctx context.Context, id int64, file string) (CompanyExported, error) {
	out := CompanyExported{ID: id, File: file, Rows: map[string]int64{}}
	if _, err := a.companies.Get(ctx, id); err != nil {
		return out, err
	}
	err := writeAtomically(file, func(partial string) error {
		f, err := os.OpenFile(partial, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		buffer := bufio.NewWriter(f)
		lines := json.NewEncoder(buffer)
		lines.SetEscapeHTML(false)
		err = a.store.ExportCompany(ctx, id, func(table string, row map[string]any) error {
			out.Rows[table]++
			return lines.Encode(exportLine{table, row})
		})
		if err == nil {
			err = buffer.Flush()
		}
		if err == nil {
			err = f.Sync()
		}
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return CompanyExported{}, fmt.Errorf("export company %d: %w", id, err)
	}
	return out, nil
}
