package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/guard"
)

// built is the folder of a program that was built here.
var built string

// program is the daemon that FLOODMARK names; without it, it is built, once.
var program = sync.OnceValues(func() (string, error) {
	if name := os.Getenv("FLOODMARK"); name != "" {
		return name, nil
	}
	dir, err := os.MkdirTemp("", "fm")
	if err != nil {
		return "", err
	}
	built = dir
	name := filepath.Join(dir, "floodmark")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", name, "./cmd/floodmark").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return name, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// serve starts a daemon and returns what asks it and what kills it.
func serve(t *testing.T) (c *client.Client, kill func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fm") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	daemon := exec.CommandContext(t.Context(), name, "serve", "--dir", dir, "--policy", "../policy.yaml")
	said, err := daemon.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }
	t.Cleanup(kill)
	lines := bufio.NewScanner(said)
	for !strings.Contains(lines.Text(), "floodmark answers on") {
		if !lines.Scan() {
			t.Fatal("the daemon ended")
		}
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // until it ends
	if c, err = client.Dial(filepath.Join(dir, "run", "hook.sock"), client.Options{}); err != nil {
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
		`send_email: floodmark: web_fetch news.example (untrusted)`, "(informed by 1 untrusted web page; blocked: send_email, see «floodmark why»)",
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
	_, err = guard.Tool(s, "send_email", sendEmail)(t.Context(), args{"to": "anna@firm.example", "body": "hello"})
	if no, denied := errors.AsType[*guard.Denied](err); !denied || !strings.Contains(no.Line, "daemon is not running") {
		t.Errorf("got %v", err)
	}
	if err := agent(t.Context(), c, &bytes.Buffer{}); err == nil {
		t.Error("an agent began without a monitor")
	}
	if len(outbox) > 0 {
		t.Errorf("mail went to %v", outbox)
	}
	t.Run("a result is withheld", aResultIsWithheld)
}

func aResultIsWithheld(t *testing.T) {
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
