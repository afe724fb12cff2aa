package e2e

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

func codexAgent() agent {
	group := func(name string, args any) testmodel.Call {
		return testmodel.Call{Namespace: "multi_agent_v1", Name: name, Args: args}
	}
	return agent{
		name: "codex", version: codexVersion, run: runCodex, folder: "workdir",
		shell: func(command string) testmodel.Call {
			return testmodel.Call{Name: "exec_command", Args: map[string]string{"cmd": command}}
		},
		mcp: func(args any) testmodel.Call {
			return testmodel.Call{Namespace: "mcp__" + mcpName, Name: mcpTool, Args: args}
		},
		spawn: []func(results []string) testmodel.Call{
			func([]string) testmodel.Call {
				return group("spawn_agent", map[string]string{"message": part, "agent_type": "default"})
			},
			func(results []string) testmodel.Call {
				return group("wait_agent", map[string]any{"targets": []string{childID(results[len(results)-1])}, "timeout_ms": 20_000})
			},
		},
	}
}

// childID returns the sub-agent's name from the result of spawn_agent.
func childID(result string) string {
	_, rest, _ := strings.Cut(result, `"agent_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func runCodex(w *world, h how) string { return w.codexHears(h, prompt()) }

// codexHears runs Codex with a prompt of its owner.
func (w *world) codexHears(h how, text string) string {
	scripted := w.scripted("codex")
	settings := w.features + "\n" + scripted.Text
	if w.sandbox != "" {
		settings = strings.Replace(settings, "danger-full-access", w.sandbox, 1)
	}
	for _, s := range w.servers() { // Codex does not wait for servers that are not required
		settings += fmt.Sprintf("[mcp_servers.%s]\ncommand = %q\nargs = %s\nrequired = true\n", s.name, s.command[0], object(s.command[1:]))
	}
	w.write(scripted.File, settings)
	if h.protected {
		w.hookProgram()
		w.write(".codex/hooks.json", w.settings("codex/hooks.json"))
	}
	args := []string{"exec"}
	if h.again {
		args = append(args, "resume", "--last")
	}
	args = append(args, "--json", "--skip-git-repo-check")
	if w.prepare == nil {
		args = append(args, "--dangerously-bypass-hook-trust")
	}
	args = append(args, text)
	return w.run(append(scripted.Env, "CODEX_HOME="+filepath.Join(w.home, ".codex")),
		tool(w.t, "codex-"+codexVersion, "node_modules", ".bin", "codex"), args...)
}
