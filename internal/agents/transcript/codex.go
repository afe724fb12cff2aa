package transcript

import (
	"encoding/json"
	"path"
	"strings"
)

const codexName = "codex"

// codexPlaces returns where Codex writes: one file for each session or sub-agent, in a folder for
// each day.
func codexPlaces(f Folders) []place {
	root := f.under(f.Codex, ".codex")
	is := func(rel string) bool {
		return (strings.HasPrefix(rel, "sessions/") || strings.HasPrefix(rel, "archived_sessions/")) &&
			strings.HasPrefix(path.Base(rel), "rollout-") && strings.HasSuffix(rel, ".jsonl")
	}
	return []place{{root, 5, is}}
}

// codexEntry is one line of Codex's transcripts.
type codexEntry struct {
	At      json.RawMessage `json:"timestamp"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// codexItem is a payload: a piece of a model's answer, or a tool's result.
type codexItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Action    json.RawMessage `json:"action"`
	Output    json.RawMessage `json:"output"`
	// Parent and Forked are set in the head of a session.
	Parent string `json:"parent_thread_id"`
	Forked string `json:"forked_from_id"`
	// Item is set in the event of a completed item.
	Item struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"item"`
}

func readCodex(g *gather, line []byte) error {
	var e codexEntry
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	switch e.Type {
	case "session_meta", "response_item", "event_msg":
	default:
		return nil // a compacted history repeats items that were read before
	}
	var p codexItem
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return err
	}
	switch e.Type {
	case "session_meta":
		g.name(p.ID, p.Parent, p.Forked)
	case "response_item":
		p.item(g, e.At)
	default:
		p.event(g)
	}
	return nil
}

func (p codexItem) item(g *gather, at json.RawMessage) {
	c := Call{ID: p.CallID, Tool: p.Namespace + p.Name, At: stamp(at)}
	switch p.Type {
	case "function_call", "custom_tool_call", "local_shell_call":
		args := codexArgs(p)
		if p.Name == codexStdin && codexPolls(args) {
			g.pass(p.CallID)
			return
		}
		if c.Args = digest(args); p.Type == "local_shell_call" {
			c.Tool = p.Type
		}
		g.call(c)
	case "function_call_output", "custom_tool_call_output":
		tool := g.toolOf(p.CallID, p.Type)
		g.result(p.CallID, tool, c.At, codexOutcome(tool, said(p.Output)))
	case "web_search_call", "image_generation_call", "file_search_call", "code_interpreter_call", "computer_call", "mcp_call":
		c.ID, c.Tool, c.Hosted, c.Outcome = p.ID, strings.TrimSuffix(p.Type, "_call"), true, Ran
		c.Args = digest(p.Action)
		g.call(c)
	}
}

// event records that Codex itself saw a call run, even if the model got another result.
func (p codexItem) event(g *gather) {
	switch p.Type {
	case "item_completed":
		switch p.Item.Type {
		case "CommandExecution", "McpToolCall", "FileChange", "CollabAgentToolCall", "DynamicToolCall":
			if p.Item.Status != "declined" {
				g.witness(p.Item.ID)
			}
		}
	case "exec_command_end", "mcp_tool_call_end", "patch_apply_end": // the older form
		g.witness(p.CallID)
	}
}

// codexStdin is a tool that types into a running command. Codex calls no hook for it. Without input
// it only reads more output of a command that was judged before.
const codexStdin = "write_stdin"

func codexPolls(args json.RawMessage) bool {
	var a struct {
		Chars *string `json:"chars"`
	}
	return json.Unmarshal(args, &a) == nil && (a.Chars == nil || *a.Chars == "")
}

// codexArgs returns a call's arguments as one value.
func codexArgs(p codexItem) json.RawMessage {
	switch {
	case len(p.Action) > 0:
		return p.Action
	case len(p.Input) > 0:
		return p.Input
	}
	var text string
	if json.Unmarshal(p.Arguments, &text) == nil {
		return json.RawMessage(text)
	}
	return p.Arguments
}

// codexOutcome reads what became of a call.
func codexOutcome(tool, text string) Outcome {
	name := tool[strings.LastIndexByte(tool, '.')+1:]
	switch {
	case strings.Contains(text, "hook: "+ours) && !strings.Contains(text, "Chunk ID: "):
		return Refused
	case refusal(text):
		return Refused
	case text == "unsupported call: "+name, text == "unsupported custom tool call: "+name,
		strings.HasPrefix(text, "failed to parse function arguments: "),
		name == codexStdin && strings.HasPrefix(text, "write_stdin failed: "):
		return Never
	case text == "aborted": // it may have begun
		return Unknown
	}
	return Ran
}
