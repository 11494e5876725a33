package store

import "github.com/coursebridge/coursebridge/internal/domain"

// actorLabel returns an SQL expression for what is shown for a column that holds
// domain.Actor.Ref: the present address of an administrator, or the text itself.
func actorLabel(column string) string {
	return `CASE WHEN ` + column + ` LIKE 'person:%' THEN coalesce((SELECT p.email FROM administrators p
		WHERE p.id = CAST(substr(` + column + `, 8) AS bigint)), (SELECT f.email FROM former_administrators f
		WHERE f.administrator_id = CAST(substr(` + column + `, 8) AS bigint)), '` + domain.FormerAdministrator + `') ELSE ` + column + ` END`
}

// auditLabel returns the label that is stored with an audit entry. An
// administrator has none: the entry holds the id, and the address is looked up.
func auditLabel(a domain.Actor) string {
	if a.Kind == domain.ActorPerson {
		return ""
	}
	return a.Label
}
