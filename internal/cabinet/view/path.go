package view

import (
	"net/url"
	"strconv"
)

// Paths of the cabinet. A form posts to the address it was shown at.
const (
	PathHome               = "/cabinet"
	PathOverview           = "/cabinet/integrations"
	PathSignIn             = "/cabinet/sign-in"
	PathSignInCode         = "/cabinet/sign-in/code"
	PathSignOut            = "/cabinet/sign-out"
	PathSignedOut          = "/cabinet/signed-out"
	PathCompanies          = "/cabinet/companies"
	PathFind               = "/cabinet/find"
	PathTheme              = "/cabinet/theme"
	PathEmployees          = "/cabinet/employees"
	PathEmployeeNew        = "/cabinet/employees/new"
	PathPeopleBulk         = "/cabinet/employees/bulk"
	PathEmployeeExport     = "/cabinet/employees/export.csv"
	PathImport             = "/cabinet/employees/import"
	PathImports            = "/cabinet/imports"
	PathImportTemplate     = "/cabinet/imports/template.csv"
	PathCourses            = "/cabinet/courses"
	PathAssignments        = "/cabinet/assignments"
	PathReports            = "/cabinet/reports"
	PathTokens             = "/cabinet/tokens"
	PathTokensExport       = "/cabinet/tokens/export.csv"
	PathTokenNew           = "/cabinet/tokens/new"
	PathWebhooks           = "/cabinet/webhooks"
	PathWebhooksExport     = "/cabinet/webhooks/export.csv"
	PathWebhookNew         = "/cabinet/webhooks/new"
	PathWebhookEvents      = "/cabinet/webhooks/events"
	PathWebhookCheck       = "/cabinet/webhooks/check"
	PathDeliveries         = "/cabinet/deliveries"
	PathDeliveriesExport   = "/cabinet/deliveries/export.csv"
	PathRedeliver          = "/cabinet/deliveries/redeliver"
	PathRequests           = "/cabinet/requests"
	PathRequestsExport     = "/cabinet/requests/export.csv"
	PathDocs               = "/docs"
	PathDocsSearch         = "/docs/search"
	PathExplorer           = "/docs/api"
	PathAudit              = "/cabinet/audit"
	PathAuditExport        = "/cabinet/audit/export.csv"
	PathSettings           = "/cabinet/settings"
	PathAdministrators     = "/cabinet/settings/administrators"
	PathInvite             = "/cabinet/settings/administrators/invite"
	PathMySignIn           = "/cabinet/settings/sign-in"
	PathPassword           = "/cabinet/settings/sign-in/password"
	PathSecondFactor       = "/cabinet/settings/sign-in/second-factor"
	PathRemoveSecondFactor = "/cabinet/settings/sign-in/second-factor/remove"
	PathRecovery           = "/cabinet/settings/sign-in/recovery-codes"
	PathRecoveryCodes      = "/cabinet/settings/sign-in/recovery-codes/created"
	PathSessions           = "/cabinet/settings/sessions"
	PathEndOthers          = "/cabinet/settings/sessions/end-others"
)

// PathSignInLink is the address of a one-time link.
func PathSignInLink(secret string) string { return "/cabinet/enter/" + url.PathEscape(secret) }

// PathEmployee is a person's page, or with a verb (edit, offboard, bring-back,
// erase) an action on it.
func PathEmployee(id int64, verb ...string) string {
	return itemPath(PathEmployees, formatInt(id), verb)
}

// PathImportStep is an import, or with a verb (check, result, failed.csv) a step of it.
func PathImportStep(id int64, verb ...string) string {
	return itemPath(PathImports, formatInt(id), verb)
}

// PathToken is a token's page, or with a verb (rename, regenerate,
// end-old, revoke) an action on it.
func PathToken(id int64, verb ...string) string { return itemPath(PathTokens, formatInt(id), verb) }

// PathRequest is the page of a logged request.
func PathRequest(id int64) string { return itemPath(PathRequests, formatInt(id), nil) }

// PathWebhook is an endpoint's page, or with a verb (edit, remove, rotate,
// enable, disable, test, secret) an action on it.
func PathWebhook(id int64, verb ...string) string { return itemPath(PathWebhooks, formatInt(id), verb) }

// PathDelivery is a delivery's page, or with the verb redeliver the action.
func PathDelivery(id string, verb ...string) string { return itemPath(PathDeliveries, id, verb) }

// PathRedelivery is the progress of a redelivery of many.
func PathRedelivery(id int64) string { return itemPath(PathRedeliver, formatInt(id), nil) }

// PathAdministrator is an action (remove, link, role) on an administrator.
func PathAdministrator(id int64, verb string) string {
	return itemPath(PathAdministrators, formatInt(id), []string{verb})
}

// PathSession is an action (end) on a session.
func PathSession(id int64, verb string) string {
	return itemPath(PathSessions, formatInt(id), []string{verb})
}

func itemPath(base, id string, verbs []string) string {
	path := base + "/" + url.PathEscape(id)
	for _, verb := range verbs {
		path += "/" + verb
	}
	return path
}

func formatInt(id int64) string { return strconv.FormatInt(id, 10) }

// withQuery adds the given pairs to a path, leaving out the empty ones.
func withQuery(path string, pairs ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
