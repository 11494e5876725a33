package cabinet

func (c *Cabinet) tokenPages(register)    {}
func (c *Cabinet) webhookPages(register)  {}
func (c *Cabinet) deliveryPages(register) {}
