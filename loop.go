package floodmark

import (
	"iter"
	"strconv"
)

// A Loop is what an agent reports of its own loop, in the RFC's words: for example the model, the
// size of the context and the cost of a call. It cannot be verified, so it is recorded and shown,
// and no decision depends on it.
type Loop struct {
	Model string `json:"model,omitempty"`
	// TokenEstimate is the size of the context to be sent.
	TokenEstimate int `json:"tokenEstimate,omitempty"`
	// TokenUsage and LatencyMs are the cost of a model call.
	TokenUsage TokenUsage `json:"tokenUsage,omitzero"`
	LatencyMs  int        `json:"latencyMs,omitempty"`
	// PendingToolResults and MessageCount are reported at the start of a round.
	PendingToolResults int `json:"pendingToolResults,omitempty"`
	MessageCount       int `json:"messageCount,omitempty"`
	// ToolCallsMade, NewMessagesAdded and WillContinue are reported at the end of a round.
	ToolCallsMade    int  `json:"toolCallsMade,omitempty"`
	NewMessagesAdded int  `json:"newMessagesAdded,omitempty"`
	WillContinue     bool `json:"willContinue,omitempty"`
	// SessionKey is the agent's own name of the conversation.
	SessionKey string `json:"sessionKey,omitempty"`
	// Channel is the destination of an answer.
	Channel string `json:"channel,omitempty"`
}

// TokenUsage counts the tokens of one model call.
type TokenUsage struct {
	Input  int `json:"input,omitempty"`
	Output int `json:"output,omitempty"`
}

// maxLoopText bounds a name shown from a [Loop].
const maxLoopText = 128

// Numbers yields the nonzero numbers of l with their names in the RFC.
func (l Loop) Numbers() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, n := range []struct {
			name  string
			value int
		}{
			{"tokenEstimate", l.TokenEstimate},
			{"tokenUsage.input", l.TokenUsage.Input},
			{"tokenUsage.output", l.TokenUsage.Output},
			{"latencyMs", l.LatencyMs},
			{"pendingToolResults", l.PendingToolResults},
			{"messageCount", l.MessageCount},
			{"toolCallsMade", l.ToolCallsMade},
			{"newMessagesAdded", l.NewMessagesAdded},
		} {
			if n.value != 0 && !yield(n.name, n.value) {
				return
			}
		}
	}
}

// Words yields all nonzero values of l as text that is safe to show, with their names in the RFC.
func (l Loop) Words() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, w := range [][2]string{{"model", l.Model}, {"sessionKey", l.SessionKey}, {"channel", l.Channel}} {
			if w[1] != "" && !yield(w[0], OneLine(w[1], maxLoopText)) {
				return
			}
		}
		for name, n := range l.Numbers() {
			if !yield(name, strconv.Itoa(n)) {
				return
			}
		}
		if l.WillContinue {
			yield("willContinue", "true")
		}
	}
}
