package cabinet

import (
	"strconv"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	requestRows  = 50
	requestHours = 24
)

func (c *Cabinet) requestPages(private register) {
	private("GET "+view.PathRequests, requests)
	private("GET "+view.PathRequestsExport, exportRequests)
	private("GET "+view.PathRequests+"/{id}", request)
}

func requestView(r domain.APIRequest) view.Request {
	return view.Request{
		ID: r.ID, At: r.At, TokenID: r.TokenID, Token: r.TokenName, Method: r.Method, Route: r.Route, Status: r.Status,
		Took: r.Duration, RequestID: r.RequestID, Code: string(r.Code), Message: r.Message,
	}
}

// request shows one call of the API.
func request(p *page) error {
	id, err := p.id()
	if err != nil {
		return err
	}
	r, err := p.Requests.Find(p.r.Context(), p.caller(), id)
	if err != nil {
		return err
	}
	return p.renderOK(view.RequestPage(p.shell(), view.RequestDetail{
		Request: requestView(r), Body: r.Text, NotKept: p.identity.Company.RequestBodies == domain.RequestBodiesOff,
	}))
}

// requestFilter reads the filter from the address. It returns the filter as shown in
// the form and as the log takes it.
func (p *page) requestFilter() (view.RequestFilter, domain.APIRequestFilter) {
	shown := view.RequestFilter{
		Outcome: p.query("outcome"), Token: p.query("token"), Search: domain.CleanSearch(p.query("q")), Errors: view.Errors{},
	}
	f := domain.APIRequestFilter{Outcome: domain.APIRequestOutcome(shown.Outcome), Search: shown.Search}
	f.TokenID, _ = strconv.ParseInt(shown.Token, 10, 64) // anything else is no token's id
	period := p.readPeriod(p.query, shown.Errors)
	shown.Period, f.From, f.To = period.shown, period.from, period.to
	return shown, f
}

// requests shows the log of the company's calls of the API.
func requests(p *page) error {
	if !p.Requests.On() {
		return p.renderOK(view.RequestsPage(p.shell(), view.RequestList{Off: true}))
	}
	shown, f := p.requestFilter()
	v := view.RequestList{Filter: shown}
	var err error
	if v.Tokens, err = p.tokenOptions(); err != nil {
		return err
	}
	if v.Hours, err = p.requestHours(0); err != nil {
		return err
	}
	if len(shown.Errors) > 0 {
		return p.renderOK(view.RequestsPage(p.shell(), v))
	}
	request := domain.PageRequest{Number: 1, Limit: requestRows, After: p.position(domain.RequestList)}
	list, err := p.Requests.List(p.r.Context(), p.caller(), f, request)
	if err != nil {
		return err
	}
	v.More, v.Capped = list.More, list.Capped
	for _, r := range list.Items {
		v.Requests = append(v.Requests, requestView(r))
	}
	if list.More {
		last := list.Items[len(list.Items)-1]
		v.Pager.Next = p.pageURL(domain.Cursor{ID: last.ID, At: last.At.UnixMilli()}.Format(domain.RequestList))
	}
	if request.After != nil {
		v.Pager.Previous = p.pageURL("")
	}
	return p.renderOK(view.RequestsPage(p.shell(), v))
}

// requestHours returns the counts of the last 24 hours, of one token if it is not 0.
func (p *page) requestHours(token int64) ([]view.RequestHour, error) {
	hours, err := p.Requests.Hours(p.r.Context(), p.caller(), token, p.Now(), requestHours)
	out := make([]view.RequestHour, len(hours))
	for i, h := range hours {
		out[i] = view.RequestHour(h)
	}
	return out, err
}

// tokenOptions returns the newest tokens as choices of a filter.
func (p *page) tokenOptions() ([]view.Option, error) {
	filter := domain.TokenFilter{CompanyID: p.identity.Company.ID}
	list, err := p.Tokens.List(p.r.Context(), filter, domain.PageRequest{Number: 1, Limit: tokenRows})
	out := make([]view.Option, len(list.Items))
	for i, t := range list.Items {
		out[i] = view.Option{Value: strconv.FormatInt(t.ID, 10), Label: t.Name}
	}
	return out, err
}
