package app

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/demo"
)

// DemoOutput is where the demo writes its progress, and what it calls once it runs.
type DemoOutput struct {
	Progress io.Writer
	Terminal bool // whether Progress is a terminal
	Started  func(DemoStarted) error
	Open     func(url string) error // opens a browser; nil for none
}

// DemoStarted holds what is needed to try the demo.
type DemoStarted struct {
	SignInURL   string   `json:"signInUrl"`
	ReceiverURL string   `json:"receiverUrl"`
	APIURL      string   `json:"apiUrl"`
	DocsURL     string   `json:"docsUrl"`
	Token       string   `json:"token"`
	Curl        string   `json:"curl"`
	Examples    []string `json:"examples"`
	keep        bool
}

func newDemoStarted(base string, w *demoWorld) DemoStarted {
	d := DemoStarted{
		SignInURL: base + demoEntryPath + w.entry.secret, ReceiverURL: base + demoReceiverPath, APIURL: base + "/api/v1",
		DocsURL: base + "/docs", Token: w.token, keep: w.keep,
	}
	d.Examples = d.examples(w.token)
	d.Curl = d.Examples[0]
	return d
}

// examples returns three calls: a list, a new employee and an assignment. The last
// two make events.
func (d DemoStarted) examples(token string) []string {
	as := fmt.Sprintf(` -H "Authorization: Bearer %s"`, token)
	return []string{
		"curl -s " + d.APIURL + "/courses" + as,
		"curl -s " + d.APIURL + "/employees/provision" + as + ` -d '{"externalId":"ME-1","email":"me@northwind.example","name":"Mia Meyer"}'`,
		"curl -s " + d.APIURL + "/assignments" + as + ` -d '{"employeeExternalId":"ME-1","courseId":1,"externalId":"ME-1-welcome"}'`,
	}
}

func (d DemoStarted) String() string {
	end := "Press Ctrl-C to stop. Everything is deleted then."
	if d.keep {
		end = "Press Ctrl-C to stop. The database keeps the company; serve continues with it."
	}
	return fmt.Sprintf(demoGreeting, d.SignInURL, d.ReceiverURL, d.DocsURL, d.APIURL, d.Token,
		d.Token, strings.Join(d.examples("$TOKEN"), "\n  "), end)
}

const demoGreeting = `
coursebridge is running with a demo company whose learners are active.

  Cabinet    %s  (signs you in at once)
  Receiver   %s  (shows webhooks as they arrive)
  Docs       %s
  API        %s
  Token      %s

Try it:

  TOKEN=%s
  %s

%s`

const (
	barWidth      = 30
	plainInterval = 5 * time.Second // between the lines of a progress that is not a terminal's
)

// demoProgress shows how much of the company is written: as a bar on a terminal, and
// as a line every few seconds elsewhere.
type demoProgress struct {
	out            DemoOutput
	started, shown time.Time
	now            func() time.Time
	last           demo.Progress
}

func (o DemoOutput) newProgress() *demoProgress {
	p := &demoProgress{out: o, started: time.Now(), now: time.Now}
	p.shown = p.started
	if !o.Terminal {
		fmt.Fprintln(o.Progress, "Preparing the company.")
	}
	return p
}

func (p *demoProgress) show(state demo.Progress) {
	p.last = state
	if p.out.Terminal {
		filled := barWidth * state.Done / max(1, state.Total)
		fmt.Fprintf(p.out.Progress, "\r%s%s %3d%%  %s", strings.Repeat("█", filled), strings.Repeat("░", barWidth-filled),
			100*state.Done/max(1, state.Total), p.rate())
		return
	}
	if now := p.now(); now.Sub(p.shown) >= plainInterval {
		p.shown = now
		fmt.Fprintf(p.out.Progress, "Wrote %s of %s employees and assignments.\n", groupDigits(state.Done), groupDigits(state.Total))
	}
}

// end reports the amount that was written and the time it took.
func (p *demoProgress) end() {
	took := p.now().Sub(p.started)
	if p.out.Terminal {
		fmt.Fprintln(p.out.Progress)
	}
	fmt.Fprintf(p.out.Progress, "Wrote %s employees and assignments, %s rows, in %.1f s (%s).\n",
		groupDigits(p.last.Done), groupDigits(p.last.Rows), took.Seconds(), p.rate())
}

// rate returns the speed so far.
func (p *demoProgress) rate() string {
	seconds := max(0.001, p.now().Sub(p.started).Seconds())
	return groupDigits(int(float64(p.last.Rows)/seconds)) + " rows/s"
}

// groupDigits writes a number with commas between the thousands.
func groupDigits(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
