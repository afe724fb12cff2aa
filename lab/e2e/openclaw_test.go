package e2e

import (
	"bytes"
	"path/filepath"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

const (
	openclawVersion = "2026.9.6"
	nodeVersion     = "24.21.0"
)

func openclawAgent() agent {
	return agent{
		name: "openclaw", version: openclawVersion, run: runOpenclaw, folder: "workdir", plugin: true, none: inside(map[string]string{}),
		shell: func(command string) testmodel.Call {
			return testmodel.Call{Name: "exec", Args: map[string]string{"command": command}}
		},
		inside:    func(c testmodel.Call) testmodel.Call { return openclawHidden(c.Name, c.Args) },
		mcp:       func(args any) testmodel.Call { return openclawHidden(mcpName+"__"+mcpTool, args) },
		spawnAsks: true,
		spawn: []func(results []string) testmodel.Call{
			func([]string) testmodel.Call {
				return openclawHidden("sessions_spawn", map[string]string{"task": part, "label": "part"})
			},
		},
		runSpawning: runOpenclawGateway,
	}
}

// openclawHidden calls a tool that OpenClaw does not list, because it has many.
func openclawHidden(name string, args any) testmodel.Call {
	return testmodel.Call{Name: "tool_call", Args: map[string]any{"id": name, "args": args}}
}

// openclawSettings returns OpenClaw's settings for our model and the project.
func (w *world) openclawSettings() map[string]any {
	settings := w.parsed(w.scripted("openclaw"))
	settings["agents"].(map[string]any)["defaults"].(map[string]any)["workspace"] = w.project
	return settings
}

func runOpenclaw(w *world, h how) string {
	settings := w.openclawSettings()
	if w.tools {
		name, args := w.mcpServer()
		settings["mcp"] = map[string]any{"servers": map[string]any{mcpName: map[string]any{"command": name, "args": args}}}
	}
	if h.protected {
		for _, name := range []string{"entry.json5", "package.json", "openclaw.plugin.json"} {
			w.write(".openclaw/extensions/floodmark/"+name, shipped(w.t, "openclaw/"+name))
		}
		w.write(".openclaw/extensions/floodmark/index.ts", w.settings("openclaw/index.ts"))
		w.merge(settings, "openclaw/settings.json")
	}
	path := w.write(".openclaw/openclaw.json", object(settings))
	return w.run([]string{"OPENCLAW_STATE_DIR=" + filepath.Join(w.home, ".openclaw"), "OPENCLAW_CONFIG_PATH=" + path},
		tool(w.t, "node-"+nodeVersion, "node_modules", ".bin", "node"),
		tool(w.t, "openclaw-"+openclawVersion, "node_modules", "openclaw", "openclaw.mjs"),
		"agent", "--local", "--session-id", "e2e", "--message", prompt(), "--json")
}

// runOpenclawGateway runs OpenClaw behind its gateway, which its sub-agents need. The owner writes
// in a chat. It ends when a sub-agent has done its part.
func runOpenclawGateway(w *world, _ how) string {
	app := &chatApp{messages: []sent{{from: chatOwner, text: prompt()}}, next: func(int) bool { return true }}
	w.gateway(app, func() bool {
		for _, turn := range w.model.Turns() {
			if bytes.Contains(turn.Body, []byte(part)) && !bytes.Contains(turn.Body, []byte(task)) && len(turn.Results) > 0 {
				return true
			}
		}
		return false
	})
	return w.output
}
