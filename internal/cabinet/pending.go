package cabinet

import "net/http"

func (c *Cabinet) accountPages(register)  {}
func (c *Cabinet) overviewPages(register) {}
func (c *Cabinet) tokenPages(register)    {}
func (c *Cabinet) webhookPages(register)  {}
func (c *Cabinet) deliveryPages(register) {}
func (c *Cabinet) auditPages(register)    {}
func (c *Cabinet) settingsPages(register) {}
func setsPassword(*http.Request) bool     { return false }
func enterForm(*page) error               { return errNoPage }
func enter(*page) error                   { return errNoPage }
