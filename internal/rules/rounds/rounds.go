// Package rounds counts the rounds of an agent's loop. A round is a call of the model with the tool
// calls of its answer. Few agents report their model calls. For all other agents a round begins
// with the first tool call after a result or a refusal, because all calls of one answer are
// reported before the first of their results.
package rounds

// A Count is what is known of one turn. The zero Count is a turn that begins.
type Count struct {
	Iteration int  `json:"iteration,omitempty"` // how many rounds began
	Begun     bool `json:"begun,omitempty"`     // the agent reported a new round, and no model call since
	Told      bool `json:"told,omitempty"`      // the agent reported a model call
	Came      bool `json:"came,omitempty"`      // a result or a refusal came after the last call
	Calls     int  `json:"calls,omitempty"`     // how many tool calls this round has
	// Heard says that the agent reported a message, a round or a model call in the session. An
	// agent that reports only tool calls does not report turns either, and has no limit of rounds.
	Heard bool `json:"heard,omitempty"`
}

// maxAtOnce bounds the calls of one round if no results are reported.
const maxAtOnce = 32

// ForModel returns the round, from 0, of the next model call.
func (c *Count) ForModel() int {
	if c.Begun && !c.Came {
		return c.Iteration - 1
	}
	return c.Iteration
}

// ForCall returns the round, from 0, of the next tool call. A call that was proposed by a reported
// answer of the model belongs to the round of that answer.
func (c *Count) ForCall(proposed bool) int {
	if c.Iteration == 0 || !proposed && (c.Came || c.Calls >= maxAtOnce) {
		return c.Iteration
	}
	return c.Iteration - 1
}

// FirstRound starts the count again, for a new turn.
func (c *Count) FirstRound() { *c = Count{Heard: c.Heard} }

// RoundBegan records that the agent reported round n. If the agent reports the same number each
// time, the rounds are counted nevertheless.
func (c *Count) RoundBegan(n int) {
	if c.Came && n < c.Iteration {
		n = c.Iteration
	}
	*c = Count{Iteration: max(c.Iteration, n+1), Begun: true, Heard: true}
}

// ModelCalled records a model call of round n.
func (c *Count) ModelCalled(n int) {
	*c = Count{Iteration: max(c.ForModel(), n) + 1, Told: true, Heard: true}
}

// Called records a tool call of round n that was decided. Refused says that the model reads a
// refusal instead of a result, so that the next call begins a new round. This does not apply to
// agents that report model calls, because they will also report the next one.
func (c *Count) Called(n int, refused bool) {
	if c.Calls++; n >= c.Iteration {
		c.Iteration, c.Calls = n+1, 1
	}
	c.Came = refused && !c.Told
}
