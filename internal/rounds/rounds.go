// Package rounds counts how often an agent's loop went round. A round is a call of the
// model with the tools it calls. Few agents tell of their model calls; for the others a
// round begins with the first tool call after a result or a refusal, because the calls of
// one answer of the model come before any result of theirs.
package rounds

// A Count is what is known of one turn. The zero Count is a turn that begins.
type Count struct {
	Iteration int  `json:"iteration,omitempty"` // rounds begun
	Begun     bool `json:"begun,omitempty"`     // the agent told that one began, and of no model call since
	Told      bool `json:"told,omitempty"`      // the agent told of a model call
	Came      bool `json:"came,omitempty"`      // a result, or a refusal, since the last call
	Calls     int  `json:"calls,omitempty"`     // of this round
	// Heard says that a message came into the session, or that the agent told of its
	// model. An agent that tells of calls alone tells of no turns: there is no limit then.
	Heard bool `json:"heard,omitempty"`
}

// maxAtOnce bounds the calls of one round whose results are not reported.
const maxAtOnce = 32

// ForModel is the round, from 0, that a model call belongs to.
func (c *Count) ForModel() int {
	if c.Begun && !c.Came {
		return c.Iteration - 1
	}
	return c.Iteration
}

// ForCall is the round, from 0, that a tool call belongs to. One that an answer of the
// model proposed is of the round of that answer.
func (c *Count) ForCall(proposed bool) int {
	if c.Iteration == 0 || !proposed && (c.Came || c.Calls >= maxAtOnce) {
		return c.Iteration
	}
	return c.Iteration - 1
}

// FirstRound begins to count.
func (c *Count) FirstRound() { *c = Count{Heard: c.Heard} }

// RoundBegan takes in that the agent told of a round. One that says the same number each
// time is counted nevertheless.
func (c *Count) RoundBegan(n int) {
	if c.Came && n < c.Iteration {
		n = c.Iteration
	}
	*c = Count{Iteration: max(c.Iteration, n+1), Begun: true, Heard: true}
}

// ModelCalled takes in a model call of round n.
func (c *Count) ModelCalled(n int) {
	*c = Count{Iteration: max(c.ForModel(), n) + 1, Told: true, Heard: true}
}

// Called takes in a tool call of round n that was answered: refused is an answer that
// the model reads instead of a result. Who tells of model calls tells of the next one, too.
func (c *Count) Called(n int, refused bool) {
	if c.Calls++; n >= c.Iteration {
		c.Iteration, c.Calls = n+1, 1
	}
	c.Came = refused && !c.Told
}
