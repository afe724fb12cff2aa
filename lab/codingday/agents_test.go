package codingday

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// The versions that were measured. lab/e2e names the same ones.
const (
	codexVersion    = "0.166.0"
	opencodeVersion = "1.18.33"
	piVersion       = "0.73.1"
)

// An agent says how the model of a real program calls a tool, and how the program is run for one
// session.
type agent struct {
	call func(w *world, s Step) testmodel.Call
	run  func(a seat, s Session) error
}

// A seat is the environment in which an agent is started.
type seat struct {
	world *world
	// installed is the folder of the agents' programs. model is the address of the scripted model.
	installed, model string
	// settled says that the agent's settings, including hooks, are already in the home.
	settled bool
	// resumes says that the agent continues its last conversation in the project.
	resumes bool
}

func versionOf(agent string) string {
	return map[string]string{"codex": codexVersion, "opencode": opencodeVersion, "pi": piVersion}[agent]
}

// programsOf returns the folder of an agent's program below its node_modules. For opencode it is
// not npm's folder of links, because opencode's link needs an install script, which was not run.
func programsOf(agent string) string {
	if agent == "opencode" {
		return "opencode-linux-x64/bin"
	}
	return ".bin"
}

func agentNamed(name string) agent {
	switch name {
	case "pi":
		return agent{call: piCall, run: runPi}
	case "opencode":
		return agent{call: opencodeCall, run: runOpencode}
	}
	return agent{call: codexCall, run: runCodex}
}

// fetched returns a command that reads a page, for agents without a tool for it.
func fetched(address string) string { return "curl -sL '" + address + "'" }

// piCall returns a call as models of pi make it.
func piCall(_ *world, s Step) testmodel.Call {
	switch s.Tool {
	case Read:
		return testmodel.Call{Name: "read", Args: map[string]any{"path": s.Arg}}
	case Edit:
		return testmodel.Call{Name: "edit", Args: map[string]any{"path": s.Arg, "edits": []any{map[string]string{"oldText": s.Old, "newText": s.New}}}}
	case Write:
		return testmodel.Call{Name: "write", Args: map[string]any{"path": s.Arg, "content": s.New}}
	case Fetch:
		return testmodel.Call{Name: "bash", Args: map[string]any{"command": fetched(s.Arg)}}
	}
	return testmodel.Call{Name: "bash", Args: map[string]any{"command": s.Arg}}
}

// codexCall returns a call as models of Codex make it. They read files with commands and change
// them with patches.
func codexCall(w *world, s Step) testmodel.Call {
	shell := func(command string) testmodel.Call {
		return testmodel.Call{Name: "exec_command", Args: map[string]any{"cmd": command, "yield_time_ms": 30_000}}
	}
	file := s.Arg
	if strings.HasPrefix(file, "~/") {
		file = w.absolute(file) // a patch cannot use ~
	}
	switch s.Tool {
	case Read:
		return shell("sed -n '1,200p' " + s.Arg)
	case Edit:
		return shell("apply_patch <<'PATCH'\n*** Begin Patch\n*** Update File: " + file + "\n@@\n" + signed("-", s.Old) + signed("+", s.New) + "*** End Patch\nPATCH\n")
	case Write:
		if _, err := os.Stat(w.absolute(s.Arg)); err == nil {
			return shell("cat > " + s.Arg + " <<'EOF'\n" + s.New + "EOF\n")
		}
		return shell("apply_patch <<'PATCH'\n*** Begin Patch\n*** Add File: " + file + "\n" + signed("+", s.New) + "*** End Patch\nPATCH\n")
	}
	if s.Tool == Fetch {
		return shell(fetched(s.Arg))
	}
	return shell(s.Arg)
}

// opencodeCall returns a call as models of opencode make it.
func opencodeCall(w *world, s Step) testmodel.Call {
	path := w.absolute(s.Arg)
	switch s.Tool {
	case Read:
		return testmodel.Call{Name: "read", Args: map[string]any{"filePath": path}}
	case Edit:
		return testmodel.Call{Name: "edit", Args: map[string]any{"filePath": path, "oldString": s.Old, "newString": s.New}}
	case Write:
		return testmodel.Call{Name: "write", Args: map[string]any{"filePath": path, "content": s.New}}
	case Fetch:
		return testmodel.Call{Name: "webfetch", Args: map[string]any{"url": s.Arg, "format": "markdown"}}
	}
	return testmodel.Call{Name: "bash", Args: map[string]any{"command": s.Arg, "description": "runs it"}}
}

// absolute returns the absolute path for a path of a call.
func (w *world) absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(w.home, rest)
	}
	if !filepath.IsAbs(path) {
		return filepath.Join(w.project, path)
	}
	return path
}

// signed returns a text with a sign before every line.
func signed(sign, text string) string {
	if text == "" {
		return ""
	}
	return sign + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+sign) + "\n"
}

func runCodex(a seat, s Session) error {
	w := a.world
	settings, _ := testmodel.SettingsOf("codex", a.model)
	folder := filepath.Join(w.home, ".codex")
	flags := []string{"--json", "--skip-git-repo-check"}
	if !a.settled {
		if err := w.hookCodex(folder, settings); err != nil {
			return err
		}
		flags = append(flags, "--dangerously-bypass-hook-trust")
	}
	program := filepath.Join(a.installed, "codex-"+codexVersion, "node_modules", ".bin", "codex")
	for i, p := range s.Prompts {
		args := []string{"exec"}
		if i > 0 || a.resumes {
			args = append(args, "resume", "--last")
		}
		args = append(append(args, flags...), p.Text)
		out, err := w.run(append(settings.Env, "CODEX_HOME="+folder), program, args...)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	return nil
}

// hookCodex writes Codex's settings with the shipped hooks.
func (w *world) hookCodex(folder string, settings testmodel.Settings) error {
	features, err := os.ReadFile("../../integrations/codex/config.toml")
	if err != nil {
		return err
	}
	hooks, err := os.ReadFile("../../integrations/codex/hooks.json")
	if err != nil {
		return err
	}
	w.write(filepath.Join(w.home, settings.File), string(features)+"\n"+settings.Text, 0o600)
	w.write(filepath.Join(folder, "hooks.json"), string(hooks), 0o600)
	return nil
}

func runPi(a seat, s Session) error {
	w := a.world
	settings, _ := testmodel.SettingsOf("pi", a.model)
	args := []string{
		filepath.Join(a.installed, "pi-"+piVersion, "node_modules", ".bin", "pi"),
		"-p", "--mode", "json", "--model", "scripted/" + testmodel.Name,
	}
	if !a.settled {
		w.write(filepath.Join(w.home, settings.File), settings.Text, 0o600)
		shim, err := filepath.Abs("../../integrations/pi/floodmark.ts")
		if err != nil {
			return err
		}
		args = append(args, "-e", shim)
	}
	if a.resumes {
		args = append(args, "--continue")
	}
	for _, p := range s.Prompts {
		args = append(args, p.Text)
	}
	if out, err := w.run(settings.Env, "node", args...); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// runOpencode runs opencode with the settings that are in its home.
func runOpencode(a seat, s Session) error {
	w := a.world
	settings, _ := testmodel.SettingsOf("opencode", a.model)
	program := filepath.Join(a.installed, "opencode-"+opencodeVersion, "node_modules", programsOf("opencode"), "opencode")
	for i, p := range s.Prompts {
		args := []string{"run", "--format", "json", "--auto"}
		if i > 0 || a.resumes {
			args = append(args, "--continue")
		}
		if out, err := w.run(settings.Env, program, append(args, p.Text)...); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	return nil
}
