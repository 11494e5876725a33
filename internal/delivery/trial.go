package delivery

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// HeaderTest marks a test event, which tells of nothing that happened.
const HeaderTest = "X-Service-Test"

// SendTest is Send with the mark of a test event.
func (s *Sender) SendTest(ctx context.Context, r Request) Outcome {
	begun := time.Now()
	out := Outcome{StartedAt: s.config.Now()}
	s.try(ctx, &r, &out)
	out.Duration = time.Since(begun)
	return out
}

func (s *Sender) try(ctx context.Context, r *Request, out *Outcome) {
	to, err := s.config.Guard.parse(r.URL)
	if err != nil {
		out.fail(KindBlocked, err.Error())
		return
	}
	headers, err := s.headers(r, out.StartedAt)
	if err != nil {
		out.fail(KindInternal, "The request could not be made, as "+err.Error()+"; tell the operator of this service.")
		return
	}
	headers = append(headers, Header{HeaderTest, "true"})
	out.RequestHeaders = append(Headers{
		{"Host", to.url.Host},
		{"Content-Length", strconv.Itoa(len(r.Body))},
	}, headers...)
	timed, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	if err := s.exchange(timed, to, headers, r, out); err != nil && errors.Is(ctx.Err(), context.Canceled) {
		out.fail(KindAborted, "The test was cut short.")
	}
}
