package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

const copilotName = "copilot-cli"

// The hook events of Copilot CLI 1.0 that we answer.
const (
	copilotSessionStart  = "sessionStart"
	copilotPrompt        = "userPromptSubmitted"
	copilotPreToolUse    = "preToolUse"
	copilotPermission    = "permissionRequest"
	copilotPostToolUse   = "postToolUse"
	copilotToolFailed    = "postToolUseFailure"
	copilotSubagentStart = "subagentStart"
	copilotSubagentStop  = "subagentStop"
	copilotStop          = "agentStop"
	copilotSessionEnd    = "sessionEnd"
)

// copilot is the dialect of Copilot CLI. Tests with it showed that the call runs, whatever the exit
// status, if a hook is late or prints anything but JSON. An exit status other than 0 stops a call,
// but neither a prompt nor a result. Its messages name neither the event nor the call; our settings
// add the event.
type copilot struct{}

// copilotMessage is what Copilot CLI writes to a hook's standard input.
type copilotMessage struct {
	Session string `json:"sessionId"`
	AgentID string `json:"agentId"`
	Parent  string `json:"parentAgentId"`
	Folder  string `json:"cwd"`
	Source  string `json:"source"`
	Prompt  string `json:"prompt"`
	Answer  string `json:"response"`

	Tool   string          `json:"toolName"`
	Args   json.RawMessage `json:"toolArgs"`
	Result json.RawMessage `json:"toolResult"`
	Error  json.RawMessage `json:"error"`
}

func (copilot) read(req hookframe.Request) (asked, error) {
	var m copilotMessage
	if err := decode(req, &m); err != nil {
		return asked{}, err
	}
	if req.Event == copilotPrompt && m.AgentID != "" {
		return m.spawned()
	}
	ev, err := m.event(req)
	// Copilot CLI starts the hook of the first prompt without waiting for the hook of the session's
	// start.
	return asked{event: ev, afterStart: req.Event == copilotPrompt}, err
}

func (m copilotMessage) event(req hookframe.Request) (hook.Event, error) {
	ev := hook.Event{Agent: copilotName}
	var err error
	if ev.Session, err = m.session(req.Event); err != nil {
		return ev, err
	}
	switch req.Event {
	case copilotSessionStart:
		ev.Point, ev.Project, ev.Home = hook.SessionStart, m.Folder, req.Env["HOME"]
		ev.Cause, err = copilotCause(m.Source)
	case copilotPrompt:
		ev.Point, ev.Text, ev.Origin = hook.MessageReceived, m.Prompt, whoTyped(copilotName, m.Prompt)
	case copilotPreToolUse:
		ev.Point = hook.BeforeToolCall
		ev.Call, err = m.call()
	case copilotPermission:
		// The call was judged at preToolUse, with all its arguments.
		err = errNothing
	case copilotPostToolUse:
		ev.Point, ev.Result = hook.AfterToolCall, m.result()
		ev.Call, err = m.call()
	case copilotToolFailed:
		ev.Point, ev.Result = hook.AfterToolCall, hook.Result{Text: texts(m.Error), Error: true}
		ev.Call, err = m.call()
	case copilotSubagentStart:
		// The prompt follows: see spawned.
		_, err = m.child()
		if err == nil {
			err = errNothing
		}
	case copilotSubagentStop:
		ev.Point, ev.Text = hook.SubagentEnded, m.Answer
		ev.Child, err = m.child()
	case copilotStop:
		ev.Point, ev.Audience = hook.BeforeResponseEmit, hook.ToOwner
		if m.AgentID != "" {
			err = errNothing // subagentStop follows and has the result
		}
	case copilotSessionEnd:
		ev.Point = hook.SessionEnd
	default:
		err = fmt.Errorf("the event %q of Copilot CLI is not known", floodmark.OneLine(req.Event, hookframe.MaxName))
	}
	return ev, err
}

// session returns the session of the agent that acts. A sub-agent has its own. The beginning and
// the end of a sub-agent belong to its parent's session; the parent may be a sub-agent, too.
func (m copilotMessage) session(event string) (floodmark.SessionID, error) {
	switch {
	case event == copilotSubagentStart, event == copilotSubagentStop:
		return m.parent()
	case m.AgentID != "":
		return m.child()
	}
	return sessionOf(copilotName, m.Session)
}

func (m copilotMessage) parent() (floodmark.SessionID, error) {
	if m.Parent == "" {
		return "", errors.New("the message does not say whose sub-agent it is")
	}
	return sessionOf(copilotName, m.Parent)
}

func (m copilotMessage) child() (floodmark.SessionID, error) {
	return sessionOf(copilotName, m.AgentID)
}

// spawned returns a prompt to a sub-agent, written by the model of its parent.
func (m copilotMessage) spawned() (asked, error) {
	parent, err := m.parent()
	if err != nil {
		return asked{}, err
	}
	child, err := m.child()
	return begun(copilotName, parent, child, m.Prompt), err
}

// copilotCause returns why a session starts.
func copilotCause(source string) (hook.Cause, error) {
	switch source {
	case "new", "startup":
		return hook.Startup, nil
	case "resume":
		return hook.Resume, nil
	}
	return "", fmt.Errorf("a session starts for the unknown reason %q", floodmark.OneLine(source, hookframe.MaxName))
}

// call returns the tool call. Its id is derived from the call, so it is the same before and after
// the tool.
func (m copilotMessage) call() (hook.Call, error) {
	if m.Tool == "" {
		return hook.Call{}, errors.New("the message names no tool")
	}
	c := hook.Call{Args: unquoted(m.Args)}
	c.Server, c.Name = copilotTool(m.Tool)
	c.ID = madeID(c)
	return c, nil
}

// copilotGitHub is the server built into Copilot CLI.
const copilotGitHub = "github-mcp-server"

// copilotTool splits the name of a server's tool, server-tool. Copilot's own tools have no hyphen.
// If the server's name has a hyphen, only the part before it is taken, which names no known server
// unless the owner chose that name, too.
func copilotTool(name string) (server, tool string) {
	if tool, ok := strings.CutPrefix(name, copilotGitHub+"-"); ok && tool != "" {
		return copilotGitHub, tool
	}
	if server, tool, ok := strings.Cut(name, "-"); ok && server != "" && tool != "" {
		return server, tool
	}
	return "", name
}

// result returns what the model is shown.
func (m copilotMessage) result() hook.Result {
	var r struct {
		Type string  `json:"resultType"`
		Text *string `json:"textResultForLlm"`
	}
	if json.Unmarshal(m.Result, &r) != nil || r.Text == nil {
		return hook.Result{Text: texts(m.Result)}
	}
	return hook.Result{Text: *r.Text, Error: r.Type != "success"}
}

// The answers of a hook.
type (
	copilotDecision struct {
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	}
	copilotReplaced struct {
		Args json.RawMessage `json:"modifiedArgs"`
	}
	copilotBehavior struct {
		Behavior string `json:"behavior"`
		Message  string `json:"message"`
	}
	copilotWithheld struct {
		Result copilotResult `json:"modifiedResult"`
	}
	copilotResult struct {
		Type string `json:"resultType"`
		Text string `json:"textResultForLlm"`
	}
)

// write prints nothing and exits with status 0 for an approval. Every other answer is explicit.
func (copilot) write(event string, a answer) hookframe.Response {
	ok := hookframe.Response{V: hookframe.Version}
	switch {
	case a.why == "" && event == copilotPrompt && a.reply.Consumed:
		ok.Stdout = object(said{Decision: "block", Reason: a.notice()})
	case a.why == "" && event == copilotPreToolUse && a.args != nil:
		ok.Stdout = object(copilotReplaced{Args: a.args})
	case a.why == "":
	case event == copilotPreToolUse:
		ok.Stdout = object(copilotDecision{Decision: "deny", Reason: a.reason()})
	case event == copilotPermission:
		ok.Stdout = object(copilotBehavior{Behavior: "deny", Message: a.reason()})
	case event == copilotPrompt:
		ok.Stdout = object(said{Decision: "block", Reason: a.reason()})
	case event == copilotPostToolUse:
		ok.Stdout = object(copilotWithheld{copilotResult{Type: "failure", Text: a.reason()}})
	case event == copilotStop, event == copilotSubagentStop:
		// Here a denial would make the agent continue, so it is stopped instead.
		ok.Stderr, ok.Exit = a.reason()+"\n", 1
	default:
		ok.Stderr, ok.Exit = a.reason()+"\n", hookframe.Refused
	}
	return ok
}
