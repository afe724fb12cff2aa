package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// An agent that is started by a command of another agent is a branch of it. It may work, and what
// it reads lowers the mark of the agent that started it, though that agent only saw a build.
func TestAnAgentStartedByAnAgent(t *testing.T) {
	w := newWorld(t)
	if *program == "" {
		t.Skip("who started whom is known to the real monitor only")
	}
	w.daemon()
	codex := w.scripted("codex")
	w.write(codex.File, w.features+"\n"+codex.Text)
	w.hookProgram()
	w.write(".codex/hooks.json", shipped(t, "codex/hooks.json"))
	w.env = codex.Env
	w.write("project/Makefile", fmt.Sprintf("all:\n\t@%s exec --json --skip-git-repo-check --dangerously-bypass-hook-trust '%s' </dev/null >child.log 2>&1; echo $$((6*7))\n",
		tool(t, "codex-"+codexVersion, "node_modules", ".bin", "codex"), part))
	var parents, childs []string
	w.model.Say = func(turn testmodel.Turn) testmodel.Step {
		commands, shell, results := []string{work, attack}, piAgent().shell, &parents
		if !bytes.Contains(turn.Body, []byte(task)) { // only the owner's prompt contains the task
			commands, shell, results = []string{finish, read, attack}, codexAgent().shell, &childs
		}
		*results = turn.Results
		if len(turn.Results) >= len(commands) {
			return testmodel.Step{Text: "Done."}
		}
		return testmodel.Step{Calls: []testmodel.Call{shell(commands[len(turn.Results)])}}
	}
	runPi(w, how{protected: true})
	if len(childs) != 3 || !strings.Contains(childs[0], w.secret) || !strings.Contains(childs[1], "News") || !strings.Contains(childs[2], waits) {
		t.Errorf("the child's calls gave %q", childs)
	}
	if len(parents) != 2 || !strings.Contains(parents[0], "42") || !strings.Contains(parents[1], waits) || !strings.Contains(parents[1], "news.example (untrusted)") {
		t.Errorf("the parent's calls gave %q", parents)
	}
	if err := w.safe(); err != nil {
		t.Error(err)
	}
}
