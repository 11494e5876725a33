package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/service"
)

// KeyRotated is the state of a rotation of the secret key.
type KeyRotated struct {
	Resealed int64 `json:"resealed"`
	Finished bool  `json:"finished"`
}

func (k KeyRotated) String() string {
	text := fmt.Sprintf("%d records were encrypted with a new key.\n", k.Resealed)
	if k.Finished {
		return text + "The old key is no longer accepted."
	}
	return text + "The old key and the new one are accepted now. Restart every server with the new key, then run:\n" +
		"coursebridge secret-key rotate --finish"
}

// RotateKey encrypts all secrets with a new key. The operator's key before is accepted
// as well until FinishRotation. It can be repeated after an interruption.
func (a *App) RotateKey(ctx context.Context, newKey string) (KeyRotated, error) {
	options := a.boxOptions()
	if err := secret.Rotate(ctx, a.store, options, newKey); err != nil {
		return KeyRotated{}, err
	}
	if newKey != "" {
		options.Key = newKey
	}
	return a.reseal(ctx, options)
}

// FinishRotation encrypts what servers have stored with the old key since RotateKey, and
// refuses the operator's key from before.
func (a *App) FinishRotation(ctx context.Context) (KeyRotated, error) {
	rotating, err := secret.Rotating(ctx, a.store)
	if err != nil {
		return KeyRotated{}, err
	}
	if !rotating {
		return KeyRotated{}, errors.New("no rotation is under way; coursebridge secret-key rotate begins one")
	}
	out, err := a.reseal(ctx, a.boxOptions())
	if err != nil {
		return out, err
	}
	out.Finished = true
	return out, secret.Finish(ctx, a.store, a.boxOptions())
}

func (a *App) reseal(ctx context.Context, options secret.Options) (KeyRotated, error) {
	box, err := secret.Open(ctx, a.store, options)
	if err != nil {
		return KeyRotated{}, err
	}
	n, err := service.Reseal(ctx, a.store, box)
	return KeyRotated{Resealed: n}, err
}
