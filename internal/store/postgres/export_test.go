package postgres

// Address returns the address that the engine was opened with.
func (e *Engine) Address() string { return e.pool.Config().ConnString() }
