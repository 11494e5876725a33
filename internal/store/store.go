// Package store keeps everything coursebridge knows in one database. The SQL
// is written once for both engines, one file per noun, next to the method that
// uses it. An exported method is one transaction, which includes the events that
// others must receive.
//
// The rules of the nouns are in package domain, which the store calls: what a
// status may become, what a repeated request means, who is linked or created. The
// store itself decides only what depends on rows that the transaction has locked:
// whether a key is taken, a limit is reached or a row still exists.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/postgres"
	"github.com/coursebridge/coursebridge/internal/store/sqlite"
)

// Store is the one database.
type Store struct {
	db          db.Engine
	log         *slog.Logger
	wake        func([]domain.EndpointKey)
	stopSending func(context.Context, []domain.RecordKey) error
	employees   *batch.Batcher[employeeKey, employeeWithAssignments] // nil where batching buys nothing
	provisions  *batch.Batcher[provisionRequest, provisionResult]
	assigns     *batch.Group[assignKey, assignRequest, []domain.BulkResult]

	// keptTotals holds the companies whose totals are known to be complete.
	keptTotals sync.Map
	// keptFigures holds those of them whose figures are known to be complete as well.
	keptFigures sync.Map

	// companyWrites lets the changes of one company, which may wait for a lock,
	// take half of the connections at most.
	companyWrites *db.Limit
	// platformWrites does the same for the changes of the platform, which reach the
	// records of all companies: a third. The rest is left to other companies. Activities
	// that would wait for a lock leave it: see RecordActivities.
	platformWrites *db.Limit
	// largeReads lets one large employee per company be read at a time, and
	// allLargeReads a few in all: see EmployeePages.
	largeReads, allLargeReads *db.Limit

	cacheMu       sync.Mutex
	onCacheChange []func(domain.CacheKind)
}

// Open connects to the database that the address names: sqlite:///path/file.db
// or postgres://….
func Open(ctx context.Context, address string) (*Store, error) {
	return OpenWith(ctx, address, db.Options{})
}

// OpenWith is Open with options.
func OpenWith(ctx context.Context, address string, options db.Options) (*Store, error) {
	var engine db.Engine
	switch {
	case strings.HasPrefix(address, "sqlite://"):
		path, err := sqlite.ParseURL(address)
		if err != nil {
			return nil, err
		}
		if engine, err = sqlite.Open(ctx, path, options); err != nil {
			return nil, err
		}
	case strings.HasPrefix(address, "postgres://"), strings.HasPrefix(address, "postgresql://"):
		pg, err := postgres.Open(ctx, address, options)
		if err != nil {
			return nil, err
		}
		engine = pg
	default:
		return nil, errors.New("a database address begins with sqlite:// or postgres://")
	}
	if options.Traced {
		engine = tracedEngine{engine}
	}
	return New(engine), nil
}

// companyWait is how long a call waits while its company uses its share of the
// connections.
const companyWait = 5 * time.Second

// largeWait is how long a call waits until it may read a large employee: less than
// the API's limit for a request.
const largeWait = 12 * time.Second

// sqliteCompanyWrites is how many changes of one company wait for SQLite's only writer
// at a time. Those that wait share a commit, so that they do not hold up others for long.
const sqliteCompanyWrites = 16

// New wraps an open engine.
func New(engine db.Engine) *Store {
	s := &Store{
		db: engine, log: slog.Default(), wake: func([]domain.EndpointKey) {},
		companyWrites: db.NewLimit(engine.Stats().Max/2, companyWait), platformWrites: db.NewLimit(engine.Stats().Max/3, companyWait),
		largeReads: db.NewLimit(1, largeWait), allLargeReads: db.NewLimit(min(engine.Stats().Max/4, runtime.GOMAXPROCS(0)/2), largeWait),
		stopSending: func(context.Context, []domain.RecordKey) error { return nil },
	}
	if engine.Name() == "sqlite" { // its reads make no round trip, and it has one writer
		s.companyWrites = db.NewLimit(sqliteCompanyWrites, companyWait)
		s.provisions = batch.New(s.provisionTogether, batch.Options{MaxParallel: 1, SlowAfter: batch.NeverSlow})
		s.assigns = batch.NewGroup[assignKey](s.assign, batch.Options{MaxParallel: 1, SlowAfter: batch.NeverSlow})
		return s
	}
	s.employees = batch.New(s.readEmployees, batch.Options{})
	s.provisions = batch.New(s.provisionTogether, batch.Options{})
	s.assigns = batch.NewGroup[assignKey](s.assign, batch.Options{})
	return s
}

// OnDeliveries sets the function that is called after a commit that made
// deliveries due.
func (s *Store) OnDeliveries(fn func([]domain.EndpointKey)) { s.wake = fn }

// LogTo sets the log for what goes wrong after a commit, which no caller is told.
func (s *Store) LogTo(log *slog.Logger) { s.log = log }

// OnErased sets the function that is called after people were erased, before the
// erasure is reported as done. An error means that something about them may still be
// sent. The function bounds its time itself.
func (s *Store) OnErased(fn func(context.Context, []domain.RecordKey) error) { s.stopSending = fn }

// Engine returns the database itself, for migrations, health and statistics.
func (s *Store) Engine() db.Engine { return s.db }

// Now returns the database's clock.
func (s *Store) Now() time.Time { return s.db.Now() }

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// write runs fn in a transaction with an outbox and wakes the dispatcher after
// the commit.
func (s *Store) write(ctx context.Context, fn func(db.Tx, *outbox) error) error {
	if company := domain.CompanyFrom(ctx); company != 0 {
		limit := s.companyWrites
		if company == domain.PlatformWork {
			limit = s.platformWrites
		}
		release, err := limit.Acquire(ctx, company)
		if err != nil {
			return mapUnavailable(err)
		}
		defer release()
	}
	var box *outbox
	err := s.db.Write(ctx, func(tx db.Tx) error {
		box = &outbox{store: s}
		return fn(tx, box)
	})
	if box != nil {
		s.cacheChanged(box.changed) // after an error too: a failed commit may have succeeded
	}
	if err != nil {
		return mapUnavailable(err)
	}
	if len(box.due) > 0 {
		s.wake(box.due)
	}
	return nil
}

// read runs the batch's statements.
func (s *Store) read(ctx context.Context, b *db.Batch) error {
	return mapUnavailable(s.db.Read(ctx, func(c db.Conn) error { return c.Send(ctx, b) }))
}

// mapUnavailable maps db.ErrUnavailable and db.ErrLocked to domain.CodeUnavailable, which becomes
// a 503. Other errors are returned as they are.
func mapUnavailable(err error) error {
	if err == nil || !errors.Is(err, db.ErrUnavailable) && !errors.Is(err, db.ErrLocked) {
		return err
	}
	var e *domain.Error
	if errors.As(err, &e) {
		return err
	}
	return domain.Errorf(domain.CodeUnavailable, "The service can't reach its database right now. Try again in a moment; the same request is safe to repeat.").WithCause(err)
}

func encodeList[T ~string](in []T) string {
	if in == nil {
		in = []T{}
	}
	out, err := json.Marshal(in)
	if err != nil {
		panic(err) // unreachable: strings always encode
	}
	return string(out)
}

func decodeList[T ~string](text string) ([]T, error) {
	var out []T
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("decode a list: %w", err)
	}
	return out, nil
}

func optionalText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// conditions builds a WHERE clause and numbers its placeholders.
type conditions struct {
	parts []string
	args  []any
}

// add appends a condition; each ? stands for one argument.
func (c *conditions) add(text string, args ...any) {
	c.parts = append(c.parts, c.bind(text, args...))
}

// bind adds arguments and returns the text with their numbers; each ? stands for one.
func (c *conditions) bind(text string, args ...any) string {
	for _, a := range args {
		c.args = append(c.args, a)
		text = strings.Replace(text, "?", fmt.Sprintf("$%d", len(c.args)), 1)
	}
	return text
}

// arg adds a value outside the conditions and returns its placeholder.
func (c *conditions) arg(v any) string {
	c.args = append(c.args, v)
	return fmt.Sprintf("$%d", len(c.args))
}

func (c *conditions) where() string { return " WHERE " + strings.Join(c.parts, " AND ") }

// limit returns the LIMIT clause of a page. It asks for one row more than the
// page has, which shows whether another page follows. The limit is no argument:
// PostgreSQL would take a tenth of the table for it, and so plan every execution
// again, which took longer than the execution.
func (c *conditions) limit(p domain.PageRequest) string {
	text := fmt.Sprintf(" LIMIT %d", p.Limit+1)
	if offset := p.Offset(); offset > 0 {
		c.args = append(c.args, offset)
		text += fmt.Sprintf(" OFFSET $%d", len(c.args))
	}
	return text
}

// ignoreRow is for statements that lock rows.
func ignoreRow(db.Rows) error { return nil }

// appendColumn returns a function that appends the only column of each row to a list.
func appendColumn[T any](list *[]T) func(db.Rows) error {
	return func(r db.Rows) error {
		var value T
		err := r.Scan(&value)
		*list = append(*list, value)
		return err
	}
}
