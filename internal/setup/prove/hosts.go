package prove

import "github.com/floodmark/floodmark/internal/story/testmodel"

// A host says how to run an agent once, without a person and with a scripted model.
type host struct {
	args, env []string
	// tool is the agent's tool for command lines. line is the tool's argument for the command line.
	tool, line string
	// describes is set if the tool needs a description with each command.
	describes bool
}

const prompt = "Run the three commands."

// shell returns a call of the agent's tool for command lines.
func (h host) shell(command string) testmodel.Call {
	args := map[string]string{h.line: command}
	if h.describes {
		args["description"] = "run"
	}
	return testmodel.Call{Name: h.tool, Args: args}
}

// hostOf returns how to run an agent, and false for an agent that cannot be run. Each way was tried
// with the real program.
func hostOf(agent string) (host, bool) {
	switch agent {
	case "codex":
		return host{args: []string{"exec", "--json", "--skip-git-repo-check", prompt}, tool: "exec_command", line: "cmd"}, true
	case "copilot-cli":
		return host{
			args: []string{"-p", prompt, "--allow-all-tools", "--output-format", "json", "--disable-client-telemetry"}, tool: "bash", line: "command", describes: true,
		}, true
	case "gemini-cli":
		return host{args: []string{"-p", prompt, "--yolo", "--skip-trust", "-o", "stream-json"}, tool: "run_shell_command", line: "command", describes: true}, true
	case "openclaw":
		return host{args: []string{"agent", "--local", "--session-id", "canary", "--message", prompt, "--json"}, tool: "exec", line: "command"}, true
	case "opencode":
		return host{
			env:  []string{"npm_config_fetch_retries=0"}, // otherwise it retries to fetch packages for a minute
			args: []string{"run", "--format", "json", "--auto", prompt}, tool: "bash", line: "command", describes: true,
		}, true
	case "pi":
		return host{args: []string{"-p", "--mode", "json", "--model", "scripted/" + testmodel.Name, prompt}, tool: "bash", line: "command"}, true
	}
	return host{}, false
}
