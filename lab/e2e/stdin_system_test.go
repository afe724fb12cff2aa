package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// typing makes Codex open a shell and then type a command into it, which is reported to no hook. It
// reports whether the command ran.
func typing(w *world, shell map[string]any) bool {
	w.t.Helper()
	number := regexp.MustCompile(`session ID (\d+)`)
	w.model.Say = func(turn testmodel.Turn) testmodel.Step {
		switch len(turn.Results) {
		case 0:
			return testmodel.Step{Calls: []testmodel.Call{{Name: "exec_command", Args: shell}}}
		case 1:
			id := 0
			if m := number.FindStringSubmatch(turn.Results[0]); m != nil {
				id, _ = strconv.Atoi(m[1])
			}
			return testmodel.Step{Calls: []testmodel.Call{{Name: "write_stdin", Args: map[string]any{"session_id": id, "chars": "touch typed\n", "yield_time_ms": 1500}}}}
		}
		return testmodel.Step{Text: "Done."}
	}
	output := runCodex(w, how{protected: true})
	w.t.Logf("the model read %q", w.results())
	if len(w.results()) != 2 {
		w.t.Errorf("the model read %d results, want 2\n%s", len(w.results()), output)
	}
	_, err := os.Stat(filepath.Join(w.project, "typed"))
	return err == nil
}

// Codex reports to no hook what is typed into a running command, so our settings switch off the
// terminal that keeps its input open. Without our settings it is still open, which shows that they
// are needed.
func TestCodexTypingIntoAShell(t *testing.T) {
	ours := shipped(t, "codex/config.toml")
	terminal := map[string]any{"cmd": `bash --norc -c 'read x; eval "$x"'`, "tty": true, "yield_time_ms": 800}
	shell := map[string]any{"cmd": "bash --norc", "tty": true, "yield_time_ms": 800}
	pipe := map[string]any{"cmd": "sleep 3; bash --norc", "yield_time_ms": 800}
	for name, c := range map[string]struct {
		features string
		shell    map[string]any
		runs     bool
	}{
		"as shipped":           {"", terminal, true},
		"as shipped, a shell":  {"", shell, false}, // it is asked about before it waits for input
		"our settings":         {ours, terminal, false},
		"our settings, no tty": {ours, pipe, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.daemon()
			w.features = c.features
			if got := typing(w, c.shell); got != c.runs {
				t.Errorf("the typed command ran: %v, want %v", got, c.runs)
			}
		})
	}
}

// What the model service reads on the web by itself is not reported to a hook either.
func TestCodexHostedSearch(t *testing.T) {
	ours := shipped(t, "codex/config.toml")
	for name, c := range map[string]struct {
		features string
		offered  bool
	}{
		"as shipped":   {"", true},
		"our settings": {ours, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.daemon()
			w.features = c.features
			w.model.Say = testmodel.Script()
			output := runCodex(w, how{protected: true})
			turns := w.model.Turns()
			if len(turns) != 1 {
				t.Fatalf("the model was called %d times: %s", len(turns), output)
			}
			var req struct {
				Tools []struct {
					Type string `json:"type"`
				} `json:"tools"`
			}
			if err := json.Unmarshal(turns[0].Body, &req); err != nil || len(req.Tools) < 3 {
				t.Fatalf("%d tools, %v", len(req.Tools), err)
			}
			offered := false
			for _, tool := range req.Tools {
				offered = offered || tool.Type != "function" && tool.Type != "namespace"
			}
			if offered != c.offered {
				t.Errorf("a hosted tool is offered: %v, want %v: %+v", offered, c.offered, req.Tools)
			}
		})
	}
}
