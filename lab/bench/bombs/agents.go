package main

import (
	"path/filepath"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// An agent says how an agent is run once, without a person.
type agent struct {
	name, folder string
	program      string // relative to its folder
	args         func(prompt string) []string
	env          []string
	// tool is its own tool for command lines. line is the tool's argument for the command line.
	tool, line string
	describes  bool
	// before and after are its names for the hooks around a call; empty for an agent that loads our
	// code and starts no program.
	before, after string
}

// agentNamed returns an agent by its name. internal/setup/prove and lab/e2e run the agents in the same
// way.
func agentNamed(name string) (agent, bool) {
	const bin = "node_modules/.bin/"
	switch name {
	case "codex":
		return agent{
			name: name, folder: "codex-0.166.0", program: bin + "codex", tool: "exec_command", line: "cmd", before: "PreToolUse", after: "PostToolUse",
			args: func(p string) []string { return []string{"exec", "--json", "--skip-git-repo-check", p} },
		}, true
	case "gemini-cli":
		return agent{
			name: name, folder: "gemini-cli-0.61.0", program: bin + "gemini", tool: "run_shell_command", line: "command", describes: true, before: "BeforeTool", after: "AfterTool",
			args: func(p string) []string { return []string{"-p", p, "--yolo", "--skip-trust", "-o", "stream-json"} },
		}, true
	case "copilot-cli":
		return agent{
			name: name, folder: "copilot-cli-1.0.102", program: bin + "copilot", tool: "bash", line: "command", describes: true, before: "preToolUse", after: "postToolUse",
			args: func(p string) []string {
				return []string{"-p", p, "--allow-all-tools", "--allow-all-paths", "--output-format", "json", "--disable-client-telemetry"}
			},
		}, true
	case "opencode":
		return agent{
			name: name, folder: "opencode-1.18.33", program: "node_modules/opencode-linux-x64/bin/opencode", tool: "bash", line: "command", describes: true,
			env:  []string{"npm_config_fetch_retries=0"}, // it looks for packages, and would retry for a minute
			args: func(p string) []string { return []string{"run", "--format", "json", "--auto", p} },
		}, true
	case "pi":
		return agent{
			name: name, folder: "pi-0.73.1", program: bin + "pi", tool: "bash", line: "command",
			args: func(p string) []string {
				return []string{"-p", "--mode", "json", "--model", "scripted/" + testmodel.Name, p}
			},
		}, true
	}
	return agent{}, false
}

// hooked reports whether the agent starts a program at each hook.
func (a agent) hooked() bool { return a.before != "" }

// shell returns a call of the agent's own tool for command lines.
func (a agent) shell(command string) testmodel.Call {
	args := map[string]any{a.line: command}
	if a.describes {
		args["description"] = "run"
	}
	if a.name == "codex" {
		args["yield_time_ms"] = 30_000 // otherwise it would continue with its model before the command ends
	}
	return testmodel.Call{Name: a.tool, Args: args}
}

// path returns the full path of its program.
func (a agent) path(installed string) string { return filepath.Join(installed, a.folder, a.program) }
