package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

const opencodeVersion = "1.18.33"

func opencodeAgent() agent {
	return agent{
		name: "opencode", version: opencodeVersion, run: runOpencode, folder: "workdir", statusless: true, plugin: true, none: inside(map[string]string{}),
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
		settings["$schema"] = "https://opencode.ai/config.json" // otherwise it adds this line itself
		list := map[string]any{}
		for _, s := range w.servers() {
			list[s.name] = map[string]any{"type": "local", "command": s.command, "enabled": true}
		}
		settings["mcp"] = list
	}
	if h.protected {
		w.merge(settings, "opencode/opencode.json")
		w.write(".config/opencode/plugins/floodmark.ts", w.settings("opencode/floodmark.ts"))
	}
	w.write(scripted.File, object(settings))
	return opencodeAsIs(w, h)
}

// opencodeAsIs runs opencode with its present settings.
func opencodeAsIs(w *world, h how, more ...string) string {
	args := append([]string{"run", "--format", "json", "--auto"}, more...)
	if h.again {
		args = append(args, "--continue")
	}
	return w.run(w.scripted("opencode").Env, tool(w.t, "opencode-"+opencodeVersion, "node_modules", "opencode-linux-x64", "bin", "opencode"), append(args, prompt())...)
}

// opencode continues without a plugin that it cannot load. With our lock it then has no model; with
// the plugin it has one.
func TestOpencodeIsLockedWithoutThePlugin(t *testing.T) {
	if *gateOnly {
		t.Skip("make soak SUITE=agents tries it")
	}
	w := newWorld(t)
	w.daemon()
	w.calls(opencodeAgent(), nil, work)
	output := runOpencode(w, how{protected: true})
	before := len(w.model.Turns())
	if before == 0 {
		t.Fatalf("with the plugin the model was not called: %s", tail(output))
	}
	spoilt := func(text string) func(string) error {
		return func(plugin string) error { return os.WriteFile(plugin, []byte(text), 0o600) }
	}
	for name, c := range map[string]struct {
		spoil func(plugin string) error
		args  []string
	}{
		"gone":      {spoil: os.Remove},
		"broken":    {spoil: spoilt("export const = 1")},
		"throws":    {spoil: spoilt("throw new Error('no')")},
		"forbidden": {spoil: spoilt(shipped(t, "opencode/floodmark.ts")), args: []string{"--pure"}},
	} {
		if err := c.spoil(filepath.Join(w.home, ".config/opencode/plugins/floodmark.ts")); err != nil {
			t.Fatal(name, err)
		}
		output := opencodeAsIs(w, how{}, c.args...)
		if after := len(w.model.Turns()); after != before || !strings.Contains(output, "error") {
			t.Errorf("%s: the model was called %d times: %s", name, after-before, tail(output))
		}
		w.write(".config/opencode/plugins/floodmark.ts", shipped(t, "opencode/floodmark.ts"))
	}
}
