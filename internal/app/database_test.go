package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"postgres://h/db?user=u&password=secret":           "postgres://h/db?password=xxxxx&user=u",
		"postgres://u:secret@h/db?sslpassword=secret":      "postgres://u:xxxxx@h/db?sslpassword=xxxxx",
		"postgres://u:secret@h/db?sslmode=disable&a=b":     "postgres://u:xxxxx@h/db?sslmode=disable&a=b",
		"postgres://u@h/db?sslmode=disable":                "postgres://u@h/db?sslmode=disable",
		"postgres://u:secret%zz@h/db":                      unreadableAddress,
		"postgres://u:secret/more@h/db":                    unreadableAddress,
		"postgres://h/db?user=u;password=secret":           unreadableAddress,
		"sqlite:///var/lib/100% ours.db":                   "sqlite:///var/lib/100% ours.db",
		"https://u:secret@learning.example/x?password=%20": "https://u:xxxxx@learning.example/x?password=xxxxx",
	} {
		if got := Redact(address); got != want {
			t.Errorf("Redact(%q) = %q, want %q", address, got, want)
		}
	}
}

// sqlStateError is an error of a PostgreSQL server.
type sqlStateError string

func (e sqlStateError) Error() string    { return "error " + string(e) }
func (e sqlStateError) SQLState() string { return string(e) }
func (e sqlStateError) Unwrap() error    { return db.ErrUnavailable }

func TestTemporaryErrorsOfTheDatabase(t *testing.T) {
	t.Parallel()
	a := &App{config: Config{Database: "postgres://h/db"}}
	for code, want := range map[sqlStateError]bool{"53300": true, "57P03": true, "28P01": false, "3D000": false, "5": false, "": false} {
		if got := a.isTemporary(fmt.Errorf("open: %w", code)); got != want {
			t.Errorf("isTemporary of %q = %t, want %t", code, got, want)
		}
	}
	if !a.isTemporary(db.ErrUnavailable) {
		t.Error("a server that cannot be reached is not waited for")
	}
}

// A bad public address hides no other error.
func TestEverySettingIsChecked(t *testing.T) {
	t.Parallel()
	c := Config{Database: "sqlite://x.db", PublicURL: "learning.example", DatabaseWait: -time.Second, DatabaseConnections: 1}
	err := CheckSettings(c, ServeConfig{})
	for _, want := range []string{"--public-url", "--database-wait", "--database-connections"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not named: %v", want, err)
		}
	}
}

// A company whose sign-in link cannot be made is not created: the link is shown once, and
// a second attempt would make a second company.
func TestNoCompanyWithoutItsLink(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, address string) {
		a, err := Open(t.Context(), Config{Database: address, Create: true, LogLevel: "error"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = a.Close() }()
		rename := func(from, to string) {
			t.Helper()
			err := a.store.Engine().Write(t.Context(), func(tx db.Tx) error {
				_, err := tx.Exec(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		rename("settings", "settings_away")
		if _, err := a.CreateCompany(t.Context(), "Acme", "ann@acme.example", "UTC"); err == nil {
			t.Error("the public address cannot be read, and the company was created all the same")
		}
		rename("settings_away", "settings")
		if list, err := a.ListCompanies(t.Context()); err != nil || len(list.Companies) != 0 {
			t.Errorf("%d companies, %v", len(list.Companies), err)
		}
		if created, err := a.CreateCompany(t.Context(), "Acme", "ann@acme.example", "UTC"); err != nil || !strings.Contains(created.SignInURL, "/cabinet/enter/") {
			t.Errorf("%+v, %v", created, err)
		}
	})
}
