package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/box/contain"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

var program = flag.String("serve", "", "the floodmark program to run as the daemon; without it a monitor in memory is")

// daemon starts the monitor behind the world's socket with the shipped coding profile, and returns
// a function that kills it.
func (w *world) daemon() (kill func()) {
	w.t.Helper()
	if *program != "" {
		return w.served()
	}
	return w.inMemory()
}

// served starts the real program.
func (w *world) served() (kill func()) {
	w.t.Helper()
	policy := w.write("policy.yaml", "version: 1\nprofile: coding\n"+w.rules)
	cmd := exec.CommandContext(w.t.Context(), *program, "serve", "--policy", policy)
	if !w.own {
		cmd.Args = append(cmd.Args, "--dir", filepath.Join(w.home, daemonFolder))
	}
	cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH")}
	output, err := cmd.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	var said bytes.Buffer
	answers, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		found := false
		for r := bufio.NewScanner(output); r.Scan(); {
			said.WriteString(r.Text() + "\n")
			if !found && strings.Contains(r.Text(), "floodmark answers on") {
				found = true
				close(answers)
			}
		}
	}()
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
		if w.t.Failed() {
			w.t.Logf("the daemon said: %s", said.String())
		}
	})
	w.t.Cleanup(kill)
	select {
	case <-answers:
	case <-ended:
		w.t.Fatalf("the daemon ended: %s", said.String())
	}
	return kill
}

// inMemory starts a monitor within the test, which keeps what it receives.
func (w *world) inMemory() (kill func()) {
	w.t.Helper()
	p, problems := policy.Load(policy.Layer{Name: "policy.yaml", Data: []byte("version: 1\nprofile: coding\n" + w.rules)})
	if problems.Failed() {
		w.t.Fatal(problems)
	}
	c, err := catalog.Shipped()
	if err != nil {
		w.t.Fatal(err)
	}
	w.journal = journal.NewMemory()
	var disk monitor.Disk
	if w.boxes != "" {
		disk = workspace.New(workspace.Options{Home: w.home})
	}
	m, err := monitor.New(monitor.Config{
		Disk:      disk,
		Journal:   w.journal,
		Rules:     func() kernel.Rules { return kernel.NewRules(p, c) },
		Key:       func(string) (provenance.Key, error) { return provenance.Key{1}, nil },
		Approvers: []approval.Approver{(*ownChannel)(w)},
		Now:       time.Now,
		NewCode:   func() string { return random()[:8] },
		NewTicket: func() floodmark.TicketID { return floodmark.TicketID(random()) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.monitor = m
	boxes, err := contain.Open(contain.Machine{
		Hooks: m, Journal: w.journal, View: m.View, Files: m.OnFiles, Disk: disk, Program: w.boxes, Paths: config.DirPaths(filepath.Join(w.home, daemonFolder)),
		Rules:  func(journal.Session, floodmark.SessionID) kernel.Rules { return kernel.NewRules(p, c) },
		Proved: func(context.Context, string) bool { return true }, Note: func(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error {
			return m.Note(ctx, s, seen)
		}, Now: time.Now,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	door := agents.Door{Hooks: rewriting{boxes, w.rewrite}, Await: w.await, Native: agents.NewNative(w.native, w.inWindow), Rewrites: agents.NewRewrites()}
	frames, web := hookframe.Split(listen(w.t, w.memorySocket()))
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		_ = hookframe.ServeAll(ctx, frames, func(net.Conn) hookframe.Handler { return w.noting(door.Answer) }, func(err error) { w.t.Log(err) })
	})
	kill = sync.OnceFunc(func() {
		cancel()
		_ = web.Close()
		wait.Wait()
		_ = m.Close()
	})
	w.t.Cleanup(kill)
	return kill
}

// rewriting is a monitor that replaces some commands.
type rewriting struct {
	agents.Hooks

	rewrite func(command string) string
}

// Handle answers as the monitor does, with another command if rewrite returns one.
func (r rewriting) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	reply, err := r.Hooks.Handle(ctx, tenant, ev)
	var args struct {
		Command string `json:"command"`
	}
	if err == nil && r.rewrite != nil && ev.Point == hook.BeforeToolCall && reply.Decision.Verdict == floodmark.Allow &&
		json.Unmarshal(ev.Call.Args, &args) == nil && r.rewrite(args.Command) != args.Command {
		reply.Command = r.rewrite(args.Command)
	}
	return reply, err
}

// inWindow records the owner's answer in the agent itself.
func (w *world) inWindow(ctx context.Context, s journal.Session, t floodmark.TicketID, v floodmark.Verdict, channel string) error {
	verb := approval.Deny
	if v == floodmark.Allow {
		verb = approval.Approve
	}
	w.mu.Lock()
	w.answers = append(w.answers, v)
	w.mu.Unlock()
	_, err := w.monitor.Answer(ctx, s, approval.Command{Verb: verb, Tool: approval.All, Ticket: t, By: "owner", Channel: channel})
	return err
}

// noting keeps the requests of the agent.
func (w *world) noting(h hookframe.Handler) hookframe.Handler {
	return func(ctx context.Context, req hookframe.Request) hookframe.Response {
		resp := h(ctx, req)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told = append(w.told, told{req, resp})
		return resp
	}
}

// events returns the names of the events that the agent reported, in order.
func (w *world) events() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.told {
		list = append(list, t.req.Event)
		if t.resp.Exit != 0 {
			w.t.Errorf("%s %s: %s", t.req.Event, t.req.Raw, t.resp.Stderr)
		}
	}
	return list
}

// incidents returns the incidents that a monitor in memory recorded.
func (w *world) incidents() (kinds []string) {
	w.t.Helper()
	for _, seen := range written[floodmark.IncidentSeen](w) {
		kinds = append(kinds, seen.Kind+": "+seen.Text)
	}
	return kinds
}

// written returns all facts of one kind in the journal of a monitor in memory.
func written[F floodmark.Fact](w *world) (list []F) {
	w.t.Helper()
	for head, err := range w.journal.Recent(w.t.Context(), "") {
		if err != nil {
			w.t.Fatal(err)
		}
		for entry, err := range w.journal.Read(w.t.Context(), head.Session, 0) {
			if err != nil {
				w.t.Fatal(err)
			}
			fact, err := entry.Fact()
			if err != nil {
				w.t.Fatal(err)
			}
			if f, is := fact.(F); is {
				list = append(list, f)
			}
		}
	}
	return list
}

func random() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}
