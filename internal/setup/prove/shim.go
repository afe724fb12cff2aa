package prove

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/setup/protect"
)

// askShim is a script for node that loads a shim and calls the function that the agent would call.
//
//go:embed shim.mjs
var askShim string

// A shimAnswer is the monitor's answer to a shim, and the output of askShim.
type shimAnswer struct {
	// Skip is set if this node cannot load the shim.
	Skip   bool   `json:"skip"`
	Block  bool   `json:"block"`
	Reason string `json:"reason"`
}

func (a shimAnswer) check() error {
	switch {
	case !a.Block:
		return errors.New("the answer is not a no")
	case !strings.Contains(a.Reason, understood):
		return errors.New("the monitor did not answer itself: " + a.Reason)
	}
	return nil
}

// shimCanary returns the message of an agent's shim before a tool call, but with no tool, so that
// the monitor refuses it.
func shimCanary(agent string) (event, message string, known bool) {
	switch agent {
	case "openclaw":
		return "before_tool_call", `{"sessionKey":"floodmark","sessionId":"canary","toolName":"","args":{},"toolCallId":"canary"}`, true
	case "opencode":
		return "tool.execute.before", `{"session":{"id":"floodmark-canary"},"servers":[],"tool":"","callID":"canary","args":{}}`, true
	case "pi":
		return "tool_call", `{"event":{"type":"tool_call","toolName":"","toolCallId":"canary","input":{}},"ctx":{"cwd":"/","sessionId":"floodmark-canary","entries":[]}}`, true
	}
	return "", "", false
}

// shim runs the installed shim with node, if there is a node that can load it. The caller has
// already sent a canary as the shim would, and has checked that the shim is ours.
func (r *Result) shim(ctx context.Context, m protect.Machine) error {
	r.Seen = append(r.Seen, "the plugin it loads is ours byte for byte, and the monitor refused a question like the plugin's in the words the plugin obeys")
	node := m.Lookup("node")
	if node == "" {
		r.Untried = append(r.Untried, "the plugin itself was not run by us: there is no node on PATH")
		return nil
	}
	file, err := m.Shim(r.Agent)
	if err != nil {
		return err
	}
	a, err := askByNode(ctx, node, r.Agent, file, variables(m))
	if err == nil && a.Skip {
		r.Untried = append(r.Untried, "the plugin itself was not run by us: the node on PATH reads no TypeScript (22.18 and later do)")
		return nil
	}
	if err == nil {
		err = a.check()
	}
	if err != nil {
		return fmt.Errorf("the plugin, run by node: %w", err)
	}
	r.Seen = append(r.Seen, "the plugin, run by node, reached the monitor and blocked")
	return nil
}

// askItself sends a canary to the monitor as a shim does.
func askItself(ctx context.Context, m protect.Machine, agent string) error {
	event, message, known := shimCanary(agent)
	if !known {
		return fmt.Errorf("no canary is known for %s", agent)
	}
	at, err := socket(m)
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{Timeout: canaryTime}).DialContext(ctx, "unix", at)
	if err != nil {
		return fmt.Errorf("the monitor did not answer itself: %w", err)
	}
	defer conn.Close()
	answer, err := hookframe.Ask(conn, hookframe.Request{
		V: hookframe.Version, Agent: agent, Event: event, Raw: json.RawMessage(message), DeadlineMS: canaryTime.Milliseconds(),
	})
	if err != nil {
		return fmt.Errorf("the monitor did not answer itself: %w", err)
	}
	var a shimAnswer
	if json.Unmarshal([]byte(answer.Stdout), &a) != nil || answer.Exit != 0 {
		return errors.New("the monitor did not answer itself: " + strings.TrimSpace(answer.Stderr))
	}
	return a.check()
}

func askByNode(ctx context.Context, node, agent, file string, env []string) (a shimAnswer, err error) {
	ctx, cancel := context.WithTimeout(ctx, canaryTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "--input-type=module", "-e", askShim, agent, file)
	cmd.Env, cmd.Dir, cmd.WaitDelay = env, "/", time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return a, fmt.Errorf("%w: %s", err, tail(said.String()))
	}
	if out.Len() > maxAnswer || json.Unmarshal(out.Bytes(), &a) != nil {
		return a, errors.New("the answer is no object")
	}
	return a, nil
}
