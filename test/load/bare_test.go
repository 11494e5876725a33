package load

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// bareEnv has the test binary serve as the least that could do the same: it
// names the handler, and bareArgEnv what that needs.
const (
	bareEnv    = "COURSEBRIDGE_LOAD_BARE"
	bareArgEnv = "COURSEBRIDGE_LOAD_BARE_ARG"
)

// bare starts a bare handler in a process of its own and gives its address.
func bare(b *testing.B, kind, arg string) string {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), bareEnv+"="+kind, bareArgEnv+"="+arg)
	cmd.Stderr = os.Stderr
	hold, err := cmd.StdinPipe() // it ends when this closes, however we end
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = hold.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal("start a bare handler:", err)
	}
	return strings.TrimSpace(address)
}

// serveBare is the process that bare starts.
func serveBare(kind string) int {
	handler, err := bareHandlers[kind](os.Getenv(bareArgEnv))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(l.Addr())
	go func() { _ = http.Serve(l, handler) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

var bareHandlers = map[string]func(arg string) (http.Handler, error){
	"bytes":     bareBytes,
	"select":    bareSelect,
	"provision": bareProvision,
}

// bareBytes writes what it was given.
func bareBytes(arg string) (http.Handler, error) {
	body := []byte(arg)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(body)
	}), nil
}

func barePool(database string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = connections
	return pgxpool.NewWithConfig(context.Background(), cfg)
}

type bareEmployee struct {
	ID         int64           `json:"id"`
	ExternalID string          `json:"externalId"`
	Email      string          `json:"email"`
	Name       string          `json:"name"`
	Role       string          `json:"role"`
	Tags       json.RawMessage `json:"tags"`
	JoinedAt   time.Time       `json:"joinedAt"`
	Tasks      []string        `json:"assignments"`
}

type bareAnswer struct {
	Result string `json:"result"`
	Data   any    `json:"data"`
}

// bareSelect reads an employee by key.
func bareSelect(database string) (http.Handler, error) {
	pool, err := barePool(database)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := bareEmployee{Tasks: []string{}}
		var tags string
		err := pool.QueryRow(r.Context(), `SELECT id, external_id, email, name, role, tags, joined_at FROM employees
			WHERE company_id = $1 AND external_id = $2 AND left_at IS NULL`, int64(1), strings.TrimPrefix(r.URL.Path, employeePath)).
			Scan(&e.ID, &e.ExternalID, &e.Email, &e.Name, &e.Role, &tags, &e.JoinedAt)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		e.Tags = json.RawMessage(tags)
		respond(w, e)
	}), nil
}

func respond(w http.ResponseWriter, data any) {
	body, err := json.Marshal(bareAnswer{"success", data})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(body)
}

const provisionSQL = `WITH account AS (
		INSERT INTO accounts (email_folded, created_at) VALUES ($1, $2)
	), employee AS (
		INSERT INTO employees (company_id, id, external_id, email, email_folded, name, role, tags, joined_at, updated_at)
		VALUES (1, nextval('employee_ids'), $3, $4, $1, $5, 'employee', '[]', $2, $2) RETURNING id
	), event AS (
		INSERT INTO events (company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body)
		SELECT 1, nextval('event_ids'), 'employee.joined', $2, id, 0, $3, $6 FROM employee
	), audit AS (
		INSERT INTO audit_entries (company_id, at, actor_kind, actor_id, actor_label, action, record_kind, record_id,
			employee_id, request_id, address, detail)
		SELECT 1, $2, 'token', 1, 'load', 'employee.provisioned', 'employee', id::text, id, 'request', '127.0.0.1', '' FROM employee
	) SELECT id FROM employee`

// bareProvision inserts all rows of a new employee in one statement.
func bareProvision(database string) (http.Handler, error) {
	pool, err := barePool(database)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e bareEmployee
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		now := time.Now()
		e.Role, e.Tags, e.JoinedAt = "employee", json.RawMessage("[]"), now
		told, err := json.Marshal(map[string]any{"event": "employee.joined", "companyId": 1, "occurredAt": now, "data": e})
		if err == nil {
			err = pool.QueryRow(r.Context(), provisionSQL, strings.ToLower(e.Email), now, e.ExternalID, e.Email, e.Name, told).Scan(&e.ID)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		respond(w, map[string]any{"id": e.ID, "externalId": e.ExternalID, "email": e.Email, "status": "created"})
	}), nil
}
