package mcpgateway

// announcing takes the next place in the order of announcements. Its caller waits for before, unless
// that is nil, passes the announcement on, and closes said.
func (r *relay) announcing() (before, said chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, r.said = r.said, make(chan struct{})
	return before, r.said
}

// announcedSoFar returns a channel that is closed when all earlier announcements have been passed
// on; nil if there are none.
func (r *relay) announcedSoFar() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said
}
