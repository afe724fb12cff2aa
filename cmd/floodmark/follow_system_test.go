package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/wire"
)

// answers waits until a monitor answers. There is no sign that a program which a script started is
// ready, so answers asks again and again as long as such a program runs.
func (s *scripts) answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers DIR")
	}
	d, err := client.Dial(filepath.Join(ts.MkAbs(args[0]), "run", "owner.sock"), client.Options{})
	ts.Check(err)
	defer d.Close()
	for {
		gone := allGone(ts)
		_, err := d.Owner().Status(s.ctx, &wire.StatusRequest{})
		if err == nil {
			return
		}
		if gone || s.ctx.Err() != nil {
			ts.Fatalf("no answer: %v", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// allGone reports whether the script started programs and none of them runs any more.
func allGone(ts *testscript.TestScript) bool {
	programs := ts.BackgroundCmds()
	for _, p := range programs {
		if !errors.Is(syscall.Kill(p.Process.Pid, 0), syscall.ESRCH) {
			return false
		}
	}
	return len(programs) > 0
}

// until runs a program again and again until its output matches.
func (s *scripts) until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP PROGRAM ARG…")
	}
	want := regexp.MustCompile(args[0])
	for {
		ts.Check(ts.Exec(args[1], args[2:]...))
		switch text := ts.ReadFile("stdout"); {
		case want.MatchString(text):
			return
		case s.ctx.Err() != nil:
			ts.Fatalf("it still says %s", text)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// capture sets a variable to a part of the last standard output.
func (*scripts) capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEXP")
	}
	m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) != 2 {
		ts.Fatalf("nothing like %s", args[1])
	}
	ts.Setenv(args[0], m[1])
}

// A follower is a command that runs beside the script, in this process.
type follower struct {
	cancel   context.CancelFunc
	over     context.Context // done when the command has ended
	code     int
	out, err lockedBuffer
}

type followersKey struct{}

// follow begins a command and waits until it says that it is watching.
func (s *scripts) follow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: follow NAME ARG…")
	}
	ctx, cancel := context.WithCancel(s.ctx)
	over, ended := context.WithCancel(context.Background())
	f := &follower{cancel: cancel, over: over}
	ts.Value(followersKey{}).(map[string]*follower)[args[0]] = f
	c := &cli.Console{
		Stdin: strings.NewReader(""), Stdout: &f.out, Stderr: &f.err,
		Getenv: ts.Getenv, Dir: ts.MkAbs("."), Build: testBuild(), Shipped: shippedOnce,
	}
	go func() {
		defer ended()
		f.code = run(ctx, c, args[1:])
	}()
	ts.Defer(func() { cancel(); <-over.Done() })
	if !f.err.until(over, func(text string) bool { return strings.Contains(text, "watching") }) {
		ts.Fatalf("%s never began: %s", args[0], f.err.String())
	}
}

// followed waits until a command has printed a text, ends it as ctrl-c does, and shows what it
// printed.
func (s *scripts) followed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: followed NAME REGEXP")
	}
	f := ts.Value(followersKey{}).(map[string]*follower)[args[0]]
	want := regexp.MustCompile(args[1])
	if !f.out.until(f.over, want.MatchString) {
		ts.Fatalf("%s never printed %s but\n%s", args[0], want, f.out.String())
	}
	f.cancel()
	<-f.over.Done()
	l := ts.Value(lastKey{}).(*last)
	*l = last{code: f.code}
	l.stdout.WriteString(f.out.String())
	fmt.Fprint(ts.Stdout(), f.out.String())
	fmt.Fprint(ts.Stderr(), f.err.String())
}
