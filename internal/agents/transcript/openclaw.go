package transcript

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const openclawName = "openclaw"

// openclawPlaces returns where OpenClaw writes: one database for each agent. Older versions wrote a
// file for each session.
func openclawPlaces(f Folders) []place {
	root := filepath.Join(f.under(f.OpenClaw, ".openclaw"), "agents")
	is := func(rel string) bool {
		parts := strings.Split(rel, "/")
		return len(parts) == 3 && (parts[1] == "agent" && parts[2] == "openclaw-agent.sqlite" || parts[1] == "sessions" && strings.HasSuffix(rel, ".jsonl"))
	}
	return []place{{root, 3, is}}
}

func readOpenClaw(path string, changed time.Time) ([]Session, error) {
	if strings.HasSuffix(path, ".sqlite") {
		return openclawDB(path, changed)
	}
	list, err := lined(func(g *gather, line []byte) error { return piLine(g, line, openclawOutcome) })(path, changed)
	for i := range list {
		id := list[i].Names[0]
		for _, key := range openclawKeys(filepath.Join(filepath.Dir(path), "sessions.json"), id) {
			list[i].Names = append([]string{key + "#" + id}, list[i].Names...)
		}
	}
	return list, err
}

// openclawKeys returns the keys of a session from the list in its folder. It returns none if there
// is no list.
func openclawKeys(list, id string) (keys []string) {
	var all map[string]struct {
		ID string `json:"sessionId"`
	}
	data, err := whole(list)
	if err != nil || json.Unmarshal(data, &all) != nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if all[key].ID == id {
			keys = append(keys, key)
		}
	}
	return keys
}

// openclawOutcome reads what became of a call. OpenClaw does not always mark a call that was
// blocked by a hook as failed.
func openclawOutcome(tool, text string, failed bool) Outcome {
	if o := piOutcome(tool, text, failed); o != Ran {
		return o
	}
	if strings.Contains(text, ours) && strings.Contains(text, `"status": "blocked"`) || refusal(text, "Error:") {
		return Refused
	}
	return Ran
}
