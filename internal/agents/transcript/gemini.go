package transcript

import (
	"bytes"
	"encoding/json"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const geminiName = "gemini-cli"

// geminiPlaces returns where Gemini CLI writes: one file for each session, in a folder for each
// project. The files of sub-agents are one folder deeper. A file contains lines or one document.
func geminiPlaces(f Folders) []place {
	is := func(rel string) bool {
		return strings.Contains(rel, "/chats/") && (strings.HasSuffix(rel, ".jsonl") || strings.HasSuffix(rel, ".json")) && path.Base(rel) != "logs.json"
	}
	return []place{{filepath.Join(f.Home, ".gemini", "tmp"), 4, is}}
}

// geminiEntry is the head of a session, one message of it, or a change of an earlier one.
type geminiEntry struct {
	Session  string          `json:"sessionId"`
	Parent   string          `json:"parentSessionId"`
	Messages []geminiMessage `json:"messages"`
	Set      *geminiEntry    `json:"$set"`
	geminiMessage
}

type geminiMessage struct {
	Type  string          `json:"type"`
	At    json.RawMessage `json:"timestamp"`
	Calls []struct {
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Args   json.RawMessage `json:"args"`
		Status string          `json:"status"`
		At     json.RawMessage `json:"timestamp"`
		Result json.RawMessage `json:"result"`
	} `json:"toolCalls"`
}

// readGemini reads lines, or the one document of older versions. The hooks of a sub-agent report
// the name of the session that started it, which is the name of the file's folder.
func readGemini(file string, changed time.Time) ([]Session, error) {
	if strings.HasSuffix(file, ".jsonl") {
		list, err := lined(geminiLine)(file, changed)
		if dir := path.Base(path.Dir(filepath.ToSlash(file))); dir != "chats" {
			for i := range list {
				list[i].Names = append([]string{dir}, list[i].Names...)
			}
		}
		return list, err
	}
	data, err := whole(file)
	if err != nil {
		return nil, err
	}
	g := newGather()
	if geminiLine(g, bytes.TrimSpace(data)) != nil {
		g.Unread++
	}
	date(g.Calls, changed)
	return g.done(), nil
}

func geminiLine(g *gather, line []byte) error {
	var e geminiEntry
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	e.take(g, 0)
	return nil
}

func (e geminiEntry) take(g *gather, depth int) {
	g.name(e.Parent, e.Session)
	for _, m := range append(e.Messages, e.geminiMessage) {
		m.take(g)
	}
	if e.Set != nil && depth == 0 {
		e.Set.take(g, 1)
	}
}

// take reads a message. Gemini rewrites a message when its calls are done.
func (m geminiMessage) take(g *gather) {
	for _, c := range m.Calls {
		at := stamp(m.At)
		if at.IsZero() {
			at = stamp(c.At)
		}
		g.call(Call{ID: c.ID, Tool: c.Name, Args: digest(c.Args), Box: ticket(c.Args), At: at})
		switch c.Status {
		case "success", "error", "cancelled":
			g.result(c.ID, c.Name, at, geminiOutcome(c.Name, c.Status, geminiSaid(c.Result)))
		}
	}
}

// geminiSaid returns the error of a call, or "".
func geminiSaid(raw json.RawMessage) string {
	var parts []struct {
		Response struct {
			Response struct {
				Error string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	}
	if json.Unmarshal(raw, &parts) != nil || len(parts) == 0 {
		return ""
	}
	return head(parts[0].Response.Response.Error)
}

// geminiOutcome reads what became of a call. Gemini looks for the tool and checks the arguments
// before it asks for permission. A call that a person stopped may have begun, so its outcome is
// unknown.
func geminiOutcome(tool, status, text string) Outcome {
	switch {
	case status == "cancelled" && text == "":
		return Unknown
	case status != "error":
		return Ran
	case refusal(text, "Tool execution blocked:"):
		return Refused
	case strings.HasPrefix(text, `Tool "`+tool+`" not found`), strings.HasPrefix(text, "params must "), strings.HasPrefix(text, "params/"):
		return Never
	}
	return Ran
}
