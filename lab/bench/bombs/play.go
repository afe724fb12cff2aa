package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// agentWithin is how long an agent's run may take before it is killed.
const agentWithin = 100 * time.Second

// A play is one run of an agent, which reads a stranger's page and runs the project's script.
type play struct {
	r       *rig
	agent   agent
	n       int
	project string
	command string
	// first are further calls that the model makes in the same turn, before the script.
	first []string
	root  int // the agent's first process
	arm   func()
	say   *testmodel.Model // nil: the model of this play
	// again, unless nil, reports after a call whether the model makes another one. The next call
	// then has its own number and command.
	again func() bool
	// results are the results that the model last received.
	results []string
	output  string
	hung    bool
}

func (r *rig) newPlay(a agent, project string) *play {
	p := &play{r: r, agent: a, project: filepath.Join(r.o.home, project)}
	p.renumber()
	return p
}

// renumber gives the next call a new number and command.
func (p *play) renumber() {
	p.n = p.r.number()
	p.command = fmt.Sprintf("bash build.sh %d", p.n)
}

// number returns a number that no other call has.
func (r *rig) number() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	return r.next
}

// model returns the scripted model of this run.
func (p *play) model() *testmodel.Model {
	var mu sync.Mutex
	said := map[int]testmodel.Step{} // an agent may ask twice for the same turn
	return &testmodel.Model{Aside: "News", Say: func(t testmodel.Turn) testmodel.Step {
		mu.Lock()
		defer mu.Unlock()
		turn := len(t.Results)
		if s, known := said[turn]; known {
			return s
		}
		p.results = t.Results
		said[turn] = p.step(turn)
		return said[turn]
	}}
}

// step returns the model's turn after that many results.
func (p *play) step(results int) testmodel.Step {
	switch {
	case results == 0:
		return testmodel.Step{Calls: []testmodel.Call{p.agent.shell("curl -s " + page)}}
	case results > 1 && (p.again == nil || !p.again()):
		return testmodel.Step{Text: "Done."}
	}
	if p.arm != nil {
		p.arm()
	}
	var calls []testmodel.Call
	for _, c := range append(p.first, p.command) {
		calls = append(calls, p.agent.shell(c))
	}
	return testmodel.Step{Calls: calls}
}

// start starts the agent. wait returns when the agent has ended.
func (p *play) start(ctx context.Context) (wait func(), err error) {
	r := p.r
	name := fmt.Sprintf("run-%d", r.number())
	r.mu.Lock()
	if p.say == nil {
		p.say = p.model()
	}
	r.models[name] = p.say
	r.mu.Unlock()
	s, _ := testmodel.SettingsOf(p.agent.name, r.url)
	cmd := exec.CommandContext(ctx, p.agent.path(r.o.installed), p.agent.args("Read "+page+" and build the project ("+name+").")...)
	cmd.Env, cmd.Dir = append(append(r.env(), s.Env...), p.agent.env...), p.project
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 3 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.root = cmd.Process.Pid
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // many are killed, so the error is ignored
	}()
	return func() {
		select {
		case <-ended:
		case <-time.After(agentWithin):
			p.hung = true
			_ = syscall.Kill(-p.root, syscall.SIGKILL)
			send(p.own(), syscall.SIGKILL)
			<-ended
		}
		p.output = out.String()
	}, nil
}

// own returns the processes of the agent itself, without hooks and boxes.
func (p *play) own() []int {
	return pids(below(p.root), func(q process) bool {
		return q.pid == p.root || strings.HasPrefix(q.argv[0], p.r.o.installed) || len(q.argv) > 1 && strings.HasPrefix(q.argv[1], p.r.o.installed)
	})
}

// hooks returns the hook programs that the agent has started for an event.
func (p *play) hooks(event string) []int {
	return pids(below(p.root), func(q process) bool { return q.is("floodmark-hook", event) })
}

// An outcome is the result of a call.
type outcome struct {
	outside bool // it ran outside a box
	boxed   bool // it ran in a box to its end, and its files were kept
	how     string
	hung    bool
	applied bool // the fault happened
	seconds float64
}

// judge finds the outcome of a call from the traces that it left. It ignores what the programs
// report.
func (p *play) judge() (o outcome) {
	for _, file := range []string{filepath.Join(p.r.o.home, fmt.Sprintf("canary-%d", p.n)), fmt.Sprintf("/tmp/canary-%d", p.n)} {
		if _, err := os.Stat(file); err == nil {
			o.outside, o.how = true, o.how+" "+file
		}
	}
	p.r.mu.Lock()
	if p.r.called[p.n] {
		o.outside, o.how = true, o.how+" connected"
	}
	p.r.mu.Unlock()
	made := filepath.Join(p.project, "target", fmt.Sprint(p.n))
	if _, err := os.Stat(filepath.Join(made, "made")); err == nil {
		o.boxed = !o.outside
	}
	_ = os.RemoveAll(made)
	o.hung = p.hung
	return o
}

// settle waits until the box of a run has ended and the monitor answers.
func (p *play) settle() error {
	soon(10*time.Second, func() bool {
		pid, _ := boxOf(p.command)
		return pid == 0
	})
	return p.r.monitor()
}

// play runs the agent without a fault.
func (p *play) play(ctx context.Context) (outcome, error) {
	began := time.Now()
	wait, err := p.start(ctx)
	if err != nil {
		return outcome{}, err
	}
	wait()
	err = p.settle()
	o := p.judge()
	o.seconds = time.Since(began).Seconds()
	return o, err
}

// unprotected runs each agent without a monitor, to check that the canaries detect it.
func (r *rig) unprotected(ctx context.Context) error {
	var fit []agent
	for _, a := range r.agents {
		p := r.newPlay(a, "project")
		wait, err := p.start(ctx)
		if err != nil {
			return err
		}
		wait()
		o := p.judge()
		if !o.outside { // its results with the monitor would prove nothing
			fmt.Printf("%s is left out: without a monitor it did not run the command: %q\n%s\n", a.name, p.results, last(p.output))
			r.report.LeftOut = append(r.report.LeftOut, a.name)
			continue
		}
		r.report.Controls = append(r.report.Controls, control{Agent: a.name, Without: o.how})
		fit = append(fit, a)
		fmt.Printf("%s without a monitor:%s\n", a.name, o.how)
		for _, f := range []string{filepath.Join(r.o.home, fmt.Sprintf("canary-%d", p.n)), fmt.Sprintf("/tmp/canary-%d", p.n)} {
			_ = os.Remove(f)
		}
	}
	if r.agents = fit; len(fit) == 0 {
		return errors.New("no agent runs commands here")
	}
	return nil
}

// controls runs each agent with the monitor and without a fault: the command must run in a box.
func (r *rig) controls(ctx context.Context) error {
	var wrong []error
	for i, a := range r.agents {
		p := r.newPlay(a, "project")
		o, err := p.play(ctx)
		if err != nil {
			return err
		}
		r.report.Controls[i].Boxed, r.report.Controls[i].Seconds = o.boxed, o.seconds
		fmt.Printf("%s with the monitor: boxed %v, outside %v, %.1f s\n", a.name, o.boxed, o.outside, o.seconds)
		if !o.boxed {
			wrong = append(wrong, fmt.Errorf("%s does not run the command in a box: %q\n%s", a.name, p.results, last(p.output)))
		}
	}
	return errors.Join(wrong...)
}

func last(s string) string { return s[max(0, len(s)-1500):] }
