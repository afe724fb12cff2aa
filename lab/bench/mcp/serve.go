package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serve starts a gateway and connects to it over HTTP.
func (b *bench) serve(ctx context.Context) (way, error) {
	config := filepath.Join(b.Dir, "gateway.yaml")
	text := fmt.Sprintf("servers:\n  - {name: echo, command: %q, args: [-play, server]}\n", b.self)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return way{}, err
	}
	create := exec.CommandContext(ctx, b.floodmark, "fleet", "token", "create", "bench")
	create.Env = b.Env
	token, err := create.Output()
	if err != nil {
		return way{}, fmt.Errorf("make a token: %w", err)
	}
	cmd := exec.CommandContext(ctx, b.floodmark, "mcp", "serve", "--config", config, "--listen", "127.0.0.1:0")
	cmd.Env = b.Env
	said, err := cmd.StderrPipe()
	if err != nil {
		return way{}, err
	}
	if err := cmd.Start(); err != nil {
		return way{}, err
	}
	end := func() error { return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()) }
	url := ""
	for lines := bufio.NewScanner(said); url == "" && lines.Scan(); {
		_, url, _ = strings.Cut(lines.Text(), "MCP clients on ")
	}
	web := &http.Client{Transport: shows{"Bearer " + strings.TrimSpace(string(token)), &http.Transport{MaxIdleConnsPerHost: many}}}
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: web}, nil)
	if err == nil {
		_, err = session.ListTools(ctx, nil)
	}
	if err != nil {
		return way{}, errors.Join(fmt.Errorf("serve: %w", err), end())
	}
	return way{ClientSession: session, cmd: cmd, prefix: "echo__", end: end}, nil
}

// shows adds a token to every request.
type shows struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (s shows) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", s.token)
	return s.next.RoundTrip(r)
}
