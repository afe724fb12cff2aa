package mcpgateway

// announcing takes the place behind all that was announced before. Whoever has it
// waits for before, unless it is nil, and closes said.
func (r *relay) announcing() (before, said chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, r.said = r.said, make(chan struct{})
	return before, r.said
}

// announcedSoFar is closed when all that was announced has been passed on; nil if
// there was nothing.
func (r *relay) announcedSoFar() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said
}
