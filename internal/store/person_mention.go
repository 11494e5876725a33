package store

import (
	"context"
	"regexp"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// writtenTexts are the columns that hold texts of administrators and of the systems of
// companies, which may mention anybody. The address of a webhook is one of them, but
// erasing changes it only in the logs: with another address, nothing would arrive.
var writtenTexts = []struct {
	table, column string
	keep          bool // whether erasing leaves the text as it is
	whole         bool // whether erasing removes the whole text, which may name the person too
}{
	{table: "tokens", column: "name"},
	{table: "tokens", column: "name_folded"},
	{table: "endpoints", column: "description"},
	{table: "endpoints", column: "url", keep: true},
	{table: "audit_entries", column: "detail"},
	{table: "audit_entries", column: "actor_label"}, // the name of a token
	{table: "api_requests", column: "message", whole: true},
	{table: "api_requests", column: "request_body", whole: true},
}

// readMentions returns the texts that contain an address. It reads whole tables:
// only the operator's commands call it.
func readMentions(ctx context.Context, c db.Conn, email string) ([]domain.PersonMention, error) {
	out := []domain.PersonMention{}
	b := &db.Batch{}
	for _, in := range writtenTexts {
		b.Query(func(r db.Rows) error {
			m := domain.PersonMention{Where: in.table + "." + in.column}
			err := r.Scan(&m.CompanyID, &m.ID, &m.Text)
			out = append(out, m)
			return err
		}, `SELECT company_id, id, `+in.column+` FROM `+in.table+`
			WHERE company_id IN (SELECT c.id FROM companies c) AND lower(`+in.column+`) LIKE $1 ESCAPE '!' ORDER BY company_id, id`,
			"%"+likeEscaper.Replace(strings.ToLower(email))+"%")
	}
	b.Query(func(r db.Rows) error {
		m := domain.PersonMention{Where: "import_rows.cells"}
		err := r.Scan(&m.CompanyID, &m.ID, &m.Text)
		out = append(out, m)
		return err
	}, `SELECT company_id, import_id, cells FROM import_rows WHERE company_id IN (SELECT c.id FROM companies c)
		AND cells <> '[]' AND lower(cells) LIKE $1 ESCAPE '!' ORDER BY company_id, import_id, number`, cellPattern(email))
	err := c.Send(ctx, b)
	return out, err
}

var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// eraseMentions replaces an address in the texts that mention it. It reads them again: they
// may have been changed since they were found.
func (s *Store) eraseMentions(ctx context.Context, mentions []domain.PersonMention, email string) error {
	if len(mentions) == 0 {
		return nil
	}
	address := regexp.MustCompile("(?i)" + regexp.QuoteMeta(email))
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		read, b := &db.Batch{}, &db.Batch{}
		for _, in := range writtenTexts {
			update := `UPDATE ` + in.table + ` SET ` + in.column + ` = $3 WHERE company_id = $1 AND id = $2`
			for _, m := range mentions {
				if in.keep || m.Where != in.table+"."+in.column {
					continue
				}
				if in.whole {
					b.Exec(update, m.CompanyID, m.ID, "")
					continue
				}
				read.Query(func(r db.Rows) error {
					var text string
					err := r.Scan(&text)
					b.Exec(update, m.CompanyID, m.ID, address.ReplaceAllString(text, domain.ErasedAddress))
					return err
				}, `SELECT coalesce(`+in.column+`, '') FROM `+in.table+` t WHERE company_id = $1 AND id = $2`+s.db.ForUpdate("t"), m.CompanyID, m.ID)
			}
		}
		box.bumpVersion(b, domain.CacheTokens)
		if err := tx.Send(ctx, read); err != nil {
			return err
		}
		return tx.Send(ctx, b)
	})
}
