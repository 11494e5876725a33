package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// PlatformAuditList holds the latest entries about the platform itself, the newest
// first.
type PlatformAuditList struct {
	Entries []PlatformAuditLine `json:"entries"`
}

// PlatformAuditLine describes one entry.
type PlatformAuditLine struct {
	At         string `json:"at"`
	ActorKind  string `json:"actorKind"`
	Actor      string `json:"actor"`
	Action     string `json:"action"`
	RecordKind string `json:"recordKind"`
	RecordID   string `json:"recordId"`
	Address    string `json:"address,omitempty"`
	RequestID  string `json:"requestId,omitempty"`
	Detail     string `json:"detail,omitempty"`
}

// Table implements Table.
func (l PlatformAuditList) Table() (header []string, rows [][]string) {
	for _, e := range l.Entries {
		by := e.Actor
		if e.Actor != e.ActorKind {
			by = strings.TrimSpace(e.ActorKind + " " + e.Actor)
		}
		rows = append(rows, []string{e.At, by, e.Action, e.RecordKind + " " + e.RecordID, e.Address, e.RequestID, e.Detail})
	}
	return []string{"AT", "BY", "ACTION", "RECORD", "ADDRESS", "REQUEST", "DETAIL"}, rows
}

const maxPlatformAudit = 10_000

// ListPlatformAudit returns the latest entries about the platform itself: its tokens
// and its courses.
func (a *App) ListPlatformAudit(ctx context.Context, limit int) (PlatformAuditList, error) {
	out := PlatformAuditList{Entries: []PlatformAuditLine{}}
	if limit < 1 || limit > maxPlatformAudit {
		return out, fmt.Errorf("--limit must be from 1 to %d", maxPlatformAudit)
	}
	entries, err := a.store.PlatformAudit(ctx, limit)
	for _, e := range entries {
		out.Entries = append(out.Entries, PlatformAuditLine{
			At: domain.FormatInstant(e.At), ActorKind: string(e.Actor.Kind), Actor: e.Actor.Label, Action: e.Action, RecordKind: e.RecordKind,
			RecordID: e.RecordID, Address: e.Actor.Address, RequestID: e.Actor.RequestID, Detail: e.Detail,
		})
	}
	return out, err
}
