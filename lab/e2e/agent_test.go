package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// The versions are the measured ones. Other versions may behave differently.
const (
	codexVersion = "0.166.0"
	piVersion    = "0.73.1"
)

// An agent is one real program: how it is set up, and run with or without our hooks.
type agent struct {
	name, version string
	run           func(w *world, h how) (output string)
	// shell calls the agent's own tool for command lines.
	shell func(command string) testmodel.Call
	// folder is that tool's argument for the working folder; empty if it has none. statusless says
	// that the model does not learn the exit status of a command.
	folder     string
	statusless bool
	// inside wraps a call in a tool of the agent that calls other tools; nil if there is none.
	inside func(testmodel.Call) testmodel.Call
	// mcp calls the one tool of our server; nil if the agent knows no servers.
	mcp func(args any) testmodel.Call
	// spawn are the calls, one after another, by which a sub-agent does its part. Each is made from
	// the results of the earlier calls. nil: there are no sub-agents.
	spawn []func(results []string) testmodel.Call
	// spawnAsks says that starting a sub-agent is itself asked about.
	spawnAsks bool
	// runSpawning, unless nil, runs the agent in the way that its sub-agents need.
	runSpawning func(w *world, h how) (output string)
	// plugin says that our hook is code in the agent, not a program that the agent starts.
	plugin bool
	// hides says that it lets us choose the tools of each model call.
	hides bool
	// holes are the behaviours that it does not have, with the reason and what was tried; the run
	// must show that they are still missing. none are the behaviours that the agent has no use for.
	holes, none map[string]string
}

// quick reports whether a run takes only seconds. The gate tries more with such agents; «make soak
// SUITE=agents» tries everything with all.
func (a agent) quick() bool { return a.name == "codex" || a.name == "pi" }

// how says how an agent is run: with our hooks or without, and in a new session or in the last one.
type how struct{ protected, again bool }

// agentsHere returns the agents that we run, in the order of the matrix.
func agentsHere() []agent {
	return []agent{codexAgent(), copilotAgent(), geminiAgent(), openclawAgent(), opencodeAgent(), piAgent()}
}

// inside adds the behaviours that do not apply to an agent that our code runs in.
func inside(none map[string]string) map[string]string {
	const why = "Floodmark runs inside the agent: there is no program to go wrong by itself. Its own deadline is measured under «slow»."
	none["hook stuck"], none["hook raves"] = why, why
	return none
}

// part is the task of a sub-agent.
const part = "Do your part of the work."

// settings returns a file of integrations, changed for this world.
func (w *world) settings(name string) string {
	w.t.Helper()
	text := shipped(w.t, name)
	if w.edit != nil {
		return w.edit(text)
	}
	return text
}

// merge adds a fragment of integrations to settings that have none of its keys. w.edit changes the
// fragment only if the result is valid JSON.
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

// scripted returns the settings and variables with which an agent uses our model.
func (w *world) scripted(agent string) testmodel.Settings {
	w.t.Helper()
	s, known := testmodel.SettingsOf(agent, w.llm.URL)
	if !known {
		w.t.Fatalf("%s cannot be run with a scripted model", agent)
	}
	return s
}

// parsed returns settings parsed as JSON.
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
