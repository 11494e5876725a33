package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// connecting returns the error of a connection that does not come about.
func connecting(cause error) error {
	config, err := pgconn.ParseConfig("postgres://nobody@127.0.0.1:1/none?sslmode=disable")
	if err != nil {
		panic(err)
	}
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) { return nil, cause }
	_, err = pgconn.ConnectConfig(context.Background(), config)
	return err
}

func TestErrorsHaveTheirMeaning(t *testing.T) {
	t.Parallel()
	code := func(c string) error { return fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: c}) }
	connect := func(c string) error { return connecting(code(c)) }
	for _, c := range []struct {
		name    string
		err     error
		want    error
		retried bool
	}{
		{"a taken key", code("23505"), db.ErrUnique, true},
		{"a broken reference", code("23503"), db.ErrReference, true},
		{"a serialization failure", code("40001"), db.ErrRetry, true},
		{"a deadlock", code("40P01"), db.ErrRetry, true},
		{"a lock not to be had", code("55P03"), db.ErrLocked, false},
		{"a server that stops", code("57P01"), db.ErrUnavailable, false},
		{"a server that starts", code("57P03"), db.ErrUnavailable, false},
		{"too many connections", code("53300"), db.ErrUnavailable, false},
		{"a full disk", code("53100"), db.ErrUnavailable, false},
		{"a lost connection", code("08006"), db.ErrUnavailable, false},
		{"an answer cut short", io.ErrUnexpectedEOF, db.ErrUnavailable, false},
		{"a refused connection", &net.OpError{Op: "dial", Err: errors.New("refused")}, db.ErrUnavailable, false},
		{"a database that is gone", connect("3D000"), db.ErrUnavailable, false},
		{"a password that is wrong", connect("28P01"), db.ErrUnavailable, false},
		{"a host that is not let in", connect("28000"), db.ErrUnavailable, false},
		{"a database not accepting connections", connect("55000"), db.ErrUnavailable, false},
		{"a lock at connecting", connect("55P03"), db.ErrUnavailable, false},
		{"a connect that takes too long", connecting(context.DeadlineExceeded), db.ErrUnavailable, false},
		{"a caller who left while connecting", connecting(context.Canceled), nil, false},
		{"an object in another state", code("55000"), nil, false},
		{"a mistake of ours", code("42601"), nil, false},
		{"a missing value", code("23502"), nil, false},
		{"a caller who left", context.Canceled, nil, false},
		{"anything else", errors.New("else"), nil, false},
	} {
		got := mapError(c.err)
		if !errors.Is(got, c.err) {
			t.Errorf("%s: the cause is lost in %v", c.name, got)
		}
		for _, kind := range []error{db.ErrUnique, db.ErrReference, db.ErrRetry, db.ErrLocked, db.ErrUnavailable} {
			if errors.Is(got, kind) != errors.Is(c.want, kind) {
				t.Errorf("%s: %v", c.name, got)
			}
		}
		if (retries(got) > 0) != c.retried {
			t.Errorf("%s: tried again %d times", c.name, retries(got))
		}
		if again := mapError(got); !errors.Is(again, got) {
			t.Errorf("%s: mapped twice: %v", c.name, again)
		}
	}
	if mapError(nil) != nil {
		t.Error("no error became one")
	}
}
