package integrations_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// try runs a command of the settings with a hook program whose script is body.
func try(t *testing.T, command, body string) (out string, exit int) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "floodmark-hook"), []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", command)
	cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin"}
	text, err := cmd.Output()
	if ended, is := err.(*exec.ExitError); is { //nolint:errorlint // the error is not wrapped
		return string(text), ended.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text), 0
}

// For agents that go on after a failed hook, a shell around the hook refuses in its place, in the
// form that the agent obeys. The shell passes the answer of a hook that ran unchanged.
func TestGuards(t *testing.T) {
	t.Parallel()
	const exits = "" // a refusal by exit status 2
	for file, guarded := range map[string]map[string]string{
		"codex/hooks.json":         {"codex PreToolUse": exits, "codex PostToolUse": exits, "codex UserPromptSubmit": exits},
		"gemini-cli/settings.json": {"gemini-cli BeforeTool": exits, "gemini-cli AfterTool": exits, "gemini-cli BeforeAgent": exits},
		"copilot-cli/hooks.json":   {"copilot-cli preToolUse": exits, "copilot-cli postToolUse": `"modifiedResult":`, "copilot-cli userPromptSubmitted": `"decision":"block"`},
		"claude-code/settings.json": {
			"claude-code PreToolUse": exits, "claude-code PostToolUse": `"continue":false`,
			"claude-code UserPromptSubmit": exits, "claude-code UserPromptExpansion": exits,
		},
		"cursor/hooks.json": {
			"cursor preToolUse": exits, "cursor beforeShellExecution": exits, "cursor beforeMCPExecution": exits,
			"cursor beforeReadFile": exits, "cursor subagentStart": exits, "cursor beforeSubmitPrompt": exits,
		},
	} {
		all := commands(t, file)
		for event, no := range guarded {
			command, there := all[event]
			if !there {
				t.Errorf("%s has no %s", file, event)
				continue
			}
			if out, exit := try(t, command, `echo '{"a":"b  c"}'`); out != `{"a":"b  c"}` || exit != 0 {
				t.Errorf("%s hands on %q, %d", event, out, exit)
			}
			for _, body := range []string{"exit 1", "exit 127", "kill -KILL $$", "echo nonsense", `echo '{"a":'; exit 1`} {
				out, exit := try(t, command, body)
				said := json.Valid([]byte(out)) && strings.Contains(out, no)
				if (no == exits) != (exit == 2 && out == "") || no != exits && !said {
					t.Errorf("%s after «%s»: %q, %d", event, body, out, exit)
				}
			}
		}
	}
}
