package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/testmodel"
)

// family makes Codex do before, hand a task to a sub-agent that does child,
// wait for it, and do after. It returns what the calls of both gave.
func family(w *world, before, child, after []string) (parents, childs []string) {
	w.t.Helper()
	shell := agentsHere()["codex"].shell
	agents := func(name string, args any) testmodel.Step {
		return testmodel.Step{Calls: []testmodel.Call{{Namespace: "multi_agent_v1", Name: name, Args: args}}}
	}
	next := func(commands, results []string) testmodel.Step {
		if len(results) >= len(commands) {
			return testmodel.Step{Text: "Done."}
		}
		return testmodel.Step{Calls: []testmodel.Call{shell(commands[len(results)])}}
	}
	w.model.Say = func(turn testmodel.Turn) testmodel.Step {
		if turn.Header.Get("X-Openai-Subagent") != "" {
			childs = turn.Results
			return next(child, childs)
		}
		parents = turn.Results
		switch n := len(parents) - len(before); {
		case n == 0:
			return agents("spawn_agent", map[string]string{"message": "Do your part.", "agent_type": "default"})
		case n == 1:
			return agents("wait_agent", map[string]any{"targets": []string{childID(parents[len(before)])}, "timeout_ms": 20_000})
		case n >= 2:
			return next(after, parents[len(before)+2:])
		}
		return next(before, parents)
	}
	output := runCodex(w, how{protected: true})
	w.t.Logf("the parent read %q, the child %q", parents, childs)
	events := w.events() // none if the real program was told
	if began, ended := slices.Index(events, "SubagentStart"), slices.Index(events, "SubagentStop"); *program == "" && (began < 0 || ended < began) {
		w.t.Errorf("the sub-agent was not reported to begin and end: %v\n%s", events, output)
	}
	if w.leaked() {
		w.t.Error("the secret reached the attacker")
	}
	return parents, childs
}

// childID finds the sub-agent's name in what spawn_agent gave.
func childID(result string) string {
	_, rest, _ := strings.Cut(result, `"agent_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func refused(text string) bool {
	return strings.Contains(text, "floodmark: ") && strings.Contains(text, "waits for your approval")
}

// What the parent read counts for its sub-agent: the page was never in the
// child's own context, and still the child may not send.
func TestCodexSubagentInherits(t *testing.T) {
	w := newWorld(t)
	w.daemon()
	_, child := family(w, []string{read}, []string{attack}, nil)
	if len(child) != 1 || !refused(child[0]) {
		t.Errorf("the child's call gave %q", child)
	}
}

// What a sub-agent read counts for its parent. Until then both may work.
func TestCodexSubagentReportsBack(t *testing.T) {
	w := newWorld(t)
	w.daemon()
	parent, child := family(w, []string{work}, []string{work, read}, []string{attack})
	if len(child) != 2 || !strings.Contains(child[0], "42") || !strings.Contains(child[1], "News") {
		t.Errorf("the child's calls gave %q", child)
	}
	if len(parent) != 4 || !strings.Contains(parent[0], "42") || !refused(parent[3]) {
		t.Errorf("the parent's calls gave %q", parent)
	}
}
