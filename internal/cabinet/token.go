package cabinet

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) tokenPages(private register) {
	private("GET "+view.PathTokens, tokens)
	private("GET "+view.PathTokensExport, exportTokens)
	private("GET "+view.PathTokenNew, tokenForm)
	private("POST "+view.PathTokenNew, createToken)
	private("GET "+view.PathTokens+"/{id}", token)
	private("GET "+view.PathTokens+"/{id}/created", tokenCreated)
	private("GET "+view.PathTokens+"/{id}/rename", renameForm)
	private("POST "+view.PathTokens+"/{id}/rename", renameToken)
	private("GET "+view.PathTokens+"/{id}/regenerate", regenerateForm)
	private("POST "+view.PathTokens+"/{id}/regenerate", regenerateToken)
	private("GET "+view.PathTokens+"/{id}/end-old", confirmEndPrevious)
	private("POST "+view.PathTokens+"/{id}/end-old", endPreviousToken)
	private("GET "+view.PathTokens+"/{id}/revoke", confirmRevoke)
	private("POST "+view.PathTokens+"/{id}/revoke", revokeToken)
}

func (p *page) tokenView(t domain.Token) view.Token {
	v := view.Token{
		ID: t.ID, Name: t.Name, LastFour: t.LastFour, CreatedBy: t.CreatedBy, CreatedAt: t.CreatedAt, LastUsedAt: t.LastUsedAt,
		LastUsedIP: t.LastUsedIP, ExpiresAt: t.ExpiresAt, RevokedAt: t.RevokedAt, State: view.TokenActive,
	}
	for _, s := range t.Scopes {
		v.Scopes = append(v.Scopes, string(s))
	}
	for _, a := range t.Allowed {
		v.Allowed = append(v.Allowed, a.String())
	}
	if t.Regenerated(p.Now()) {
		v.PreviousLastFour, v.PreviousUntil = t.PreviousLastFour, t.PreviousUntil
	}
	switch {
	case t.RevokedAt != nil:
		v.State = view.TokenRevoked
	case !t.Live(p.Now()):
		v.State = view.TokenExpired
	}
	return v
}

// tokenRows is how many tokens the list shows at once.
const tokenRows = 100

// tokens lists the active tokens or, with all=1, also the revoked and expired ones,
// of which there may be any number.
func tokens(p *page) error {
	now, company := p.Now(), p.identity.Company.ID
	v := view.TokenList{Revoked: p.query("all") != "", Search: domain.CleanSearch(p.query("q"))}
	f := domain.TokenFilter{CompanyID: company, Search: v.Search}
	if !v.Revoked { // those that are not active are counted, but not shown
		all, err := p.Tokens.List(p.r.Context(), f, domain.PageRequest{Number: 1, Limit: 1})
		if err != nil {
			return err
		}
		v.Hidden, f.LiveAt = all.Total, &now // Hidden has the active ones too, until they are counted
	}
	request := domain.PageRequest{Number: 1, Limit: tokenRows, After: p.position(domain.TokenList)}
	list, err := p.Tokens.List(p.r.Context(), f, request)
	if err != nil {
		return err
	}
	v.Total, v.Hidden = list.Total, max(v.Hidden-list.Total, 0) // a token may have been made between the two counts
	for _, t := range list.Items {
		v.Tokens = append(v.Tokens, p.tokenView(t))
	}
	if list.More {
		last := domain.Cursor{ID: list.Items[len(list.Items)-1].ID}
		v.Pager.Next = p.pageURL(last.Format(domain.TokenList))
	}
	if request.After != nil {
		v.Pager.Previous = p.pageURL("")
	}
	return p.renderOK(view.TokensPage(p.shell(), v))
}

const (
	expiryNever = "never"
	expiryDate  = "date"
)

func (p *page) tomorrow() string {
	return p.Now().In(p.zone()).AddDate(0, 0, 1).Format(time.DateOnly)
}

func tokenForm(p *page) error {
	return p.renderOK(view.TokenNewPage(p.shell(), view.TokenForm{Expiry: "365", MinDate: p.tomorrow()}))
}

func createToken(p *page) error {
	form := view.TokenForm{
		Name: p.field("name"), Scopes: p.fields("scope"), Expiry: p.field("expiry"), Date: p.field("date"),
		MinDate: p.tomorrow(), Allowed: p.field("allowed"),
	}
	in, errs := p.newToken(form)
	if len(errs) == 0 {
		made, secret, err := p.Tokens.Create(p.r.Context(), p.caller(), in)
		if err == nil {
			return p.redirectWithValue(flashToken(made.ID), newSecret{Secret: secret}, view.PathToken(made.ID, "created"))
		}
		var ok bool
		if errs, ok = formErrors(err); !ok {
			return err
		}
	}
	form.Errors = errs
	return p.renderInvalid(view.TokenNewPage(p.shell(), form))
}

// newToken turns the form into the input of the use case.
func (p *page) newToken(form view.TokenForm) (domain.NewToken, view.Errors) {
	errs := view.Errors{}
	in := domain.NewToken{CompanyID: p.identity.Company.ID, Name: form.Name}
	for _, s := range form.Scopes {
		in.Scopes = append(in.Scopes, domain.Scope(s))
	}
	if len(in.Scopes) == 0 {
		errs["scopes"] = "Choose at least one scope."
	}
	expires, err := p.expiry(form.Expiry, form.Date)
	if err != nil {
		errs["date"] = sentence(err.Error())
	}
	in.ExpiresAt = expires
	if in.Allowed, err = domain.ParsePrefixes(strings.Split(form.Allowed, "\n")); err != nil {
		errs["allowed"] = sentence(err.Error())
	}
	if _, err := domain.NormalizeName(form.Name); err != nil {
		errs["name"] = sentence(err.Error())
	}
	return in, errs
}

// expiry turns a choice such as 90 days, or a date, into a time. The token works
// until the end of that date.
func (p *page) expiry(choice, date string) (*time.Time, error) {
	now := p.Now()
	var at time.Time
	switch choice {
	case expiryNever:
		return nil, nil //nolint:nilnil // A token that never expires has no expiry.
	case "30":
		at = now.AddDate(0, 0, 30)
	case "90":
		at = now.AddDate(0, 0, 90)
	case "365":
		at = now.AddDate(1, 0, 0)
	default:
		day, err := time.ParseInLocation(time.DateOnly, date, p.zone())
		if err != nil {
			return nil, errors.New("choose how long the token works, or enter a date such as 2027-01-31")
		}
		at = day.AddDate(0, 0, 1)
		if !at.After(now) {
			return nil, errors.New("the date must lie in the future")
		}
	}
	return &at, nil
}

// tokenFromPath returns the company's token that the path names.
func (p *page) tokenFromPath() (domain.Token, error) {
	id, err := p.id()
	if err != nil {
		return domain.Token{}, err
	}
	return p.Tokens.Get(p.r.Context(), p.caller(), id)
}

func token(p *page) error {
	t, err := p.tokenFromPath()
	if err != nil {
		return err
	}
	var hours []view.RequestHour
	if p.Requests.On() {
		if hours, err = p.requestHours(t.ID); err != nil {
			return err
		}
	}
	return p.renderOK(view.TokenPage(p.shell(), p.tokenView(t), hours))
}

// newSecret is a token's secret on the way to the page that shows it.
type newSecret struct {
	Secret string
	Again  bool // it replaces another
}

func flashToken(id int64) string { return "token " + strconv.FormatInt(id, 10) }

// tokenCreated shows a new token once. Afterwards it leads to the token's page.
func tokenCreated(p *page) error {
	t, err := p.tokenFromPath()
	if err != nil {
		return err
	}
	var made newSecret
	if !p.takeFlashValue(flashToken(t.ID), &made) {
		return p.redirect(view.PathToken(t.ID))
	}
	return p.renderOK(view.TokenCreatedPage(p.shell(), view.TokenCreated{
		Token: p.tokenView(t), Secret: made.Secret, Again: made.Again,
		Curl: "curl " + p.PublicURL() + "/api/v1/token -H 'Authorization: Bearer " + made.Secret + "'",
	}))
}
