package transcript

import (
	"path/filepath"
	"strings"
	"time"
)

const openclawName = "openclaw"

// openclawPlaces: one database for each agent; older versions wrote a file for
// each session.
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
	return lined(func(g *gather, line []byte) error { return piLine(g, line, openclawOutcome) })(path, changed)
}

// openclawOutcome reads what became of a call. What a hook blocked need not be
// marked as failed.
func openclawOutcome(tool, text string, failed bool) Outcome {
	if o := piOutcome(tool, text, failed); o != Ran {
		return o
	}
	if strings.Contains(text, ours) && strings.Contains(text, `"status": "blocked"`) || refusal(text, "Error:") {
		return Refused
	}
	return Ran
}
