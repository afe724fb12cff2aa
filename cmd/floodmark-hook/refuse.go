package main

import "github.com/floodmark/floodmark/internal/hookframe"

// What each agent takes for a no, as constant bytes: they must not depend on
// anything that can fail. Where an agent and event are not listed, exit status
// 2 with a word on standard error is a no for every agent we know.
const (
	why = "floodmark: the monitor did not answer, so nothing is allowed. Ask the person to run «floodmark status», and go on without this"

	codexDeny  = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + why + `"}}`
	codexBlock = `{"decision":"block","reason":"` + why + `"}`
)

// refusal is the no of one agent at one event. The error goes to standard
// error, for the person who looks why.
func refusal(agent, event string, err error) hookframe.Response {
	resp := hookframe.Response{V: hookframe.Version, Stderr: "floodmark-hook: " + err.Error() + "\n"}
	switch agent + " " + event {
	case "codex PreToolUse":
		resp.Stdout = codexDeny
	case "codex PostToolUse", "codex UserPromptSubmit":
		resp.Stdout = codexBlock
	case "codex Stop", "codex SubagentStop":
		resp.Exit = 1 // a no would mean: go on
	default:
		resp.Stderr = why + "\n" + resp.Stderr
		resp.Exit = hookframe.Refused
	}
	return resp
}
