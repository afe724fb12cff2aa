package agents_test

import (
	"encoding/json"
	"strings"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// geminiLets reports whether Gemini CLI continues. Any status but 0 and 1 with text is a denial.
// Output that is no JSON is an approval.
func geminiLets(resp hookframe.Response) bool {
	if resp.Exit > 1 {
		return strings.TrimSpace(resp.Stdout+resp.Stderr) == ""
	}
	var no struct {
		Decision string
		Continue *bool
	}
	if resp.Exit == 1 || json.Unmarshal([]byte(resp.Stdout), &no) != nil {
		return true
	}
	return no.Decision != "deny" && no.Decision != "block" && (no.Continue == nil || *no.Continue)
}

// copilotLets reports whether Copilot CLI continues. A status other than 0 stops calls, and nothing
// else.
func copilotLets(event string, resp hookframe.Response) bool {
	if resp.Exit != 0 {
		return event == "postToolUse" || event == "userPromptSubmitted"
	}
	var no struct {
		Permission string `json:"permissionDecision"`
		Behavior   string `json:"behavior"`
		Decision   string `json:"decision"`
		Result     *struct {
			Text string `json:"textResultForLlm"`
		} `json:"modifiedResult"`
	}
	if json.Unmarshal([]byte(resp.Stdout), &no) != nil {
		return true
	}
	switch event {
	case "preToolUse":
		return no.Permission != "deny"
	case "permissionRequest":
		return no.Behavior != "deny"
	case "userPromptSubmitted":
		return no.Decision != "block"
	}
	return no.Result == nil || no.Result.Text == ""
}

// claudeLets reports whether Claude Code continues. Status 2 stops what has not happened yet. With
// any other status only the fields of the answer decide.
func claudeLets(event string, resp hookframe.Response) bool {
	if resp.Exit == 2 && event != "PostToolUse" {
		return false
	}
	var no struct {
		Continue *bool
		Decision string
		Reason   string
		Output   struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
			Result   any    `json:"updatedToolOutput"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal([]byte(resp.Stdout), &no) != nil {
		return true
	}
	switch event {
	case "PreToolUse":
		return no.Output.Event != event || no.Output.Decision != "deny" || no.Output.Reason == ""
	case "PostToolUse":
		return (no.Output.Event != event || no.Output.Result == nil) && (no.Continue == nil || *no.Continue)
	}
	return no.Decision != "block" || no.Reason == ""
}

// cursorLets reports whether Cursor with failClosed continues. An invalid answer is a denial, and
// so is every status but 0.
func cursorLets(event string, resp hookframe.Response) bool {
	var said map[string]any
	if resp.Exit != 0 || json.Unmarshal([]byte(resp.Stdout), &said) != nil {
		return false
	}
	switch event {
	case "beforeSubmitPrompt":
		return said["continue"] != false
	case "postToolUse":
		return said["updated_mcp_tool_output"] == nil
	}
	return said["permission"] != "deny" && said["permission"] != "ask"
}

// ofCursor reports whether Cursor ran a hook of Claude Code. In that case Cursor's own hooks are
// judged instead.
func ofCursor(agent string, raw []byte) bool {
	var m struct {
		Cursor string `json:"cursor_version"`
	}
	return agent == "claude-code" && json.Unmarshal(raw, &m) == nil && m.Cursor != ""
}

// notUnderstood returns malformed messages of agents.
func notUnderstood() [][3]string {
	return [][3]string{
		{"claude-code", "PreToolUse", `{`},
		{"claude-code", "PreToolUse", `{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash"}`},
		{"claude-code", "PreToolUse", `{"hook_event_name":"PreToolUse","tool_name":"Bash"}`},
		{"claude-code", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s"}`},
		{"claude-code", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","agent_id":"a","tool_name":"Agent"}`},
		{"claude-code", "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","agent_id":"a","tool_name":"Task"}`},
		{"claude-code", "PostToolUse", `{"hook_event_name":"PostToolUse","session_id":"s"}`},
		{"claude-code", "UserPromptSubmit", `{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"` + strings.Repeat("@a ", hook.MaxParts+1) + `"}`},
		{"claude-code", "SubagentStart", `{"hook_event_name":"SubagentStart","session_id":"s"}`},
		{"claude-code", "SessionStart", `{"hook_event_name":"SessionStart","session_id":"s","source":"magic"}`},
		{"claude-code", "PreCompact", `{"hook_event_name":"PreCompact","session_id":"s"}`},
		{"cursor", "preToolUse", `{`},
		{"cursor", "preToolUse", `{"hook_event_name":"postToolUse","conversation_id":"s","tool_name":"Shell"}`},
		{"cursor", "preToolUse", `{"hook_event_name":"preToolUse","tool_name":"Shell"}`},
		{"cursor", "preToolUse", `{"hook_event_name":"preToolUse","conversation_id":"s"}`},
		{"cursor", "preToolUse", `{"hook_event_name":"preToolUse","conversation_id":"s","tool_name":"MCP:"}`},
		{"cursor", "subagentStart", `{"hook_event_name":"subagentStart","conversation_id":"s","subagent_id":"a"}`},
		{"cursor", "subagentStart", `{"hook_event_name":"subagentStart","parent_conversation_id":"s"}`},
		{"cursor", "preCompact", `{"hook_event_name":"preCompact","conversation_id":"s"}`},
		{"gemini-cli", "BeforeTool", `{`},
		{"gemini-cli", "BeforeTool", `null`},
		{"gemini-cli", "BeforeTool", `{"hook_event_name":"AfterTool","session_id":"s","tool_name":"x"}`},
		{"gemini-cli", "BeforeTool", `{"hook_event_name":"BeforeTool","tool_name":"x"}`},
		{"gemini-cli", "BeforeTool", `{"hook_event_name":"BeforeTool","session_id":"s"}`},
		{"gemini-cli", "BeforeModel", `{"hook_event_name":"BeforeModel","session_id":"s"}`},
		{"gemini-cli", "SessionStart", `{"hook_event_name":"SessionStart","session_id":"s","source":"compact"}`},
		{"copilot-cli", "preToolUse", `[`},
		{"copilot-cli", "preToolUse", `null`},
		{"copilot-cli", "preToolUse", `{"toolName":"bash"}`},
		{"copilot-cli", "preToolUse", `{"sessionId":"s"}`},
		{"copilot-cli", "postToolUse", `{"sessionId":"s"}`},
		{"copilot-cli", "permissionRequest", `{"toolName":"bash"}`},
		{"copilot-cli", "userPromptSubmitted", `{"sessionId":"a","agentId":"a","prompt":"hi"}`},
		{"copilot-cli", "subagentStart", `{"sessionId":"s","agentId":"a"}`},
		{"copilot-cli", "subagentStart", `{"sessionId":"s","parentAgentId":"s"}`},
		{"copilot-cli", "sessionStart", `{"sessionId":"s","source":"magic"}`},
		{"copilot-cli", "notification", `{"sessionId":"s"}`},
	}
}
