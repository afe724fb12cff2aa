package e2e

import (
	"fmt"

	"github.com/floodmark/floodmark/internal/testmodel"
)

func piAgent() agent {
	return agent{
		name: "pi", version: piVersion, run: runPi, plugin: true,
		shell: func(command string) testmodel.Call {
			return testmodel.Call{Name: "bash", Args: map[string]string{"command": command}}
		},
		none: inside(map[string]string{
			"sub-agent": "pi 0.73 begins no sub-agents of its own.",
			"mcp":       "pi 0.73 speaks with no MCP servers of its own.",
		}),
	}
}

func runPi(w *world, h how) string {
	w.write(".pi/agent/models.json", fmt.Sprintf(`{"providers":{"scripted":{"baseUrl":"%s/v1","api":"openai-completions","apiKey":"none",
"models":[{"id":%q,"name":"Scripted","reasoning":false,"input":["text"],"contextWindow":128000,"maxTokens":8000,
"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}`, w.llm.URL, testmodel.Name))
	args := []string{tool(w.t, "pi-"+piVersion, "node_modules", "@mariozechner", "pi-coding-agent", "dist", "cli.js"), "-p", "--mode", "json", "--model", "scripted/" + testmodel.Name}
	if h.protected {
		args = append(args, "-e", w.write("floodmark.ts", w.settings("pi/floodmark.ts")))
	}
	if h.again {
		args = append(args, "--continue")
	}
	return w.run([]string{"PI_OFFLINE=1"}, "node", append(args, prompt())...)
}
