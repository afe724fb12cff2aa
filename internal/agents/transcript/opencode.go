package transcript

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const opencodeName = "opencode"

// opencodePlaces returns where opencode writes: one database. Older versions wrote a file for each
// session, message and part.
func opencodePlaces(f Folders) []place {
	root := filepath.Join(f.under(f.Data, ".local", "share"), opencodeName)
	is := func(rel string) bool {
		return rel == "opencode.db" || strings.HasPrefix(rel, "storage/session/") && strings.HasPrefix(filepath.Base(rel), "ses_") && strings.HasSuffix(rel, ".json")
	}
	return []place{{root, 4, is}}
}

func readOpencode(path string, changed time.Time) ([]Session, error) {
	if filepath.Base(path) == "opencode.db" {
		return opencodeDB(path, changed)
	}
	return opencodeFiles(path, changed)
}

// opencodePart is one piece of a message. A piece of type tool is a call.
type opencodePart struct {
	Type  string `json:"type"`
	Call  string `json:"callID"`
	Tool  string `json:"tool"`
	State struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Error  string          `json:"error"`
		Time   struct {
			Start json.RawMessage `json:"start"`
		} `json:"time"`
	} `json:"state"`
}

func (g *gather) opencode(data []byte, at time.Time) error {
	var p opencodePart
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	if p.Type != "tool" {
		return nil
	}
	if start := stamp(p.State.Time.Start); !start.IsZero() {
		at = start
	}
	g.call(Call{ID: p.Call, Tool: p.Tool, Args: digest(p.State.Input), Box: ticket(p.State.Input), At: at})
	switch p.State.Status {
	case "completed", "error":
		g.result(p.Call, p.Tool, at, opencodeOutcome(p))
	}
	return nil
}

// opencodeOutcome reads what became of a call. opencode replaces a call of a missing tool, or with
// wrong arguments, by a call of a tool named invalid.
func opencodeOutcome(p opencodePart) Outcome {
	text := head(p.State.Error)
	switch {
	case p.Tool == "invalid":
		return Never
	case p.State.Status != "error":
		return Ran
	case refusal(text, "Error:"):
		return Refused
	case text == "Tool execution aborted":
		return Unknown
	case strings.HasPrefix(text, "The "+p.Tool+" tool was called with invalid arguments"):
		return Never
	}
	return Ran
}

// opencodeFiles reads a session stored as one file per part.
func opencodeFiles(path string, changed time.Time) ([]Session, error) {
	data, err := whole(path)
	if err != nil {
		return nil, err
	}
	var s struct {
		ID     string `json:"id"`
		Parent string `json:"parentID"`
	}
	if err := json.Unmarshal(data, &s); err != nil || s.ID == "" || s.ID != filepath.Base(s.ID) {
		return nil, errors.New("it is not a session")
	}
	g := newGather(s.ID, s.Parent)
	storage := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	messages, err := names(filepath.Join(storage, "message", s.ID))
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		folder := filepath.Join(storage, "part", strings.TrimSuffix(m, ".json"))
		parts, err := names(folder)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			data, err := whole(filepath.Join(folder, p))
			if err != nil || g.opencode(data, time.Time{}) != nil {
				g.Unread++
			}
		}
	}
	date(g.Calls, changed)
	return g.done(), nil
}

// names lists a folder in order; a missing one is empty.
func names(folder string) (list []string, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && len(list) < MaxCalls {
			list = append(list, e.Name())
		}
	}
	return list, err
}
