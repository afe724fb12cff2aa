package agents

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
)
