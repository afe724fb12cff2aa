package hookrun

import "github.com/floodmark/floodmark/internal/agents/hookframe"

// What each agent takes for a denial, as constants, because a denial must not depend on anything
// that can fail. For any other agent and event, exit status 2 with text on standard error is the
// denial, if there is one at all.
const (
	why = "floodmark: the monitor did not answer, so nothing is allowed. Ask the person to run «floodmark status», and go on without this"

	codexDeny  = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + why + `"}}`
	codexBlock = `{"decision":"block","reason":"` + why + `"}`

	// Claude Code accepts the same answers as Codex before a tool and at a prompt. A denial after a
	// tool would need the form of that tool's result, so the turn is ended instead.
	claudeStop = `{"continue":false,"stopReason":"` + why + `","decision":"block","reason":"` + why + `"}`

	cursorDeny     = `{"permission":"deny","user_message":"` + why + `.","agent_message":"` + why + `."}`
	cursorHalt     = `{"continue":false,"user_message":"` + why + `."}`
	cursorWithheld = `{"additional_context":"` + why + `.","updated_mcp_tool_output":{"content":[{"type":"text","text":"` + why + `."}]}}`

	geminiDeny = `{"decision":"deny","reason":"` + why + `."}`
	geminiStop = `{"continue":false,"stopReason":"` + why + `."}`

	copilotDeny     = `{"permissionDecision":"deny","permissionDecisionReason":"` + why + `."}`
	copilotBehavior = `{"behavior":"deny","message":"` + why + `."}`
	copilotBlock    = `{"decision":"block","reason":"` + why + `."}`
	copilotWithheld = `{"modifiedResult":{"resultType":"failure","textResultForLlm":"` + why + `."}}`
)

// refusal returns the denial for one agent at one event. err is printed to standard error, for
// debugging.
func refusal(agent, event string, err error) hookframe.Response {
	resp := hookframe.Response{V: hookframe.Version, Stderr: "floodmark-hook: " + err.Error() + "\n"}
	switch agent + " " + event {
	case "codex PreToolUse", "claude-code PreToolUse":
		resp.Stdout = codexDeny
	case "codex PostToolUse", "codex UserPromptSubmit", "claude-code UserPromptSubmit", "claude-code UserPromptExpansion":
		resp.Stdout = codexBlock
	case "claude-code PostToolUse":
		resp.Stdout = claudeStop
	case "cursor preToolUse", "cursor beforeShellExecution", "cursor beforeMCPExecution", "cursor beforeReadFile", "cursor subagentStart":
		resp.Stdout = cursorDeny
	case "cursor beforeSubmitPrompt":
		resp.Stdout = cursorHalt
	case "cursor postToolUse":
		resp.Stdout = cursorWithheld
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
	case "codex Stop", "codex SubagentStop", "claude-code Stop", "claude-code SubagentStop",
		"copilot-cli agentStop", "copilot-cli subagentStop", "cursor stop", "cursor subagentStop":
		resp.Exit = 1 // a denial would mean: continue
	default:
		resp.Stderr = why + "\n" + resp.Stderr
		resp.Exit = hookframe.Refused
	}
	return resp
}
