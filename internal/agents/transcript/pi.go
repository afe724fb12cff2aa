package transcript

import (
	"encoding/json"
	"path"
	"path/filepath"
	"strings"
)

const piName = "pi"

// piPlaces returns where pi writes: one file for each session, in a folder for each project.
func piPlaces(f Folders) []place {
	root := filepath.Join(f.under(f.Pi, ".pi", "agent"), "sessions")
	return []place{{root, 4, func(rel string) bool { return strings.HasSuffix(rel, ".jsonl") }}}
}

// piEntry is one line of pi's transcripts, version 3; OpenClaw writes the same into its database.
type piEntry struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	At      json.RawMessage `json:"timestamp"`
	Parent  string          `json:"parentSession"` // the file of the session it was forked from
	Message struct {
		Role     string          `json:"role"`
		Content  json.RawMessage `json:"content"`
		CallID   string          `json:"toolCallId"`
		ToolName string          `json:"toolName"`
		IsError  bool            `json:"isError"`
	} `json:"message"`
}

// readPi reads one line.
func readPi(g *gather, line []byte) error { return piLine(g, line, piOutcome) }

func piLine(g *gather, line []byte, outcome func(tool, text string, failed bool) Outcome) error {
	var e piEntry
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	switch {
	case e.Type == "session":
		g.name(e.ID, piParent(e.Parent))
	case e.Type != "message":
	case e.Message.Role == "assistant":
		return e.calls(g)
	case e.Message.Role == "toolResult":
		m := e.Message
		g.result(m.CallID, m.ToolName, stamp(e.At), outcome(m.ToolName, said(m.Content), m.IsError))
	}
	return nil
}

func (e piEntry) calls(g *gather) error {
	var parts []struct {
		Type string          `json:"type"`
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	}
	var text string
	if json.Unmarshal(e.Message.Content, &text) == nil {
		return nil
	}
	if err := json.Unmarshal(e.Message.Content, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Type == "toolCall" {
			g.call(Call{ID: p.ID, Tool: p.Name, Args: digest(p.Args), Box: ticket(p.Args), At: stamp(e.At)})
		}
	}
	return nil
}

// piParent returns the name of a session from the name of its file, TIME_NAME.jsonl.
func piParent(file string) string {
	name := strings.TrimSuffix(path.Base(filepath.ToSlash(file)), ".jsonl")
	if _, id, ok := strings.Cut(name, "_"); ok {
		return id
	}
	return ""
}

// piOutcome reads what became of a call. pi looks for the tool and checks the arguments before it
// asks for permission.
func piOutcome(tool, text string, failed bool) Outcome {
	switch {
	case failed && refusal(text):
		return Refused
	case failed && (text == "Tool "+tool+" not found" || strings.HasPrefix(text, `Validation failed for tool "`+tool+`":`)):
		return Never
	}
	return Ran
}
