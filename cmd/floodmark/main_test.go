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
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/floodmark/floodmark/wire"
)

// TestMain lets scripts run this binary as other programs. The monitor and an agent must be
// processes of their own, because the monitor checks which process asks.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"floodmark-real": main, "post": postMain, "agent": agentMain, "frames": framesMain})
}

// postMain sends events as an agent does, and prints the answers.
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
	web := &http.Client{Transport: &http.Transport{
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

func TestMainIsTiny(t *testing.T) {
	text := readOptional("main.go")
	if n := strings.Count(text, "\n"); n == 0 || n > 60 {
		t.Errorf("main.go has %d lines; commands belong into files of their own", n)
	}
}
