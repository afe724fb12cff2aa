package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A held is a play whose agent is stopped after the monitor's answer and before its box.
type held struct {
	play   *play
	ticket string
	bytes  []byte // of the ticket
	goOn   func() // continues the agent, which takes the ticket
}

// hold runs an agent until its ticket is written and not yet taken.
func (r *rig) hold(ctx context.Context, a agent) (*held, error) {
	p := r.newPlay(a, "project")
	names, stop, err := watch(r.desk.path)
	if err != nil {
		return nil, err
	}
	defer stop()
	got := make(chan *held, 1)
	f := &fault{cell: cell{a.name, "", "", answered}, p: p, names: names}
	p.arm = func() {
		send(monitors(), syscall.SIGSTOP)
		go func() {
			f.waitsFor(a.before)
			stopped := p.own()
			send(stopped, syscall.SIGSTOP)
			send(monitors(), syscall.SIGCONT)
			name := r.desk.ticketFor(names, p.project, seen)
			data, _ := os.ReadFile(filepath.Join(r.desk.path, name+".ticket")) // an empty result is handled below
			got <- &held{play: p, ticket: name, bytes: data, goOn: func() { send(stopped, syscall.SIGCONT) }}
		}()
	}
	wait, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case h := <-got:
		on := h.goOn
		h.goOn = func() { on(); wait() }
		if h.ticket == "" || len(h.bytes) == 0 {
			h.goOn()
			return nil, errors.New("no ticket was written")
		}
		return h, nil
	case <-time.After(2 * seen):
		send(p.own(), syscall.SIGKILL)
		wait()
		return nil, fmt.Errorf("the agent made no call: %q %s", p.results, last(p.output))
	}
}

// box starts floodmark-box as an attacker with the same user would, and returns its exit code.
func (r *rig) box(ctx context.Context, ticket, command string) int {
	cmd := exec.CommandContext(ctx, filepath.Join(r.o.programs, "floodmark-box"), "--ticket", ticket, "--", "/bin/bash", "-c", command)
	cmd.Env, cmd.Dir = r.env(), filepath.Join(r.o.home, "project")
	_ = cmd.Run() // the exit code is returned below
	return cmd.ProcessState.ExitCode()
}

const boxRefused = 125

// tickets tries tickets that are replayed, forged, swapped and late. A ticket that another process
// takes gives a box; without a ticket nothing may run.
func (r *rig) tickets(ctx context.Context, match *regexp.Regexp) error {
	if !match.MatchString("tickets") {
		return nil
	}
	a := r.agents[len(r.agents)-1]
	for _, b := range r.agents {
		if b.name == "pi" {
			a = b
		}
	}
	for _, try := range []func(context.Context, agent) error{r.forged, r.replayed, r.swapped, r.raced, r.late} {
		if err := try(ctx, a); err != nil {
			return err
		}
	}
	for _, t := range r.report.Tickets {
		fmt.Printf("ticket %s: %d tries, %d refused, %d boxed, %d outside\n", t.Try, t.Tries, t.Refused, t.Boxed, t.Outside)
	}
	return nil
}

// tried counts attempts with the ticket of a play.
func (r *rig) tried(what string, p *play, codes ...int) {
	t := ticketCount{Try: what, Tries: len(codes)}
	for _, c := range codes {
		if c == boxRefused {
			t.Refused++
		}
	}
	o := p.judge()
	if o.outside {
		t.Outside++
	}
	if o.boxed {
		t.Boxed++
	}
	r.report.Tickets = append(r.report.Tickets, t)
}

// forged tries tickets made from a waiting one: none at all, under another name, cut off, readable
// by others, as a link, and with a changed content. Afterwards the real ticket is still valid.
func (r *rig) forged(ctx context.Context, a agent) error {
	h, err := r.hold(ctx, a)
	if err != nil {
		return err
	}
	other := strings.Repeat("0", len(h.ticket))
	at := filepath.Join(r.desk.path, other+".ticket")
	changed := bytes.Replace(h.bytes, []byte(h.ticket), []byte(other), 1)
	fakes := []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(at, h.bytes, 0o600) },
		func() error { return os.WriteFile(at, changed[:len(changed)-9], 0o600) },
		func() error { return errors.Join(os.WriteFile(at, changed, 0o600), os.Chmod(at, 0o644)) },
		func() error { return os.Symlink(filepath.Join(r.desk.path, h.ticket+".ticket"), at) },
		func() error {
			return os.WriteFile(at, bytes.Replace(changed, []byte(`"spec":{`), []byte(`"spec":{"network":true,`), 1), 0o600)
		},
	}
	var codes []int
	for _, make := range fakes {
		if err := make(); err != nil {
			return err
		}
		codes = append(codes, r.box(ctx, other, h.play.command))
		for _, ending := range []string{".ticket", ".taken", ".outcome"} {
			_ = os.Remove(filepath.Join(r.desk.path, other+ending))
		}
	}
	r.tried("forged", h.play, codes...)
	// A ticket that a process of the same user writes itself gives a box, and nothing else.
	if err := os.WriteFile(at, changed, 0o600); err != nil {
		return err
	}
	r.tried("written by a process of the same user", h.play, r.box(ctx, other, h.play.command))
	h.goOn()
	return h.play.settle()
}

// replayed uses a ticket again after its box, and also after it was put back.
func (r *rig) replayed(ctx context.Context, a agent) error {
	h, err := r.hold(ctx, a)
	if err != nil {
		return err
	}
	h.goOn()
	first := r.box(ctx, h.ticket, h.play.command)
	if err := os.WriteFile(filepath.Join(r.desk.path, h.ticket+".ticket"), h.bytes, 0o600); err != nil {
		return err
	}
	err = h.play.settle()
	r.tried("replayed, and put back", h.play, first, r.box(ctx, h.ticket, h.play.command))
	_ = os.Remove(filepath.Join(r.desk.path, h.ticket+".ticket")) // it may have been used up
	return err
}

// swapped uses each of two calls' tickets for the other call's command.
func (r *rig) swapped(ctx context.Context, a agent) error {
	one, err := r.hold(ctx, a)
	if err != nil {
		return err
	}
	two, err := r.hold(ctx, a)
	if err != nil {
		one.goOn()
		return err
	}
	codes := []int{r.box(ctx, one.ticket, two.play.command), r.box(ctx, two.ticket, one.play.command)}
	one.goOn()
	two.goOn()
	r.tried("swapped, first call", one.play, codes[0])
	r.tried("swapped, second call", two.play, codes[1])
	return errors.Join(one.play.settle(), two.play.settle())
}

// raced has eight processes and the agent take the same ticket at once: at most one gets a box.
func (r *rig) raced(ctx context.Context, a agent) error {
	h, err := r.hold(ctx, a)
	if err != nil {
		return err
	}
	codes := make([]int, 8)
	var all sync.WaitGroup
	for i := range codes {
		all.Go(func() { codes[i] = r.box(ctx, h.ticket, h.play.command) })
	}
	h.goOn()
	all.Wait()
	err = h.play.settle()
	r.tried("taken by eight and the agent at once", h.play, codes...)
	return err
}

// late stops the agent for longer than a ticket is valid.
func (r *rig) late(ctx context.Context, a agent) error {
	if r.o.small {
		return nil // it takes a minute
	}
	h, err := r.hold(ctx, a)
	if err != nil {
		return err
	}
	time.Sleep(65 * time.Second)
	code := r.box(ctx, h.ticket, h.play.command)
	h.goOn()
	err = h.play.settle()
	r.tried("late", h.play, code)
	return err
}
