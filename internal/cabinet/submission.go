package cabinet

import (
	"context"
	"net/http"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	maxNonce = 64
	// repeatTimeout is how long a repeated submission waits for the first one.
	repeatTimeout = 15 * time.Second
	repeatPoll    = 50 * time.Millisecond
)

var errStillRunning = domain.Errorf(domain.CodeConflict, "This form was already sent and is still being processed. Look at the list before you send it again.")

// submitOnce runs h at most once for each nonce of a session. A repeated submission
// waits for the first one and redirects to where that one did. A submission that
// did not redirect, because a field was wrong, may be repeated.
func (c *Cabinet) submitOnce(h handler) handler {
	return func(p *page) error {
		nonce := p.field("nonce")
		if p.r.Method != http.MethodPost || nonce == "" || len(nonce) > maxNonce {
			return h(p)
		}
		ctx, token := p.r.Context(), p.sessionToken()
		location, err := c.awaitTurn(ctx, token, nonce)
		if err != nil {
			return err
		}
		if location != "" {
			return p.redirect(location)
		}
		// Whatever became of the client: others must not wait in vain.
		defer func() {
			if err := c.Sessions.EndSubmission(context.WithoutCancel(ctx), token, nonce, p.redirectedTo); err != nil {
				c.Log.ErrorContext(ctx, "end a form submission", "error", err)
			}
		}()
		return h(p)
	}
}

// awaitTurn returns an empty location once it is this submission's turn to act, or
// the location that an earlier submission of the same form led to.
func (c *Cabinet) awaitTurn(ctx context.Context, token, nonce string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, repeatTimeout, errStillRunning)
	defer cancel()
	for {
		location, first, err := c.Sessions.BeginSubmission(ctx, token, nonce)
		if err != nil || first || location != "" {
			return location, err
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(repeatPoll):
		}
	}
}
