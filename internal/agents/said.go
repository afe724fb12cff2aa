package agents

import "encoding/json"

// The answers that several agents take in the same words, those of Claude Code's
// hooks. No field may be added to one: Codex drops an answer with any other
// field in it, and lets the call run.
type (
	said struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	permitted struct {
		Specific permission `json:"hookSpecificOutput"`
	}
	permission struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	}
	// replaced has the call made with other arguments. Codex wants to hear «allow»
	// with them, which answers none of its own questions; to Claude Code that would
	// say that its person need not be asked.
	replaced struct {
		Specific replacement `json:"hookSpecificOutput"`
	}
	replacement struct {
		Event    string          `json:"hookEventName"`
		Decision string          `json:"permissionDecision,omitempty"`
		Input    json.RawMessage `json:"updatedInput"`
	}
)
