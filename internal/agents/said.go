package agents

import "encoding/json"

// The answers that several agents accept in the form of Claude Code's hooks. No field may be added,
// because Codex drops an answer with an unknown field and lets the call run.
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
	// replaced changes the arguments of a call. Codex requires «allow» with them, which does not
	// skip its own prompts. For Claude Code «allow» is left out, because it would skip the prompt
	// to the person.
	replaced struct {
		Specific replacement `json:"hookSpecificOutput"`
	}
	replacement struct {
		Event    string          `json:"hookEventName"`
		Decision string          `json:"permissionDecision,omitempty"`
		Input    json.RawMessage `json:"updatedInput"`
	}
)
