package cabinet

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

// flashValueLifetime is how long a value waits for the page that shows it.
const flashValueLifetime = 10 * time.Minute

// flashValue is a value that the next page shows and then forgets, such as a new token.
type flashValue struct {
	Expires time.Time
	Value   json.RawMessage
}

// putFlashValue keeps a value in the session for the page that name stands for. It is
// encrypted with the session's token, which the database does not hold, so that
// the database never holds a secret in readable form. Values of other names stay, so that
// no tab loses what it has not shown yet.
func (p *page) putFlashValue(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	plain, err := json.Marshal(flashValue{Expires: p.Now().Add(flashValueLifetime), Value: text})
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	aead, err := p.flashCipher()
	if err != nil {
		return err
	}
	p.removeStaleFlashValues(aead)
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	rand.Read(nonce) // never fails: crypto/rand ends the program instead
	p.session.Put(p.r.Context(), keyFlashValue+name, aead.Seal(nonce, nonce, plain, []byte(name)))
	return nil
}

// takeFlashValue reads a value that putFlashValue kept under the same name and removes it. It
// returns false if there is none, if it has expired, or if the session's token has changed.
func (p *page) takeFlashValue(name string, into any) bool {
	aead, err := p.flashCipher()
	if err != nil {
		return false
	}
	kept, ok := p.openFlashValue(aead, name)
	p.session.Remove(p.r.Context(), keyFlashValue+name)
	return ok && json.Unmarshal(kept.Value, into) == nil
}

// openFlashValue decrypts a value that has not expired.
func (p *page) openFlashValue(aead cipher.AEAD, name string) (flashValue, bool) {
	var kept flashValue
	sealed := p.session.GetBytes(p.r.Context(), keyFlashValue+name)
	if len(sealed) < aead.NonceSize() {
		return kept, false
	}
	plain, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], []byte(name))
	return kept, err == nil && json.Unmarshal(plain, &kept) == nil && p.Now().Before(kept.Expires)
}

// removeStaleFlashValues removes the values that takeFlashValue would not return, so that the
// session does not grow with values that nobody looked at.
func (p *page) removeStaleFlashValues(aead cipher.AEAD) {
	for _, key := range p.session.Keys(p.r.Context()) {
		if name, found := strings.CutPrefix(key, keyFlashValue); found {
			if _, ok := p.openFlashValue(aead, name); !ok {
				p.session.Remove(p.r.Context(), key)
			}
		}
	}
}

func (p *page) flashCipher() (cipher.AEAD, error) {
	key := sha256.Sum256([]byte("once " + p.sessionToken()))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("make the cipher of a session: %w", err)
	}
	return cipher.NewGCM(block)
}

func (p *page) flashes() []view.Flash {
	var out []view.Flash
	ctx := p.r.Context()
	if p.identity.Company.Suspended() {
		out = append(out, view.Flash{Kind: view.FlashProblem, Text: suspendedNotice})
	}
	if text := p.session.PopString(ctx, keyFlash); text != "" {
		out = append(out, view.Flash{Kind: view.FlashDone, Text: text})
	}
	if text := p.session.PopString(ctx, keyProblem); text != "" {
		out = append(out, view.Flash{Kind: view.FlashProblem, Text: text})
	}
	return out
}

// suspendedNotice is on every page of a suspended company.
const suspendedNotice = "Your company is suspended. You can look at everything, but nothing can be changed."

// redirectDone redirects to path, where a message describes what was done.
func (p *page) redirectDone(text, path string) error {
	p.session.Put(p.r.Context(), keyFlash, text)
	return p.redirect(path)
}

// redirectProblem redirects to path, where a message describes what did not work.
func (p *page) redirectProblem(text, path string) error {
	p.session.Put(p.r.Context(), keyProblem, text)
	return p.redirect(path)
}

// redirectWithValue redirects to path, where the value is shown once.
func (p *page) redirectWithValue(name string, value any, path string) error {
	if err := p.putFlashValue(name, value); err != nil {
		return err
	}
	return p.redirect(path)
}
