package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/guard"
	"github.com/floodmark/floodmark/hook"
)

// serve starts a daemon and returns what asks it and what kills it. FLOODMARK
// names the program; without it, it is built.
func serve(t *testing.T) (c *client.Client, kill func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fm") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := os.Getenv("FLOODMARK")
	if program == "" {
		program = filepath.Join(dir, "floodmark")
		build := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", program, "./cmd/floodmark")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	daemon := exec.CommandContext(t.Context(), program, "serve", "--dir", dir, "--policy", "../policy.yaml")
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }
	t.Cleanup(kill)
	socket := filepath.Join(dir, "run", "hook.sock")
	for range 1000 {
		if conn, err := net.Dial("unix", socket); err == nil {
			_ = conn.Close()
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if c, err = client.Dial(socket, client.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, kill
}

func TestTheInjectedPageIsStopped(t *testing.T) {
	outbox = nil
	c, _ := serve(t)
	var out bytes.Buffer
	if err := agent(t.Context(), c, &out); err != nil {
		t.Fatal(err)
	}
	if want := []string{"anna@firm.example"}; !slices.Equal(outbox, want) {
		t.Errorf("mail went to %v, want %v", outbox, want)
	}
	for _, want := range []string{
		"web_fetch: " + page, "read_notes: " + notes, "send_email: sent to anna@firm.example",
		`send_email: floodmark: web_fetch news.example (untrusted)`, "(informed by 1 untrusted web page; blocked: send_email)",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestWithoutADaemonNothingRuns(t *testing.T) {
	outbox = nil
	c, kill := serve(t)
	kill()
	began := time.Now()
	if err := agent(t.Context(), c, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "daemon is not running") {
		t.Errorf("an agent began without a monitor: %v", err)
	}
	if len(outbox) > 0 || time.Since(began) > 20*time.Second {
		t.Errorf("mail went to %v after %s", outbox, time.Since(began))
	}
}

// killer kills the daemon before the third call is decided.
type killer struct {
	*client.Client
	kill func()
	n    int
}

func (k *killer) Handle(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	if ev.Point == hook.BeforeToolCall {
		if k.n++; k.n == 3 {
			k.kill()
		}
	}
	return k.Client.Handle(ctx, ev)
}

func TestADaemonThatDiesEndsTheRun(t *testing.T) {
	outbox = nil
	c, kill := serve(t)
	var out bytes.Buffer
	err := agent(t.Context(), &killer{Client: c, kill: kill}, &out)
	if _, denied := errors.AsType[*guard.Denied](err); !denied || len(outbox) > 0 {
		t.Errorf("mail went to %v, %v", outbox, err)
	}
	if !strings.Contains(out.String(), "read_notes: "+notes) || strings.Contains(out.String(), "send_email: sent") {
		t.Errorf("got\n%s", out.String())
	}
}
