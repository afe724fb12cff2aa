package e2e

import "github.com/floodmark/floodmark/internal/story/testmodel"

const geminiVersion = "0.61.0"

func geminiAgent() agent {
	return agent{
		name: "gemini-cli", version: geminiVersion, run: runGemini, folder: "dir_path",
		shell: func(command string) testmodel.Call {
			return testmodel.Call{Name: "run_shell_command", Args: map[string]string{"command": command, "description": "run"}}
		},
		mcp: func(args any) testmodel.Call {
			return testmodel.Call{Name: "mcp_" + mcpName + "_" + mcpTool, Args: args}
		},
		spawn: []func(results []string) testmodel.Call{func([]string) testmodel.Call {
			return testmodel.Call{Name: "invoke_agent", Args: map[string]string{"agent_name": "generalist", "prompt": part}}
		}},
	}
}

func runGemini(w *world, h how) string {
	scripted := w.scripted("gemini-cli")
	settings := w.parsed(scripted)
	if w.tools {
		list := map[string]any{}
		for _, s := range w.servers() {
			list[s.name] = map[string]any{"command": s.command[0], "args": s.command[1:], "trust": true}
		}
		settings["mcpServers"] = list
	}
	if h.protected {
		w.hookProgram()
		w.merge(settings, "gemini-cli/settings.json")
	}
	w.write(scripted.File, object(settings))
	args := []string{"-p", prompt(), "--yolo", "--skip-trust", "-o", "stream-json"}
	if h.again {
		args = append(args, "--resume", "latest")
	}
	return w.run(scripted.Env,
		tool(w.t, "gemini-cli-"+geminiVersion, "node_modules", ".bin", "gemini"), args...)
}
