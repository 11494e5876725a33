package app

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/coursebridge/coursebridge/internal/cabinet"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/demo"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

const (
	demoReceiverPath = view.PathDemoReceiver
	demoEntryPath    = "/demo/enter/"
)

// demoEntry is a link that signs the demo's administrator in as often as it is opened.
type demoEntry struct {
	secret        string
	administrator domain.Administrator
}

// demoSignIn uses the administrator's one-time link, so that opening the printed link
// asks for nothing, and sets a password that nobody knows.
func (a *App) demoSignIn(ctx context.Context) (demoEntry, error) {
	_, link, err := a.administrators.LinkFor(ctx, operator(), domain.LinkRequest{Email: demoAdmin})
	if err != nil {
		return demoEntry{}, err
	}
	signIn := service.NewSignIn(a.store, a.box, service.SignInOptions{Now: a.store.Now})
	who, err := signIn.Enter(ctx, link, "", service.Origin{})
	if err != nil {
		return demoEntry{}, err
	}
	id, err := signIn.Identify(ctx, who.ID, 0)
	if err != nil {
		return demoEntry{}, err
	}
	return demoEntry{rand.Text(), who}, signIn.SetPassword(ctx, id.Actor(service.Origin{}), rand.Text(), "")
}

// receiverPage shows what the demo's receivers got.
func receiverPage(pages *cabinet.Cabinet, inbox *demo.Inbox) http.Handler {
	return pages.Receiver(func() view.Receiver {
		items, total := inbox.Latest()
		v := view.Receiver{Total: total}
		for _, item := range items {
			v.Items = append(v.Items, receivedView(item))
		}
		return v
	})
}

func receivedView(r demo.Received) view.Received {
	return view.Received{
		Number: r.Number, At: r.At, Receiver: r.Receiver, Delivery: r.Delivery, Event: r.Event, Sequence: r.Sequence,
		Attempt: r.Attempt, Problem: r.Problem, Status: r.Status, Body: string(r.Body),
	}
}
