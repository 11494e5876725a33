package view

import (
	"strings"
	"time"
)

// AuditEntry is one change. Its labels do not name erased people.
type AuditEntry struct {
	ID         int64
	At         time.Time
	ActorKind  string // person, token, operator, platform, system
	Actor      string
	Action     string // noun.verb
	RecordKind string
	Record     string // the record in words or its id
	RecordOf   string // whom it concerns, where that is someone else
	RecordPath string // empty: it has no page
	Detail     string
	RequestID  string
	Address    string
}

// AuditFilter is what the log is narrowed to, as it stands in the address.
type AuditFilter struct {
	ActorKind string
	Action    string
	Period    Period
	Search    string
	Errors    Errors
}

// AuditList is the page of the audit log.
type AuditList struct {
	Filter  AuditFilter
	Actions []Option // what can be filtered by
	Entries []AuditEntry
	Total   int64
	More    bool
	Capped  bool // the search has more matches than it looks for
	Pager   Pager
}

var actorKinds = []Option{
	{"", "Anyone"}, {"person", "People"}, {"token", "Tokens"}, {"operator", "Platform operator"},
	{"platform", "Learning platform"}, {"system", "Automatic"},
}

func (f AuditFilter) active() bool { return f.narrowed() || f.Search != "" }

// narrowed reports whether the filter holds anything but a search.
func (f AuditFilter) narrowed() bool { return f.ActorKind+f.Action+f.Period.Choice != "" }

func (f AuditFilter) exportPath() string {
	return withQuery(PathAuditExport, append(f.Period.query(), "actor", f.ActorKind, "action", f.Action, "q", f.Search)...)
}

func (l AuditList) total() string {
	if l.More {
		return "More than " + formatCount(l.Total) + " entries"
	}
	return plural(l.Total, "entry", "entries")
}

// actionWords turns token.created into Token created.
func actionWords(action string) string {
	words := strings.NewReplacer(".", " ", "_", " ").Replace(action)
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// actorLabel names who made the change, as a person would: a token by its name,
// the operator and the service itself by what they are.
func (e AuditEntry) actorLabel() string {
	switch e.ActorKind {
	case "token":
		return "Token " + e.Actor
	case "operator":
		return "Platform operator"
	case "platform":
		return "Learning platform"
	case "system":
		return "Automatic"
	default:
		return e.Actor
	}
}
