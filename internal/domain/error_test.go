package domain_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestError(t *testing.T) {
	t.Parallel()
	cause := io.ErrUnexpectedEOF
	err := fmt.Errorf("read: %w", domain.Errorf(domain.CodeUnavailable, "Try %s.", "again").WithCause(cause))
	var e *domain.Error
	switch {
	case !errors.As(err, &e) || e.Message != "Try again.":
		t.Errorf("the message holds what is safe to show: %v", err)
	case !errors.Is(err, cause):
		t.Error("the cause is lost")
	case domain.CodeOf(err) != domain.CodeUnavailable:
		t.Errorf("code %s", domain.CodeOf(err))
	case domain.CodeOf(cause) != domain.CodeInternal:
		t.Error("any other error is internal")
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	var c domain.Checks
	c.Add("a", nil)
	if err := c.Err(); err != nil {
		t.Errorf("nothing is wrong, and yet: %v", err)
	}
	c.Add("b", errors.New("must be b"))
	c.Add("c", errors.New("must be c"))
	wantFields(t, c.Err(), "b", "c")
	if text := c.Err().Error(); text != "b: must be b; c: must be c" {
		t.Error(text)
	}
}
