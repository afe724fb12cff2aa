package prove

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// canaryTime is how long one canary may take. A hook's own limit is 15 seconds.
const canaryTime = 25 * time.Second

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 64 << 10

// understood is the monitor's own reason for refusing a canary: a refusal by the hook program or by
// the shell that runs it has another reason.
const understood = "the hook's message was not understood"

// A canary is an agent's message before a tool call, but with no tool, so that the monitor refuses
// it.
type canary struct {
	event, message string
	// refused reports whether an answer is a refusal, and returns its reason.
	refused func(answer) (reason string, no bool)
}

// An answer has the fields that the known agents read in a hook's answer.
type answer struct {
	Specific struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	} `json:"hookSpecificOutput"`
	Decision         string `json:"decision"`
	Reason           string `json:"reason"`
	PermissionWord   string `json:"permissionDecision"`
	PermissionReason string `json:"permissionDecisionReason"`
	Permission       string `json:"permission"`
	AgentMessage     string `json:"agent_message"`
}

func canaryOf(agent string) (canary, bool) {
	specific := func(a answer) (string, bool) {
		return a.Specific.Reason, a.Specific.Event == "PreToolUse" && a.Specific.Decision == "deny"
	}
	switch agent {
	case "claude-code", "codex":
		return canary{"PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"floodmark-canary","cwd":"/","tool_name":"","tool_input":{},"tool_use_id":"canary"}`, specific}, true
	case "copilot-cli":
		return canary{"preToolUse", `{"sessionId":"floodmark-canary","cwd":"/","toolName":"","toolArgs":{}}`, func(a answer) (string, bool) {
			return a.PermissionReason, a.PermissionWord == "deny"
		}}, true
	case "cursor":
		return canary{"preToolUse", `{"hook_event_name":"preToolUse","conversation_id":"floodmark-canary","tool_name":"","tool_input":{}}`, func(a answer) (string, bool) {
			return a.AgentMessage, a.Permission == "deny"
		}}, true
	case "gemini-cli":
		return canary{"BeforeTool", `{"hook_event_name":"BeforeTool","session_id":"floodmark-canary","cwd":"/","tool_name":"","tool_input":{}}`, func(a answer) (string, bool) {
			return a.Reason, a.Decision == "deny"
		}}, true
	}
	return canary{}, false
}

// runCommand runs the hook in an agent's settings with a canary, as the agent would, and checks
// that the answer is the monitor's refusal in the form that the agent reads.
func runCommand(ctx context.Context, agent string, commands, env []string) error {
	c, ok := canaryOf(agent)
	if !ok {
		return fmt.Errorf("%s starts no program", agent)
	}
	command := ""
	for _, line := range commands {
		if strings.Contains(line, " "+agent+" "+c.event) {
			command = line
		}
	}
	if command == "" {
		return fmt.Errorf("no command for %s stands in its settings", c.event)
	}
	ctx, cancel := context.WithTimeout(ctx, canaryTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.WaitDelay = env, "/", strings.NewReader(c.message), time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the hook of %s: %w", c.event, err)
	}
	return c.check(out.Bytes())
}

func (c canary) check(out []byte) error {
	if len(out) > maxAnswer {
		return errors.New("the answer is too long")
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		return errors.New("the answer is no object")
	}
	reason, no := c.refused(a)
	switch {
	case !no:
		return errors.New("the answer is not a no")
	case !strings.Contains(reason, understood):
		return errors.New("the monitor did not answer itself: " + reason)
	}
	return nil
}
