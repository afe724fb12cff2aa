package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The steps of a call at which something is broken.
const (
	asked    = "1 before the hook answers"
	answered = "2 before the box takes the ticket"
	building = "3 while the box is built"
	running  = "4 while the command runs"
	moving   = "5 while files are moved in"
	resulted = "6 before the result is answered"
)

// stoppedLong is longer than agents wait for a hook by default, or waited under our former
// settings. After such a wait most agents ran the original command.
const stoppedLong = "stop for 26 s"

// A cell is one combination of agent, victim, action and step: one fault.
type cell struct {
	Agent  string `json:"agent"`
	Victim string `json:"victim"`
	Action string `json:"action"`
	Step   string `json:"step"`
}

func (c cell) name() string { return c.Agent + "/" + c.Victim + "/" + c.Action + "/" + c.Step }

// How long something is stopped: for a short time; longer than the hook waits (10 s); longer than
// the shell around the hook waits (15 s); and longer than agents waited (20 s) before our settings
// told them to wait for an hour.
const (
	shortly   = 2 * time.Second
	overHook  = 13 * time.Second
	overShell = 18 * time.Second
	overAgent = 26 * time.Second
	seen      = 25 * time.Second // the time for a step to be reached
)

// cellsOf returns the faults for one agent.
func cellsOf(a agent) (list []cell) {
	add := func(step string, pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, cell{a.name, pairs[i], pairs[i+1], step})
		}
	}
	for _, step := range []string{asked, answered, resulted} {
		add(step, "monitor", "kill", "monitor", "stop", "agent", "kill", "agent", "stop")
		if a.hooked() {
			add(step, "hook", "kill", "hook", "stop")
		}
	}
	for _, step := range []string{building, running, moving} {
		add(step, "box", "kill", "box", "stop", "monitor", "kill", "monitor", "stop", "agent", "kill", "agent", "stop")
	}
	add(building, "inside", "kill")
	add(running, "inside", "kill")
	add(asked, "monitor", "stop over the hook's deadline")
	if a.hooked() {
		add(asked, "hook", "stop over its shell's limit", "hook and its shell", stoppedLong, "hook and its shell", "kill")
		add(answered, "hook and its shell", "kill")
		// As by Ctrl-Z: the agent's clock continues, so the agent finds that its hook is late.
		add(asked, "agent", stoppedLong, "agent and its hook", stoppedLong)
		add(answered, "agent", stoppedLong)
	}
	return list
}

// A fault is a cell that is applied in one play.
type fault struct {
	cell

	p     *play
	names <-chan string
	box   int
	// held are processes that are stopped until the victim is struck, so that the call stays at its
	// step.
	held []int
	done chan bool
}

// faults runs all cells in an order that the seed determines. One session of an agent goes through
// many cells, as long as its calls still get boxes. About every second session runs beside a bomb
// in another session.
func (r *rig) faults(ctx context.Context, match *regexp.Regexp) error {
	queues := make([][]cell, len(r.agents))
	for i, a := range r.agents {
		for _, c := range cellsOf(a) {
			if match.MatchString(c.name()) && (!r.o.small || smallCell(c)) {
				queues[i] = append(queues[i], c)
			}
		}
		r.random.Shuffle(len(queues[i]), func(k, l int) { queues[i][k], queues[i][l] = queues[i][l], queues[i][k] })
		// Faults that agents are known to handle badly come first, because a run may be cut off.
		slices.SortStableFunc(queues[i], func(c, d cell) int {
			return strings.Compare(d.Action[:min(6, len(d.Action))], c.Action[:min(6, len(c.Action))])
		})
	}
	missed := map[cell]int{}
	for left := true; left; {
		left = false
		for i, a := range r.agents {
			if len(queues[i]) == 0 || time.Since(r.began) > r.o.within || ctx.Err() != nil {
				continue
			}
			left = true
			s := &session{r: r, agent: a, queue: queues[i], missed: missed}
			if r.random.IntN(2) == 0 && !r.o.small {
				s.bomb = r.kinds()[1+r.random.IntN(len(r.kinds())-1)] // the first kind is measured by bombs
			}
			if err := s.run(ctx); err != nil {
				return err
			}
			queues[i] = s.queue
		}
	}
	return nil
}

// A session is a session of an agent that goes through cells.
type session struct {
	r      *rig
	agent  agent
	queue  []cell
	missed map[cell]int
	bomb   string

	p     *play
	f     *fault // the current fault; nil if there is none
	names <-chan string
	began time.Time
}

func (s *session) run(ctx context.Context) error {
	r := s.r
	names, stop, err := watch(r.desk.path)
	if err != nil {
		return err
	}
	defer stop()
	s.names = names
	if s.bomb != "" {
		defer r.bombBeside(ctx, s.bomb)()
	}
	s.p = r.newPlay(s.agent, "project")
	s.p.arm, s.p.again = s.arm, func() bool {
		return s.over() && len(s.queue) > 0 && ctx.Err() == nil && time.Since(r.began) < r.o.within
	}
	s.began = time.Now()
	wait, err := s.p.start(ctx)
	if err != nil {
		return err
	}
	wait()
	s.over()
	if s.f == nil && len(s.p.results) == 0 {
		fmt.Printf("     %s made no call: %s\n", s.agent.name, last(s.p.output))
	}
	send(monitors(), syscall.SIGCONT)
	return s.p.settle()
}

// arm begins the next cell. It is called before the model answers with the next call.
func (s *session) arm() {
	s.p.renumber()
	s.f = &fault{cell: s.queue[0], p: s.p, names: s.names, done: make(chan bool, 1)}
	s.queue = s.queue[1:]
	s.f.arm()
}

// over ends the current cell. It reports whether the next cell may follow in the same session.
func (s *session) over() bool {
	f := s.f
	if f == nil {
		return false
	}
	s.f = nil
	applied := false
	select {
	case applied = <-f.done:
	case <-time.After(seen + overAgent):
	}
	soon(10*time.Second, func() bool { pid, _ := boxOf(s.p.command); return pid == 0 })
	settled := s.r.monitor()
	o := s.p.judge()
	o.applied, o.seconds = applied, time.Since(s.began).Seconds()
	s.began = time.Now()
	if !applied && !o.outside && s.missed[f.cell] == 0 {
		s.missed[f.cell]++
		s.queue = append(s.queue, f.cell) // the step was not reached, so it is tried once more in another session
	} else {
		s.r.note(f.cell, o, s.bomb, s.p.results)
	}
	return applied && !o.outside && settled == nil && (f.Victim != "agent" || f.Action != "kill")
}

// note counts a cell and writes the report, because a long run may be cut off.
func (r *rig) note(c cell, o outcome, bomb string, results []string) {
	r.report.add(c, o, bomb)
	fmt.Printf("%4d %s%s: happened %v, boxed %v, outside %v%s, %.1f s\n", r.report.Calls, c.name(), beside(bomb), o.applied, o.boxed, o.outside, o.how, o.seconds)
	if !o.applied && len(results) > 0 {
		fmt.Printf("       %.200q\n", results[len(results)-1])
	}
	r.report.Seconds = int(time.Since(r.began).Seconds())
	if err := r.report.write(r.o.json); err != nil {
		fmt.Println(err)
	}
}

func beside(bomb string) string {
	if bomb == "" {
		return ""
	}
	return " beside a " + bomb + " bomb"
}

// smallCell reports whether the gate runs a cell.
func smallCell(c cell) bool {
	switch c.Victim + " " + c.Action + " " + c.Step[:1] {
	case "hook kill 1", "hook kill 2", "monitor kill 2", "box kill 3", "inside kill 4", "monitor kill 4", "box kill 5", "hook kill 6", "monitor kill 1":
		return true
	}
	return false
}

// arm prepares the fault. It is called before the model answers with the call.
func (f *fault) arm() {
	if f.Step == asked || f.Step == answered {
		send(monitors(), syscall.SIGSTOP)
	}
	go func() { f.done <- f.happen() }()
}

// happen waits for the step and breaks something. It reports whether it could.
func (f *fault) happen() bool {
	p := f.p
	switch f.Step {
	case asked, answered:
		defer func() { send(monitors(), syscall.SIGCONT) }()
		if !f.waitsFor(p.agent.before) {
			return false
		}
		if f.Step == asked {
			return f.strike()
		}
		holder := p.own
		if p.agent.hooked() {
			holder = func() []int { return p.hooks(p.agent.before) }
		}
		f.hold(holder())
		defer send(f.held, syscall.SIGCONT)
		send(monitors(), syscall.SIGCONT)
		if p.r.desk.ticketFor(f.names, p.project, seen) == "" {
			return false
		}
		return f.strike()
	case running:
		return soon(seen, func() bool { return len(f.commands()) > 0 }) && f.strike()
	}
	var ticket string
	if f.box, ticket = takenFor(f.names, p.command, seen); f.box == 0 {
		return false
	}
	if f.Step == building {
		return f.strikeHeld()
	}
	if !appears(f.names, ticket+".over", seen) {
		return false
	}
	if f.Step == moving {
		return f.strikeHeld()
	}
	send(monitors(), syscall.SIGSTOP)
	defer func() { send(monitors(), syscall.SIGCONT) }()
	soon(seen, func() bool { pid, _ := boxOf(p.command); return pid == 0 })
	return f.waitsFor(p.agent.after) && f.strike()
}

// strikeHeld breaks something while the box is stopped.
func (f *fault) strikeHeld() bool {
	f.hold([]int{f.box})
	defer send(f.held, syscall.SIGCONT)
	return f.strike()
}

func (f *fault) hold(list []int) {
	f.held = list
	send(list, syscall.SIGSTOP)
}

// waitsFor waits until the agent has asked the monitor, which is stopped.
func (f *fault) waitsFor(event string) bool {
	if !f.p.agent.hooked() {
		time.Sleep(time.Second) // our code in the agent asks immediately
		return true
	}
	found := soon(seen, func() bool { return len(f.p.hooks(event)) > 0 })
	time.Sleep(100 * time.Millisecond) // time for its request to be sent
	return found
}

// commands returns the processes of the command in its box.
func (f *fault) commands() []int {
	return pids(processes(), func(q process) bool {
		return len(q.argv) == 3 && filepath.Base(q.argv[0]) == "bash" && q.argv[1] == "build.sh" && q.argv[2] == fmt.Sprint(f.p.n)
	})
}

// victims returns the processes to be broken.
func (f *fault) victims() []int {
	p := f.p
	event := p.agent.before
	if f.Step == resulted {
		event = p.agent.after
	}
	switch f.Victim {
	case "monitor":
		return monitors()
	case "agent":
		return p.own()
	case "hook":
		return p.hooks(event)
	case "hook and its shell":
		return p.hookTree(event)
	case "agent and its hook":
		return append(p.own(), p.hookTree(event)...)
	case "box":
		pid, _ := boxOf(p.command)
		return []int{pid}
	case "inside":
		pid, _ := boxOf(p.command)
		return pids(processes(), func(q process) bool { return q.parent == pid })
	}
	return nil
}

// hookTree returns the hook program and the processes through which the agent started it.
func (p *play) hookTree(event string) []int {
	own := map[int]bool{}
	for _, pid := range p.own() {
		own[pid] = true
	}
	parents := map[int]int{}
	for _, q := range below(p.root) {
		parents[q.pid] = q.parent
	}
	var list []int
	for _, pid := range p.hooks(event) {
		for ; pid > 1 && !own[pid]; pid = parents[pid] {
			list = append(list, pid)
		}
	}
	return list
}

// strike kills the victim, or stops it for a while and then continues it.
func (f *fault) strike() bool {
	list := f.victims()
	if len(list) == 0 || list[0] == 0 {
		return false
	}
	goOn := func() {
		send(slices.DeleteFunc(slices.Clone(f.held), func(pid int) bool { return slices.Contains(list, pid) }), syscall.SIGCONT)
		if f.Victim != "monitor" {
			send(monitors(), syscall.SIGCONT)
		}
	}
	if f.Action == "kill" {
		send(list, syscall.SIGKILL)
		goOn()
		return true
	}
	pause := map[string]time.Duration{
		"stop": shortly, "stop over the hook's deadline": overHook, "stop over its shell's limit": overShell, stoppedLong: overAgent,
	}[f.Action]
	send(list, syscall.SIGSTOP)
	goOn()
	time.Sleep(pause)
	send(list, syscall.SIGCONT)
	return true
}
