package e2e

import (
	"github.com/floodmark/floodmark/internal/testmodel"
)

const opencodeVersion = "1.18.33"

func opencodeAgent() agent {
	return agent{
		name: "opencode", version: opencodeVersion, run: runOpencode, plugin: true, none: inside(map[string]string{}),
		shell: func(command string) testmodel.Call {
			return testmodel.Call{Name: "bash", Args: map[string]string{"command": command, "description": "run"}}
		},
		mcp: func(args any) testmodel.Call {
			return testmodel.Call{Name: mcpName + "_" + mcpTool, Args: args}
		},
		spawn: []func(results []string) testmodel.Call{func([]string) testmodel.Call {
			return testmodel.Call{Name: "task", Args: map[string]string{"description": "part", "prompt": part, "subagent_type": "general"}}
		}},
	}
}

func runOpencode(w *world, h how) string {
	scripted := w.scripted("opencode")
	settings := w.parsed(scripted)
	if w.tools {
		name, args := w.mcpServer()
		settings["mcp"] = map[string]any{mcpName: map[string]any{"type": "local", "command": append([]string{name}, args...), "enabled": true}}
	}
	if h.protected {
		w.merge(settings, "opencode/opencode.json")
		w.write(".config/opencode/plugins/floodmark.ts", w.settings("opencode/floodmark.ts"))
	}
	w.write(scripted.File, object(settings))
	args := []string{"run", "--format", "json", "--auto"}
	if h.again {
		args = append(args, "--continue")
	}
	return w.run(scripted.Env, tool(w.t, "opencode-"+opencodeVersion, "node_modules", "opencode-linux-x64", "bin", "opencode"), append(args, prompt())...)
}
