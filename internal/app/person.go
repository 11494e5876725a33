package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// PersonExport is all that is kept about one person.
type PersonExport struct{ domain.Person }

// String returns the export as indented JSON: it is a document in any case.
func (p PersonExport) String() string {
	text, err := json.MarshalIndent(p.Person, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// ExportPerson returns all that is kept about an address, over all companies.
func (a *App) ExportPerson(ctx context.Context, email string) (PersonExport, error) {
	person, err := service.NewPeople(a.store).Export(ctx, email)
	return PersonExport{person}, err
}

// PersonErased reports that a person was erased. Kept holds the texts that contain
// the address and that only their company can change.
type PersonErased struct {
	Erased bool                   `json:"erased"`
	Kept   []domain.PersonMention `json:"kept"`
}

func (p PersonErased) String() string {
	text := "The person was erased from all companies. Nothing about the person is being sent any more."
	for _, m := range p.Kept {
		text += fmt.Sprintf("\nThe address is part of a webhook's address. Ask company %d to change webhook %d: %s", m.CompanyID, m.ID, m.Text)
	}
	return text
}

// ErasePerson erases an address from all companies. When it returns, no server sends
// anything about the person: those that listen cancel what they are sending; others, as
// every server on SQLite, are given attemptTimeout, their --webhook-timeout, to end it.
func (a *App) ErasePerson(ctx context.Context, email string, attemptTimeout time.Duration) (PersonErased, error) {
	servers := delivery.NewCanceller(delivery.CancellerConfig{Queue: a.store, Bus: a.store.Engine(), Log: a.log, AttemptTimeout: attemptTimeout})
	listening, stop := context.WithCancel(ctx)
	var listener sync.WaitGroup
	listener.Go(func() { servers.Listen(listening) })
	a.store.OnErased(servers.StopSending)
	people := service.NewPeople(a.store)
	err := people.Erase(ctx, operator(), email)
	stop()
	listener.Wait()
	if err != nil {
		return PersonErased{}, err
	}
	left, err := people.Export(ctx, email)
	if errors.Is(err, domain.ErrPersonNotFound) {
		err = nil
	}
	return PersonErased{Erased: true, Kept: append([]domain.PersonMention{}, left.Mentions...)}, err
}
