// Command floodmark-hook is what an agent starts at each of its hooks: it
// hands the agent's message to the daemon and does what the daemon answers.
// It understands neither. If there is no answer it says no, in the way that
// agent obeys.
//
//	floodmark-hook [-socket PATH] [-deadline 10s] AGENT EVENT < message
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/hookframe"
)

// usualDeadline is half of the 20 seconds our settings give an agent's hook: a
// hook that comes late has, to most agents, said yes.
const usualDeadline = 10 * time.Second

// deadlineVariable makes the deadline shorter, never longer: whoever sets an
// agent's variables must not make us come late, which most agents take for a yes.
const deadlineVariable = "FLOODMARK_HOOK_DEADLINE"

// sent names the variables the daemon is told: where home is, which agent this
// is, and how it was started. Nothing secret is among them.
func sent() []string {
	return []string{"HOME", "PWD", "CODEX_HOME", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_ENTRYPOINT", "CURSOR_VERSION"}
}

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)) }

// run is the program. It returns the exit status.
func run(args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	began := time.Now()
	if len(args) == 1 && (args[0] == "-h" || strings.TrimLeft(args[0], "-") == "help") {
		if _, err := io.WriteString(stdout, help); err != nil {
			return hookframe.Refused
		}
		return 0
	}
	o, err := options(args, env)
	var resp hookframe.Response
	if err == nil {
		resp, err = answer(began, o, env, stdin)
	}
	if err != nil {
		resp = refusal(o.agent, o.event, err)
	}
	if _, err := io.WriteString(stdout, resp.Stdout); err != nil && resp.Exit == 0 {
		resp = hookframe.Refuse("the answer could not be given.")
	}
	if _, err := io.WriteString(stderr, resp.Stderr); err != nil && resp.Exit == 0 {
		return hookframe.Refused
	}
	return resp.Exit
}

const (
	usage = "floodmark-hook [-socket PATH] [-deadline 10s] AGENT EVENT < message"
	help  = "Usage: " + usage + `

An agent starts this program at each of its hooks. It hands the agent's message
to the monitor («floodmark serve»), prints what the monitor answers, and exits as
the monitor says. If there is no answer in time it says no, in the way that agent
obeys. People have no use for it: integrations/ holds the settings that call it.

  AGENT            whose hook it is: claude-code, codex, copilot-cli, cursor, gemini-cli
  EVENT            the agent's own word for what happens, such as PreToolUse
  -socket PATH     the monitor's hook.sock, as a full path. Without it the socket is
                   where FLOODMARK_HOOK_SOCKET says, else below XDG_RUNTIME_DIR,
                   XDG_STATE_HOME or HOME: then whoever sets an agent's variables
                   chooses the monitor
  -deadline 10s    how long to wait, at most ` + maxDeadline + `;
                   FLOODMARK_HOOK_DEADLINE can make it shorter

Exit status: what the agent takes for the monitor's answer. Without an answer 0
with a refusal on standard output, 1 where only that ends a turn, or 2.
`
	maxDeadline = "10m"
)

type settings struct {
	agent, event string
	socket       string // empty: by the variables
	deadline     time.Duration
}

func options(args []string, env func(string) string) (settings, error) {
	o := settings{deadline: usualDeadline}
	deadline := ""
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch strings.TrimLeft(args[0], "-") {
		case "deadline":
			deadline = args[1]
		case "socket":
			o.socket = args[1]
		default:
			return o, fmt.Errorf("the option %q is not known; usage: %s", args[0], usage)
		}
		args = args[2:]
	}
	if len(args) != 2 {
		return o, errors.New("usage: " + usage)
	}
	o.agent, o.event = args[0], args[1]
	for i, text := range []string{deadline, env(deadlineVariable)} {
		if text == "" {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > hookframe.MaxWait {
			return o, fmt.Errorf("the deadline %q is none: write it like 10s, at most %s", text, hookframe.MaxWait)
		}
		if i == 0 || d < o.deadline {
			o.deadline = d
		}
	}
	return o, nil
}

// socketPath is where the monitor listens. What the settings say goes before
// what the environment says.
func (o settings) socketPath(env func(string) string) (string, error) {
	return hookframe.SocketPath(func(name string) string {
		if name == hookframe.SocketVariable && o.socket != "" {
			return o.socket
		}
		return env(name)
	})
}

// answer asks the daemon, within the deadline that began with the program.
func answer(began time.Time, o settings, env func(string) string, stdin io.Reader) (hookframe.Response, error) {
	path, err := o.socketPath(env)
	if err != nil {
		return hookframe.Response{}, err
	}
	raw, err := message(began.Add(o.deadline), stdin)
	if err != nil {
		return hookframe.Response{}, err
	}
	ctx, cancel := context.WithDeadline(context.Background(), began.Add(o.deadline))
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return hookframe.Response{}, fmt.Errorf("no daemon answers at %s; start it with «floodmark serve»", path)
	}
	defer conn.Close()
	req := hookframe.Request{
		V: hookframe.Version, Agent: o.agent, Event: o.event, Raw: raw,
		Env: map[string]string{}, DeadlineMS: max(1, left(began, o.deadline).Milliseconds()),
	}
	for _, name := range sent() {
		if v := env(name); v != "" && len(v) <= hookframe.MaxEnvValue {
			req.Env[name] = v
		}
	}
	resp, err := hookframe.Ask(conn, req)
	if err != nil {
		return hookframe.Response{}, fmt.Errorf("the daemon at %s gave no answer: %w", path, err)
	}
	return resp, nil
}

func left(began time.Time, deadline time.Duration) time.Duration {
	return max(time.Millisecond, deadline-time.Since(began))
}

// message reads what the agent says, all of it and in time. Whoever holds
// standard input open without a word must not keep us from saying no.
func message(until time.Time, stdin io.Reader) (json.RawMessage, error) {
	type read struct {
		data []byte
		err  error
	}
	got := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(stdin, hookframe.MaxRequest+1))
		got <- read{data, err}
	}()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case r := <-got:
		data := bytes.TrimSpace(r.data)
		switch {
		case r.err != nil:
			return nil, fmt.Errorf("read the agent's message: %w", r.err)
		case len(r.data) > hookframe.MaxRequest:
			return nil, fmt.Errorf("the agent's message is over %d bytes", hookframe.MaxRequest)
		case !json.Valid(data):
			return nil, errors.New("the agent's message is not JSON")
		}
		return data, nil
	case <-timer.C:
		return nil, errors.New("the agent's message did not come in time")
	}
}
