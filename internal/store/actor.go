package store

import "github.com/coursebridge/coursebridge/internal/domain"

// actorLabelSQL returns an SQL expression that turns a column with a domain.Actor.Ref
// into the text to show. "person:7" becomes the e-mail address of administrator 7,
// the last known one if they were removed, or domain.FormerAdministrator if none is
// stored any more. Any other text is shown as it is.
func actorLabelSQL(column string) string {
	id := `CAST(substr(` + column + `, 8) AS bigint)` // what follows "person:"
	return `CASE WHEN ` + column + ` LIKE 'person:%' THEN coalesce((SELECT p.email FROM administrators p
		WHERE p.id = ` + id + `), (SELECT f.email FROM former_administrators f
		WHERE f.administrator_id = ` + id + `), '` + domain.FormerAdministrator + `') ELSE ` + column + ` END`
}

// auditLabel returns the label that is stored in an audit entry. It is empty for an
// administrator: the entry holds their id, and their address is looked up when it is
// shown, so that it is gone once they are erased.
func auditLabel(a domain.Actor) string {
	if a.Kind == domain.ActorPerson {
		return ""
	}
	return a.Label
}
