package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/floodmark/floodmark/lab/bench/figures"
)

// Hooks as people write them: one searches for a word with bash, one parses the message with node.
// Both print nothing, which allows.
const (
	bashHook = "#!/bin/bash\nmessage=$(cat)\ncommand=$(sed -n 's/.*\"command\":\"\\([^\"]*\\)\".*/\\1/p' <<<\"$message\")\ncase $command in *'rm -rf /'*) echo '{}' ;; esac\n"
	nodeHook = "const m = JSON.parse(require('fs').readFileSync(0, 'utf8'))\nif (/rm -rf \\//.test((m.tool_input || {}).command || '')) console.log('{}')\n"
)

// A hook is a program started before and after a call. It prints nothing.
type hook struct {
	name string
	argv []string
}

// felt measures how long an agent's tool call waits for both its hooks, Floodmark's and others, in
// random order.
func felt(ctx context.Context, o options, programs string, home figures.Home) (map[string]figures.Spread, error) {
	empty, err := emptyProgram(ctx, home.Dir)
	if err != nil {
		return nil, err
	}
	c := caller{hook: filepath.Join(programs, "floodmark-hook"), home: home.Dir, env: home.Env}
	monitor, err := home.Monitor(ctx, filepath.Join(programs, "floodmark"), "version: 1\nprofile: coding\n")
	if err != nil {
		return nil, err
	}
	defer monitor.Stop()
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	hooks := []hook{{"a Go program that does nothing", []string{empty}}, {"floodmark", []string{c.hook, "codex"}}}
	for _, own := range []struct{ program, text string }{{"bash", bashHook}, {"node", nodeHook}} {
		found, err := exec.LookPath(own.program)
		if err != nil {
			continue // a program that is not installed is left out
		}
		file := filepath.Join(home.Dir, "hook-"+own.program)
		if err := os.WriteFile(file, []byte(own.text), 0o600); err != nil {
			return nil, err
		}
		hooks = append(hooks, hook{"a hook in " + own.program, []string{found, file}})
	}
	random, times := rand.New(rand.NewPCG(o.seed, 1)), map[string][]float64{}
	for n := range o.felt {
		for _, i := range random.Perm(len(hooks)) {
			var all time.Duration
			for _, event := range []string{"PreToolUse", "PostToolUse"} {
				message := c.call(event, n, nil)
				if event == "PostToolUse" {
					message = c.call(event, n, map[string]any{"tool_response": fmt.Sprintf("%d lines\n", n)})
				}
				took, err := c.silent(ctx, event, message, hooks[i].argv[0], hooks[i].argv[1:]...)
				if err != nil {
					return nil, fmt.Errorf("%s, %w", hooks[i].name, err)
				}
				all += took
			}
			times[hooks[i].name] = append(times[hooks[i].name], figures.MS(all))
		}
	}
	spreads := map[string]figures.Spread{}
	for name, list := range times {
		spreads[name] = figures.SpreadOf(list)
	}
	return spreads, nil
}
