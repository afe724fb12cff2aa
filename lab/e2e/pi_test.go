package e2e

import (
	"testing"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

func piAgent() agent {
	return agent{
		name: "pi", version: piVersion, run: runPi, plugin: true, hides: true,
		shell: func(command string) testmodel.Call {
			return testmodel.Call{Name: "bash", Args: map[string]string{"command": command}}
		},
		none: inside(map[string]string{
			"sub-agent": "pi 0.73 begins no sub-agents of its own.",
			"mcp":       "pi 0.73 speaks with no MCP servers of its own.",
		}),
	}
}

func piProgram(t *testing.T) string {
	t.Helper()
	return tool(t, "pi-"+piVersion, "node_modules", "@mariozechner", "pi-coding-agent", "dist", "cli.js")
}

func runPi(w *world, h how) string {
	scripted := w.scripted("pi")
	w.write(scripted.File, scripted.Text)
	args := []string{piProgram(w.t), "-p", "--mode", "json", "--model", "scripted/" + testmodel.Name}
	if h.protected {
		args = append(args, "-e", w.write("floodmark.ts", w.settings("pi/floodmark.ts")))
	}
	if h.again {
		args = append(args, "--continue")
	}
	return w.run(scripted.Env, "node", append(args, prompt())...)
}
