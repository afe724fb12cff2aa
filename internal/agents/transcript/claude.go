package transcript

import (
	"encoding/json"
	"path"
	"path/filepath"
	"strings"
)

const claudeName = "claude-code"

// claudePlaces returns where Claude Code writes: one file for each session, in a folder for each
// project. The files of sub-agents are in a folder with the session's name.
func claudePlaces(f Folders) []place {
	root := filepath.Join(f.under(f.Claude, ".claude"), "projects")
	is := func(rel string) bool {
		return strings.HasSuffix(rel, ".jsonl") && (strings.Count(rel, "/") == 1 || strings.HasPrefix(path.Base(rel), "agent-"))
	}
	return []place{{root, 5, is}}
}

// claudeEntry is one line of Claude Code's transcripts. Their form is not documented, so all fields
// are optional.
type claudeEntry struct {
	Type    string          `json:"type"`
	At      json.RawMessage `json:"timestamp"`
	Session string          `json:"sessionId"`
	Agent   string          `json:"agentId"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

type claudeBlock struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	For     string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

func readClaude(g *gather, line []byte) error {
	var e claudeEntry
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if e.Type != "assistant" && e.Type != "user" {
		return nil
	}
	g.name(e.Agent, e.Session)
	var text string
	if len(e.Message.Content) == 0 || json.Unmarshal(e.Message.Content, &text) == nil {
		return nil
	}
	var blocks []claudeBlock
	if err := json.Unmarshal(e.Message.Content, &blocks); err != nil {
		return err
	}
	for _, b := range blocks {
		b.take(g, e)
	}
	return nil
}

func (b claudeBlock) take(g *gather, e claudeEntry) {
	at := stamp(e.At)
	switch {
	case b.Type == "tool_use" && e.Type == "assistant":
		g.call(Call{ID: b.ID, Tool: b.Name, Args: digest(b.Input), Box: ticket(b.Input), At: at})
	case b.Type == "server_tool_use" && e.Type == "assistant":
		g.call(Call{ID: b.ID, Tool: b.Name, Args: digest(b.Input), At: at, Outcome: Ran, Hosted: true})
	case b.Type == "tool_result" && e.Type == "user":
		tool := g.toolOf(b.For, b.Type)
		g.result(b.For, tool, at, claudeOutcome(tool, said(b.Content), b.IsError))
	}
}

// claudeOutcome reads what became of a call. Claude Code looks for the tool and checks the
// arguments before it asks for permission. If one of these fails, the result is in a tag of its
// own. An MCP server could write the same tag, so for its tools only the exact text for a missing
// tool is trusted.
func claudeOutcome(tool, text string, failed bool) Outcome {
	const open, end = "<tool_use_error>", "</tool_use_error>"
	switch {
	case !failed:
		return Ran
	case refusal(text, "PreToolUse:"+tool+" hook error:", "Hook PreToolUse:"+tool+" denied this tool:", "Error:"):
		return Refused
	case strings.HasPrefix(tool, "mcp__"):
		if strings.TrimSpace(text) == open+"Error: No such tool available: "+tool+end {
			return Never
		}
	case strings.HasPrefix(text, open) && strings.HasSuffix(strings.TrimSpace(text), end):
		return Never
	}
	return Ran
}
