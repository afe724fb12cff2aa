package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/wire"
)

// TestMain lets scripts run this binary as other programs: the monitor must be a
// process of its own, and so must an agent, because the monitor looks at who
// asks.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"floodmark-real": main, "post": postMain, "agent": agentMain, "frames": framesMain})
}

// answers waits until a monitor answers.
func (s *scripts) answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers DIR")
	}
	d, err := client.Dial(filepath.Join(ts.MkAbs(args[0]), "run", "owner.sock"), client.Options{})
	ts.Check(err)
	defer d.Close()
	ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
	defer cancel()
	for {
		_, err := d.Owner().Status(ctx, &wire.StatusRequest{})
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			ts.Fatalf("no answer: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// capture keeps a part of what was printed.
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

// postMain sends events as an agent would and prints what it is told.
func postMain() {
	if err := postEvents(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// agentMain is an agent whose shell tries to speak for the owner.
func agentMain() {
	postMain()
	cmd := exec.Command("floodmark-real", os.Args[3:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Run() != nil {
		os.Exit(cmd.ProcessState.ExitCode())
	}
}

func postEvents(socket, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	web := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	for line := range strings.Lines(string(data)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := postEvent(web, line); err != nil {
			return err
		}
	}
	return nil
}

func postEvent(web *http.Client, event string) error {
	r, err := web.Post("http://floodmark"+wire.HookServiceHandleProcedure, "application/json", strings.NewReader(event))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", r.Status, answer)
	}
	fmt.Println(string(bytes.TrimSpace(answer)))
	return nil
}

// A follower is a command that runs beside the script, in this process.
type follower struct {
	cancel   context.CancelFunc
	done     chan struct{}
	code     int
	out, err lockedBuffer
}

// A lockedBuffer is written by a command while a script looks.
type lockedBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type followersKey struct{}

// follow begins a command and waits until it says that it is watching.
func (s *scripts) follow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: follow NAME ARG…")
	}
	ctx, cancel := context.WithCancel(s.ctx)
	f := &follower{cancel: cancel, done: make(chan struct{})}
	ts.Value(followersKey{}).(map[string]*follower)[args[0]] = f
	c := &console{
		stdin: strings.NewReader(""), stdout: &f.out, stderr: &f.err,
		getenv: ts.Getenv, dir: ts.MkAbs("."), build: testBuild(),
	}
	go func() {
		defer close(f.done)
		f.code = run(ctx, c, args[1:])
	}()
	ts.Defer(func() { cancel(); <-f.done })
	for end := time.Now().Add(time.Minute); !strings.Contains(f.err.String(), "watching"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s never began: %s", args[0], f.err.String())
		}
	}
}

// followed ends a command as ctrl-c would, once it has printed what is wanted,
// and shows what it printed.
func (s *scripts) followed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: followed NAME REGEXP")
	}
	f := ts.Value(followersKey{}).(map[string]*follower)[args[0]]
	want := regexp.MustCompile(args[1])
	for end := time.Now().Add(time.Minute); !want.MatchString(f.out.String()); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s never printed %s but\n%s", args[0], want, f.out.String())
		}
	}
	f.cancel()
	<-f.done
	l := ts.Value(lastKey{}).(*last)
	*l = last{code: f.code}
	l.stdout.WriteString(f.out.String())
	fmt.Fprint(ts.Stdout(), f.out.String())
	fmt.Fprint(ts.Stderr(), f.err.String())
}
