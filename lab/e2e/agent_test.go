package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/floodmark/floodmark/internal/testmodel"
)

// The versions are those that were measured; others may behave otherwise.
const (
	codexVersion = "0.166.0"
	piVersion    = "0.73.1"
)

// An agent is one real program: how it is set up and run, protected or not.
type agent struct {
	name, version string
	run           func(w *world, h how) (output string)
	// shell calls the agent's own tool for command lines.
	shell func(command string) testmodel.Call
	// folder is that tool's argument for where the command runs, empty if it has none;
	// statusless says that the model does not read how the command ended.
	folder     string
	statusless bool
	// inside makes a call by a tool that calls others; nil if there is none.
	inside func(testmodel.Call) testmodel.Call
	// mcp calls the one tool of our server; nil if the agent knows no servers.
	mcp func(args any) testmodel.Call
	// spawn are the calls, one after the other, by which a sub-agent does its
	// part, each made of what the calls before gave; nil if there are none.
	spawn []func(results []string) testmodel.Call
	// spawnAsks says that beginning a sub-agent is itself asked about.
	spawnAsks bool
	// runSpawning, unless nil, runs it in the way its sub-agents need.
	runSpawning func(w *world, h how) (output string)
	// plugin says that our hook is code in the agent, not a program it starts.
	plugin bool
	// hides says that it lets us choose the tools of each call of its model.
	hides bool
	// holes are the behaviours that are not kept, and why, and what was tried;
	// none those that the agent has no occasion for. The run must show them.
	holes, none map[string]string
}

// quick says that a run takes seconds: the gate tries more with such agents, and
// «make soak SUITE=agents» everything with all.
func (a agent) quick() bool { return a.name == "codex" || a.name == "pi" }

// how an agent is run: with our hooks or without, in a new session or in the
// last one again.
type how struct{ protected, again bool }

// agentsHere are the agents we run, in the order of the matrix.
func agentsHere() []agent {
	return []agent{codexAgent(), copilotAgent(), geminiAgent(), openclawAgent(), opencodeAgent(), piAgent()}
}

// inside adds what no agent has that our code runs in.
func inside(none map[string]string) map[string]string {
	const why = "Floodmark runs inside the agent: there is no program to go wrong by itself. Its own deadline is measured under «slow»."
	none["hook stuck"], none["hook raves"] = why, why
	return none
}

// part is what a sub-agent is told.
const part = "Do your part of the work."

// settings are a file of integrations, as this world's owner has it.
func (w *world) settings(name string) string {
	w.t.Helper()
	text := shipped(w.t, name)
	if w.edit != nil {
		return w.edit(text)
	}
	return text
}

// merge adds a fragment of integrations to settings that have none of its keys.
// A fragment is not broken by edit, only changed: it is no program.
func (w *world) merge(settings map[string]any, name string) {
	w.t.Helper()
	text := shipped(w.t, name)
	if w.edit != nil && json.Valid([]byte(w.edit(text))) {
		text = w.edit(text)
	}
	var ours map[string]any
	if err := json.Unmarshal([]byte(text), &ours); err != nil {
		w.t.Fatal(err)
	}
	maps.Copy(settings, ours)
}

// scripted are the settings by which an agent takes our model for its own, and
// its variables.
func (w *world) scripted(agent string) testmodel.Settings {
	w.t.Helper()
	s, known := testmodel.SettingsOf(agent, w.llm.URL)
	if !known {
		w.t.Fatalf("%s cannot be run with a scripted model", agent)
	}
	return s
}

// parsed are settings in JSON, to be added to.
func (w *world) parsed(s testmodel.Settings) (settings map[string]any) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(s.Text), &settings); err != nil {
		w.t.Fatal(err)
	}
	return settings
}

// shipped reads a file of integrations.
func shipped(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "integrations", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
