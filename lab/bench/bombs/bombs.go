package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// The bombs, as files of a project. Each one ends by itself after some seconds.
var (
	//go:embed bomb.sh
	bombScript string
	//go:embed bomb.py
	bombPython string
	//go:embed asker.py
	askerPython string
)

// kinds returns the bombs. The one that fills the disk is included only if that is allowed.
func (r *rig) kinds() []string {
	all := []string{"fork", "cpu", "memory", "tmp", "descriptors"}
	if r.o.disk {
		all = append(all, "project")
	}
	return all
}

// bombs measures hooks with and without bombs, and has agents run each bomb and the script in the
// same turn.
func (r *rig) bombs(ctx context.Context, match *regexp.Regexp) error {
	if err := r.probe(ctx, "no bomb", r.size(20), func() bool { return false }); err != nil {
		return err
	}
	for i, kind := range r.kinds() {
		if r.o.small && kind != "fork" {
			continue
		}
		over := false
		var mu sync.Mutex
		isOver := func() bool { mu.Lock(); defer mu.Unlock(); return over }
		wait := r.bombBeside(ctx, kind)
		var gone sync.WaitGroup
		gone.Go(func() {
			defer func() { mu.Lock(); defer mu.Unlock(); over = true }()
			r.besideBomb(ctx, match, kind, r.turn(i))
		})
		err := r.probe(ctx, kind+" bomb", r.size(40), isOver)
		gone.Wait()
		wait()
		if err != nil {
			return err
		}
		t := r.report.Hooks[kind+" bomb"]
		fmt.Printf("%d hooks beside a %s bomb: p50 %.0f ms, p99 %.0f, longest %.0f, %d refused, %d late\n", t.N, kind, t.P50, t.P99, t.Max, t.Refused, t.Late)
	}
	return nil
}

// size returns how often something is done; less in the gate.
func (r *rig) size(n int) int {
	if r.o.small {
		return n / 4
	}
	return n
}

// turn returns two of the agents, different ones for each bomb.
func (r *rig) turn(i int) []agent {
	n := len(r.agents)
	if n < 3 {
		return r.agents
	}
	return []agent{r.agents[2*i%n], r.agents[(2*i+1)%n]}
}

// besideBomb has agents run the bomb and the script in one turn, while another session runs the
// same bomb.
func (r *rig) besideBomb(ctx context.Context, match *regexp.Regexp, kind string, agents []agent) {
	for _, a := range agents {
		c := cell{a.name, "all", kind + " bomb in the same session and in another", "always"}
		if !match.MatchString(c.name()) {
			continue
		}
		p := r.newPlay(a, "project")
		p.first = []string{"bash bomb.sh " + kind}
		o, err := p.play(ctx)
		o.applied = err == nil
		r.report.add(c, o, "")
		fmt.Printf("     %s: boxed %v, outside %v%s, %.1f s, %v\n", c.name(), o.boxed, o.outside, o.how, o.seconds, err)
		if !o.boxed {
			fmt.Printf("       %.300q\n", p.results)
		}
	}
}

// bombBeside has another session run one bomb after another until end is called.
func (r *rig) bombBeside(ctx context.Context, kind string) (end func()) {
	a := r.agents[0]
	for _, b := range r.agents {
		if !b.hooked() { // an agent without hooks starts fastest
			a = b
		}
	}
	p := r.newPlay(a, "bombed")
	var mu sync.Mutex
	over := false
	began := make(chan struct{})
	once := sync.Once{}
	p.say = &testmodel.Model{Aside: "News", Say: func(t testmodel.Turn) testmodel.Step {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case over || len(t.Results) > 100:
			return testmodel.Step{Text: "Done."}
		case len(t.Results) == 0:
			return testmodel.Step{Calls: []testmodel.Call{a.shell("curl -s " + page)}}
		}
		once.Do(func() { close(began) })
		return testmodel.Step{Calls: []testmodel.Call{a.shell("bash bomb.sh " + kind)}}
	}}
	wait, err := p.start(ctx)
	if err != nil {
		return func() {}
	}
	select {
	case <-began:
	case <-time.After(seen):
	}
	return func() {
		mu.Lock()
		over = true
		mu.Unlock()
		send(p.own(), syscall.SIGKILL)
		wait()
		soon(10*time.Second, func() bool { pid, _ := boxOf("bash bomb.sh " + kind); return pid == 0 })
		r.sweep()
	}
}

// sweep removes what bombs left in their projects.
func (r *rig) sweep() {
	for _, p := range []string{"bombed", "project"} {
		files, _ := filepath.Glob(filepath.Join(r.o.home, p, "bomb-*")) // the pattern is a good one
		for _, f := range files {
			_ = os.RemoveAll(f)
		}
	}
}

// probe runs hooks one after another with the command line in Codex's settings, as Codex does, and
// notes how long each took.
func (r *rig) probe(ctx context.Context, when string, least int, over func() bool) error {
	hooks, err := codexHooks(filepath.Join(r.o.home, ".codex/hooks.json"))
	if err != nil {
		return err
	}
	asker, err := r.newAsker(ctx)
	if err != nil {
		return err
	}
	defer asker.end()
	session := fmt.Sprintf("01a1dc4c-2816-7ac3-aaae-%012d", r.number())
	ask := func(event string, more map[string]any) (time.Duration, bool) {
		m := map[string]any{
			"session_id": session, "turn_id": session, "cwd": filepath.Join(r.o.home, "asked"), "hook_event_name": event, "model": "scripted",
			"permission_mode": "bypassPermissions", "transcript_path": filepath.Join(r.o.home, ".codex/sessions/x.jsonl"),
		}
		maps.Copy(m, more)
		data, _ := json.Marshal(m) // all values are text
		return asker.ask(hooks[event], string(data))
	}
	ask("SessionStart", map[string]any{"source": "startup"})
	ask("UserPromptSubmit", map[string]any{"prompt": "Tidy up."})
	for n := 0; (n < least || !over()) && n < 2000 && ctx.Err() == nil; n++ {
		if n >= least && when == "no bomb" {
			break
		}
		call := map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": "git status --short"}, "tool_use_id": fmt.Sprintf("call_%d", n)}
		took, refused := ask("PreToolUse", call)
		r.report.took(when, took, refused)
		call["tool_response"] = "nothing"
		ask("PostToolUse", call)
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// An asker runs hooks from another process.
type asker struct {
	in  io.WriteCloser
	out *json.Decoder
	end func()
}

func (r *rig) newAsker(ctx context.Context) (*asker, error) {
	cmd := exec.CommandContext(ctx, "python3", "-c", askerPython)
	cmd.Env, cmd.Stderr = r.env(), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &asker{in, json.NewDecoder(out), func() { _ = in.Close(); _ = cmd.Wait() }}, nil
}

// ask runs a hook. A hook without an answer is treated as refused.
func (a *asker) ask(command, event string) (time.Duration, bool) {
	var said struct {
		Seconds float64
		Refused bool
	}
	err := json.NewEncoder(a.in).Encode(map[string]string{"command": command, "event": event})
	if err == nil {
		err = a.out.Decode(&said)
	}
	return time.Duration(said.Seconds * float64(time.Second)), said.Refused || err != nil
}

// codexHooks returns the command lines that «floodmark protect» wrote for Codex's events.
func codexHooks(file string) (map[string]string, error) {
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		return nil, err
	}
	commands := map[string]string{}
	for event, groups := range settings.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				commands[event] = h.Command
			}
		}
	}
	return commands, nil
}
