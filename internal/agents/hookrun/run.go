// Package hookrun runs one hook of an agent: it asks the daemon, starting it if necessary, and does
// what the daemon answers. It understands neither the agent's message nor the answer. Without an
// answer it denies, in the way that this agent obeys. It imports nothing heavy, because it runs
// once per tool call.
package hookrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// Most agents take a late hook for an approval. So the settings run the hook in a shell that ends
// it after 15 s with a denial, while the agent's own limit is an hour, because that also runs while
// the agent is stopped. Without such a shell, the agent waits twice the deadline. A hook whose
// settings allow time for a person is ended after half an hour, and its agent waits at least twice
// as long. That time is an option and not a constant of this program, because the shell of older
// settings would end the program early.
const (
	usualDeadline = 10 * time.Second
	endDeadline   = 1500 * time.Millisecond
)

// deadlineOf returns how long an agent waits at one event.
func deadlineOf(agent, event string) time.Duration {
	switch agent + " " + event {
	case "claude-code SessionEnd", "codex SessionEnd":
		return endDeadline
	}
	return usualDeadline
}

// deadlineVariable can only shorten the deadline. Only the option can lengthen it, because an
// agent's environment must not make its hook late.
const deadlineVariable = "FLOODMARK_HOOK_DEADLINE"

// sent lists the variables that are sent to the daemon: the home folder, which agent this is, how
// it was started. None is secret.
func sent() []string {
	return []string{"HOME", "PWD", "CODEX_HOME", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_ENTRYPOINT", "CURSOR_VERSION"}
}

// An Edge is everything outside of this process that Run uses.
type Edge struct {
	Getenv         func(string) string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// starter starts the daemon. If it is nil, it is that of this process; tests set it.
	starter *starter
}

// Run answers one hook and returns the exit status. name is the program's name.
func Run(name string, args []string, e Edge) int {
	began := time.Now()
	if len(args) == 1 && (args[0] == "-h" || strings.TrimLeft(args[0], "-") == "help") {
		if _, err := io.WriteString(e.Stdout, help(name)); err != nil {
			return hookframe.Refused
		}
		return 0
	}
	o, err := options(name, args, e.Getenv)
	var resp hookframe.Response
	if err == nil {
		resp, err = answer(began, o, e)
	}
	if err != nil {
		resp = refusal(o.agent, o.event, err)
	}
	if _, err := io.WriteString(e.Stdout, resp.Stdout); err != nil && resp.Exit == 0 {
		resp = hookframe.Refuse("the answer could not be given.")
	}
	if _, err := io.WriteString(e.Stderr, resp.Stderr); err != nil && resp.Exit == 0 {
		return hookframe.Refused
	}
	return resp.Exit
}

func usage(name string) string {
	return name + " [-socket PATH] [-deadline 10s] [-person 29m] AGENT EVENT < message"
}

const maxDeadline = "10m"

func help(name string) string {
	return "Usage: " + usage(name) + `

An agent starts this program at each of its hooks. It hands the agent's message
to the monitor («floodmark serve»), prints what the monitor answers, and exits as
the monitor says. If there is no answer in time it says no, in the way that agent
obeys. People have no use for it: «floodmark protect» writes the settings that call
it, and integrations/ holds them.

If no monitor listens where yours does, it starts the «floodmark» that lies
beside it, for your own account and at its usual place only.

  AGENT            whose hook it is: claude-code, codex, copilot-cli, cursor, gemini-cli
  EVENT            the agent's own word for what happens, such as PreToolUse
  -socket PATH     the monitor's hook.sock, as a full path. Without it the socket is
                   where FLOODMARK_HOOK_SOCKET says, else below XDG_RUNTIME_DIR,
                   XDG_STATE_HOME or HOME: then code that sets an agent's variables
                   chooses the monitor
  -deadline 10s    how long to wait, at most ` + maxDeadline + `; FLOODMARK_HOOK_DEADLINE can shorten it
  -person 29m      how long a person may take to answer besides, at most 30m: as long as the
                   monitor says that it still waits for one

Exit status: what the agent takes for the monitor's answer. Without an answer 0
with a refusal on standard output, 1 where only that ends a turn, or 2.
`
}

type settings struct {
	agent, event string
	socket       string // if empty, chosen by the variables
	deadline     time.Duration
	person       time.Duration // how much longer to wait for a person
}

func options(name string, args []string, env func(string) string) (settings, error) {
	o := settings{}
	var deadline, person string
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch strings.TrimLeft(args[0], "-") {
		case "deadline":
			deadline = args[1]
		case "person":
			person = args[1]
		case "socket":
			o.socket = args[1]
		default:
			return o, fmt.Errorf("the option %q is not known; usage: %s", args[0], usage(name))
		}
		args = args[2:]
	}
	if len(args) != 2 {
		return o, errors.New("usage: " + usage(name))
	}
	o.agent, o.event = args[0], args[1]
	o.deadline = deadlineOf(o.agent, o.event)
	var err error
	if deadline != "" {
		if o.deadline, err = parseDeadline(deadline); err != nil {
			return o, err
		}
	}
	if person != "" {
		if o.person, err = time.ParseDuration(person); err != nil || o.person <= 0 || o.person > hookframe.MaxPerson {
			return o, fmt.Errorf("the time %q for a person is none: write it like 20m, at most %s", person, hookframe.MaxPerson)
		}
	}
	if v := env(deadlineVariable); v != "" {
		d, err := parseDeadline(v)
		if err != nil {
			return o, err
		}
		o.deadline, o.person = min(o.deadline, d), min(o.person, d)
	}
	return o, nil
}

func parseDeadline(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > hookframe.MaxWait {
		return 0, fmt.Errorf("the deadline %q is none: write it like 10s, at most %s", s, hookframe.MaxWait)
	}
	return d, nil
}

// socketPath returns the path of the monitor's socket. The option takes precedence over the
// environment.
func (o settings) socketPath(env func(string) string) (string, error) {
	return hookframe.SocketPath(func(name string) string {
		if name == hookframe.SocketVariable && o.socket != "" {
			return o.socket
		}
		return env(name)
	})
}

// answer asks the daemon. The deadline counts from the start of the program.
func answer(began time.Time, o settings, e Edge) (hookframe.Response, error) {
	path, err := o.socketPath(e.Getenv)
	if err != nil {
		return hookframe.Response{}, err
	}
	raw, err := message(began.Add(o.deadline), e.Stdin)
	if err != nil {
		return hookframe.Response{}, err
	}
	ctx, cancel := context.WithDeadline(context.Background(), began.Add(o.deadline))
	defer cancel()
	conn, err := dial(ctx, path)
	if err != nil && nobodyListens(err) {
		s := e.starter
		if s == nil {
			s = thisProcess()
		}
		conn, err = s.start(ctx, path, e.Getenv)
	}
	if err != nil {
		return hookframe.Response{}, fmt.Errorf("no daemon answers at %s (%w); start it with «floodmark serve»", path, err)
	}
	defer conn.Close()
	req := hookframe.Request{
		V: hookframe.Version, Agent: o.agent, Event: o.event, Raw: raw,
		Env: map[string]string{}, DeadlineMS: max(1, left(began, o.deadline).Milliseconds()), PersonMS: o.person.Milliseconds(),
	}
	for _, name := range sent() {
		if v := e.Getenv(name); v != "" && len(v) <= hookframe.MaxEnvValue {
			req.Env[name] = v
		}
	}
	resp, err := hookframe.Ask(conn, req)
	if err != nil {
		return hookframe.Response{}, fmt.Errorf("the daemon at %s gave no answer: %w", path, err)
	}
	return resp, nil
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", path)
}

func left(began time.Time, deadline time.Duration) time.Duration {
	return max(time.Millisecond, deadline-time.Since(began))
}

// message reads all of standard input within the deadline, so that an open input without data does
// not keep the hook from denying.
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
