package e2e

import (
	"path/filepath"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

const copilotVersion = "1.0.102"

func copilotAgent() agent {
	return agent{
		name: "copilot-cli", version: copilotVersion, run: runCopilot,
		shell: func(command string) testmodel.Call {
			return testmodel.Call{Name: "bash", Args: map[string]string{"command": command, "description": "run"}}
		},
		mcp: func(args any) testmodel.Call {
			return testmodel.Call{Name: mcpName + "-" + mcpTool, Args: args}
		},
		spawn: []func(results []string) testmodel.Call{func([]string) testmodel.Call {
			return testmodel.Call{Name: "task", Args: map[string]string{"agent_type": "general-purpose", "name": "part", "description": "part", "prompt": part, "mode": "sync"}}
		}},
	}
}

func runCopilot(w *world, h how) string {
	if w.tools {
		name, args := w.mcpServer()
		w.write(".copilot/mcp-config.json", object(map[string]any{"mcpServers": map[string]any{
			mcpName: map[string]any{"type": "local", "command": name, "args": args, "tools": []string{"*"}},
		}}))
	}
	if h.protected {
		w.hookProgram()
		w.write(".copilot/hooks/floodmark.json", w.settings("copilot-cli/hooks.json"))
	}
	args := []string{"-p", prompt(), "--allow-all-tools", "--output-format", "json", "--disable-client-telemetry"}
	if h.again {
		args = append(args, "--continue")
	}
	if w.boxes != "" { // it asks about programs outside of the project, and here no person answers
		args = append(args, "--allow-all-paths")
	}
	return w.run(append(w.scripted("copilot-cli").Env, "COPILOT_HOME="+filepath.Join(w.home, ".copilot")),
		tool(w.t, "copilot-cli-"+copilotVersion, "node_modules", ".bin", "copilot"), args...)
}
