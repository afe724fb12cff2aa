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
	s, err := guard.Start(t.Context(), c, guard.Options{Agent: "helper"})
	if err != nil {
		t.Fatal(err)
	}
	kill()
	began := time.Now()
	_, err = guard.Tool(s, "send_email", sendEmail)(t.Context(), args{"to": "anna@firm.example", "body": "hello"})
	if no, denied := errors.AsType[*guard.Denied](err); !denied || !strings.Contains(no.Line, "daemon is not running") {
		t.Errorf("got %v", err)
	}
	if err := agent(t.Context(), c, &bytes.Buffer{}); err == nil {
		t.Error("an agent began without a monitor")
	}
	if len(outbox) > 0 || time.Since(began) > 20*time.Second {
		t.Errorf("mail went to %v after %s", outbox, time.Since(began))
	}
}

func TestAResultWithoutADaemonIsWithheld(t *testing.T) {
	c, kill := serve(t)
	s, err := guard.Start(t.Context(), c, guard.Options{Agent: "helper"})
	if err != nil {
		t.Fatal(err)
	}
	fetch := guard.Tool(s, "web_fetch", func(context.Context, args) (string, error) { kill(); return page, nil })
	got, err := fetch(t.Context(), args{"url": "https://news.example/today"})
	if _, withheld := errors.AsType[*guard.Withheld](err); !withheld || got != "" {
		t.Errorf("got %q, %v", got, err)
	}
}
