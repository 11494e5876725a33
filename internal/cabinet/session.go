package cabinet

import (
	"bytes"
	"strings"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/service"
)

func (c *Cabinet) sessionPages(private register) {
	private("GET "+view.PathSessions, sessions)
	private("POST "+view.PathSessions+"/{id}/end", endSession)
	private("GET "+view.PathEndOthers, confirmEndOthers)
	private("POST "+view.PathEndOthers, endOthers)
}

func (p *page) sessionList() (view.Sessions, error) {
	list, err := p.Sessions.List(p.r.Context(), p.identity.Administrator.ID)
	own := service.SessionKey(p.sessionToken())
	var v view.Sessions
	for _, s := range list {
		v.List = append(v.List, view.Session{
			ID: s.ID, Device: device(s.UserAgent), Agent: s.UserAgent, Address: s.Address,
			Current: bytes.Equal(s.Key, own), SeenAt: s.SeenAt, CreatedAt: s.CreatedAt,
		})
	}
	return v, err
}

func sessions(p *page) error {
	v, err := p.sessionList()
	if err != nil {
		return err
	}
	return p.renderOK(view.SessionsPage(p.shell(), v))
}

func endSession(p *page) error {
	id, err := p.id()
	if err != nil {
		return err
	}
	if err := p.Sessions.End(p.r.Context(), p.actor(), id); err != nil {
		return err
	}
	return p.redirectDone("The session has ended.", view.PathSessions)
}

func confirmEndOthers(p *page) error {
	v, err := p.sessionList()
	if err != nil {
		return err
	}
	return p.renderOK(view.ConfirmPage(p.shell(), view.SessionsEndOthers(int64(len(v.List)-1))))
}

func endOthers(p *page) error {
	if _, err := p.Sessions.EndOthers(p.r.Context(), p.actor(), p.sessionToken()); err != nil {
		return err
	}
	return p.redirectDone("Your other sessions have ended.", view.PathSessions)
}

// device returns the browser and the system of a User-Agent header.
func device(agent string) string {
	browser, system := "A browser", ""
	for _, b := range [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"}} {
		if strings.Contains(agent, b[0]) {
			browser = b[1]
			break
		}
	}
	for _, s := range [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"}} {
		if strings.Contains(agent, s[0]) {
			system = s[1]
			break
		}
	}
	if system == "" {
		return browser
	}
	return browser + " on " + system
}
