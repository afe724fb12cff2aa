package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/floodmark/floodmark/lab/bench/figures"
)

// A caller starts the hook program as Codex does.
type caller struct {
	hook    string
	env     []string
	home    string
	session string // empty: a default session
}

// message returns what Codex writes to its hook, as observed.
func (c caller) message(event string, more map[string]any) []byte {
	session := cmp.Or(c.session, "01a1dc4c-2816-7ac3-aaae-b2c3f5e5c2df")
	m := map[string]any{
		"session_id": session, "turn_id": "01a1dc4c-2867-7ca1-8fb6-35984d779710",
		"transcript_path": filepath.Join(c.home, ".codex/sessions/2026/11/14/rollout-2026-11-14T23-02-20-"+session+".jsonl"),
		"cwd":             filepath.Join(c.home, "project"), "hook_event_name": event, "model": "scripted", "permission_mode": "bypassPermissions",
	}
	maps.Copy(m, more)
	data, err := json.Marshal(m)
	if err != nil {
		return nil // the hook refuses an empty message
	}
	return data
}

// commands returns typical commands of coding agents.
func commands() []string {
	return []string{
		"rg -n 'func .*Context' internal | head -50",
		"sed -n '1,160p' internal/agents/door.go",
		"git status --short && git diff --stat && git log --oneline -5",
		"go test ./internal/... 2>&1 | tail -40",
		"grep -rn \"TODO\" --include=*.go . | wc -l; ls -la docs | sort -k5 -n | tail -5",
		"cat <<'EOF' > notes.md\n# What is left\n\n- the second table\n- names of columns\nEOF\nwc -l notes.md",
	}
}

func (c caller) call(event string, n int, more map[string]any) []byte {
	list := commands()
	m := map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": list[n%len(list)]}, "tool_use_id": fmt.Sprintf("call_mwh0gk40_%d", n)}
	maps.Copy(m, more)
	return c.message(event, m)
}

// timed runs a program to its end and returns how long it took, and its output.
func timed(ctx context.Context, env []string, stdin []byte, name string, args ...string) (time.Duration, string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, bytes.NewReader(stdin), &out, &out
	began := time.Now()
	err := cmd.Run()
	return time.Since(began), out.String(), err
}

// ask calls the hook and returns an error unless the call is allowed, which is an empty output.
func (c caller) ask(ctx context.Context, event string, stdin []byte) (time.Duration, error) {
	return c.silent(ctx, event, stdin, c.hook, "codex")
}

// silent calls a hook with an event and returns an error unless its output is empty.
func (c caller) silent(ctx context.Context, event string, stdin []byte, name string, args ...string) (time.Duration, error) {
	took, said, err := timed(ctx, c.env, stdin, name, append(slices.Clip(args), event)...)
	if err == nil && said != "" {
		err = errors.New("it was not allowed")
	}
	if err != nil {
		return took, fmt.Errorf("%s: %w: %s", event, err, said)
	}
	return took, nil
}

// begin starts a session with a prompt of the owner.
func (c caller) begin(ctx context.Context) error {
	if _, err := c.ask(ctx, "SessionStart", c.message("SessionStart", map[string]any{"source": "startup"})); err != nil {
		return err
	}
	_, err := c.ask(ctx, "UserPromptSubmit", c.message("UserPromptSubmit", map[string]any{"prompt": "Tidy up the tables in internal, and run the tests."}))
	return err
}

// warm measures the pairs.
func warm(ctx context.Context, o options, programs string, home figures.Home, e *evidence) error {
	empty, err := emptyProgram(ctx, home.Dir)
	if err != nil {
		return err
	}
	c := caller{hook: filepath.Join(programs, "floodmark-hook"), home: home.Dir, env: home.Env}
	monitor, err := home.Monitor(ctx, filepath.Join(programs, "floodmark"), "version: 1\nprofile: coding\n")
	if err != nil {
		return err
	}
	defer monitor.Stop()
	if err := c.begin(ctx); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(o.seed, 0))
	var empties, hooks, ratios []float64
	for n := range o.pairs {
		question := c.call("PreToolUse", n, nil)
		times := [2]time.Duration{}
		for _, which := range random.Perm(2) {
			var err error
			if which == 0 {
				times[0], _, err = timed(ctx, c.env, question, empty)
			} else {
				times[1], err = c.ask(ctx, "PreToolUse", question)
			}
			if err != nil {
				return fmt.Errorf("pair %d: %w", n, err)
			}
		}
		// The result of the tool belongs to the session, too, but its hook is not timed.
		if _, err := c.ask(ctx, "PostToolUse", c.call("PostToolUse", n, map[string]any{"tool_response": fmt.Sprintf("%d lines\n", n)})); err != nil {
			return fmt.Errorf("pair %d: %w", n, err)
		}
		e.Allowed++
		empties, hooks = append(empties, figures.MS(times[0])), append(hooks, figures.MS(times[1]))
		ratios = append(ratios, times[1].Seconds()/times[0].Seconds())
	}
	e.Empty, e.Hook, e.Ratio = figures.SpreadOf(empties), figures.SpreadOf(hooks), figures.SpreadOf(ratios)
	return nil
}

// emptyProgram builds a Go program that does nothing, with the same flags as the hook.
func emptyProgram(ctx context.Context, dir string) (string, error) {
	source, program := filepath.Join(dir, "empty.go"), filepath.Join(dir, "empty")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return "", err
	}
	if text, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, source).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build an empty program: %w\n%s", err, text)
	}
	return program, nil
}
