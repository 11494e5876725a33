package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// longestPause bounds the pause between two attempts, unless the server asks for more.
const longestPause = 30 * time.Second

// send sends a request until it succeeds, fails for good or has been repeated
// often enough. The caller closes the body of the answer.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	body, err := encodeBody(r.body)
	if err != nil {
		return nil, err
	}
	mayBeDone := false // whether an attempt may have been carried out although it failed
	for attempt := 0; ; attempt++ {
		response, err := c.try(ctx, r, body)
		if err == nil && response.StatusCode < http.StatusMultipleChoices {
			return response, nil
		}
		var wait time.Duration
		if err == nil {
			wait = retryAfter(response.Header)
			failure := readError(response)
			if mayBeDone && r.method == http.MethodDelete && failure.Status == http.StatusNotFound {
				return deletedBefore(response), nil
			}
			if !failure.passing() {
				return nil, failure
			}
			err = failure
			mayBeDone = mayBeDone || failure.Status >= http.StatusInternalServerError
		} else {
			mayBeDone = true // the answer was lost
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("call coursebridge: %w", ctx.Err())
		}
		if attempt == c.retries || errors.Is(err, errInvalidRequest) {
			return nil, err
		}
		if err := sleep(ctx, max(wait, c.backoff(attempt))); err != nil {
			return nil, err
		}
	}
}

func (c *Client) try(ctx context.Context, r request, body []byte) (*http.Response, error) {
	attempt, err := c.newRequest(ctx, r, body)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(attempt)
	if err != nil {
		return nil, fmt.Errorf("call coursebridge: %w", err)
	}
	return response, nil
}

// deletedBefore turns the 404 of a repeated DELETE into a success without data: an
// earlier attempt was carried out, and only its answer was lost.
func deletedBefore(response *http.Response) *http.Response {
	out := *response
	out.StatusCode, out.Body = http.StatusOK, http.NoBody
	return &out
}

func (c *Client) backoff(attempt int) time.Duration {
	pause := min(c.pause<<attempt, longestPause)
	if pause <= 0 {
		return 0
	}
	return pause/2 + rand.N(pause/2+1) //nolint:gosec // The pause is no secret.
}

// retryAfter returns how long the server asks to wait. It always answers in seconds.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
