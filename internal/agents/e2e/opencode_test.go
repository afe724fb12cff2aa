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
	name := "scripted/" + testmodel.Name
	settings := map[string]any{
		"autoupdate": false, "share": "disabled", "model": name, "small_model": name,
		"provider": map[string]any{"scripted": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
			"options": map[string]any{"baseURL": w.llm.URL + "/v1", "apiKey": "none"},
			"models": map[string]any{testmodel.Name: map[string]any{
				"name": "Scripted", "tool_call": true, "limit": map[string]int{"context": 128_000, "output": 8000},
			}},
		}},
	}
	if w.tools {
		name, args := w.mcpServer()
		settings["mcp"] = map[string]any{mcpName: map[string]any{"type": "local", "command": append([]string{name}, args...), "enabled": true}}
	}
	if h.protected {
		w.merge(settings, "opencode/opencode.json")
		w.write(".config/opencode/plugins/floodmark.ts", w.settings("opencode/floodmark.ts"))
	}
	w.write(".config/opencode/opencode.json", object(settings))
	args := []string{"run", "--format", "json", "--auto"}
	if h.again {
		args = append(args, "--continue")
	}
	return w.run([]string{
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
	}, tool(w.t, "opencode-"+opencodeVersion, "node_modules", "opencode-linux-x64", "bin", "opencode"), append(args, prompt())...)
}
