package main

import "github.com/floodmark/floodmark/internal/hookframe"

// What each agent takes for a no, as constant bytes: they must not depend on
// anything that can fail. Where an agent and event are not listed, exit status
// 2 with a word on standard error is a no for every agent we know, or nothing
// is.
const (
	why = "floodmark: the monitor did not answer, so nothing is allowed. Ask the person to run «floodmark status», and go on without this"

	codexDeny  = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + why + `"}}`
	codexBlock = `{"decision":"block","reason":"` + why + `"}`

	geminiDeny = `{"decision":"deny","reason":"` + why + `."}`
	geminiStop = `{"continue":false,"stopReason":"` + why + `."}`

	copilotDeny     = `{"permissionDecision":"deny","permissionDecisionReason":"` + why + `."}`
	copilotBehavior = `{"behavior":"deny","message":"` + why + `."}`
	copilotBlock    = `{"decision":"block","reason":"` + why + `."}`
	copilotWithheld = `{"modifiedResult":{"resultType":"failure","textResultForLlm":"` + why + `."}}`
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
	case "copilot-cli preToolUse":
		resp.Stdout = copilotDeny
	case "copilot-cli permissionRequest":
		resp.Stdout = copilotBehavior
	case "copilot-cli userPromptSubmitted":
		resp.Stdout = copilotBlock
	case "copilot-cli postToolUse":
		resp.Stdout = copilotWithheld
	case "gemini-cli BeforeTool", "gemini-cli AfterTool", "gemini-cli BeforeAgent":
		resp.Stdout = geminiDeny
	case "gemini-cli AfterAgent":
		resp.Stdout = geminiStop
	case "codex Stop", "codex SubagentStop", "copilot-cli agentStop", "copilot-cli subagentStop":
		resp.Exit = 1 // a no would mean: go on
	default:
		resp.Stderr = why + "\n" + resp.Stderr
		resp.Exit = hookframe.Refused
	}
	return resp
}
