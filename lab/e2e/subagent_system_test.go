package e2e

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// maxQuestions is how often the owner says yes to one sub-agent.
const maxQuestions = 3

// family makes an agent run the commands of before, give a task to a sub-agent that runs those of
// child, and run those of after. It returns the results of both. If the sub-agent itself is asked
// about, the owner says yes.
func (w *world) family(a agent, before, child, after []string) (parents, childs []string) {
	w.t.Helper()
	next := func(commands, results []string) testmodel.Step {
		if len(results) >= len(commands) {
			return testmodel.Step{Text: "Done."}
		}
		return testmodel.Step{Calls: []testmodel.Call{a.shell(commands[len(results)])}}
	}
	asked := 0
	w.model.Say = func(turn testmodel.Turn) testmodel.Step {
		if !bytes.Contains(turn.Body, []byte(task)) { // only the owner's prompt contains the task
			childs = turn.Results
			return next(child, childs)
		}
		parents = turn.Results
		if w.monitor != nil && asked < maxQuestions && len(parents) == len(before)+asked+1 && strings.Contains(parents[len(parents)-1], waits) {
			asked++
			w.approve(0)
		}
		switch n := len(parents) - len(before) - asked; {
		case n < 0:
			return next(before, parents)
		case n < len(a.spawn):
			return testmodel.Step{Calls: []testmodel.Call{a.spawn[n](parents)}}
		}
		return next(after, parents[len(before)+asked+len(a.spawn):])
	}
	run := a.run
	if a.runSpawning != nil {
		run = a.runSpawning
	}
	run(w, how{protected: true})
	w.t.Logf("the parent read %q, the child %q", parents, childs)
	return parents, childs
}

// What a sub-agent has read lowers its parent's mark. Until then both may work.
func TestCodexSubagentReportsBack(t *testing.T) {
	w := newWorld(t)
	w.daemon()
	parent, child := w.family(codexAgent(), []string{work}, []string{work, read}, []string{attack})
	if len(child) != 2 || !strings.Contains(child[0], "42") || !strings.Contains(child[1], "News") {
		t.Errorf("the child's calls gave %q", child)
	}
	if len(parent) != 4 || !strings.Contains(parent[0], "42") || !strings.Contains(parent[3], waits) {
		t.Errorf("the parent's calls gave %q", parent)
	}
	events := w.events() // none if the real program was used
	if began, ended := slices.Index(events, "SubagentStart"), slices.Index(events, "SubagentStop"); *program == "" && (began < 0 || ended < began) {
		t.Errorf("the sub-agent was not reported to begin and end: %v", events)
	}
	if w.leaked() {
		t.Error("the secret reached the attacker")
	}
}
