package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

const piName = "pi"

// The extension events of pi 0.73 that our shim forwards.
const (
	piSessionStart = "session_start"
	piInput        = "input"
	piUserBash     = "user_bash"
	piRequest      = "before_provider_request"
	piToolCall     = "tool_call"
	piToolResult   = "tool_result"
	piTurnEnd      = "turn_end"
	piAgentEnd     = "agent_end"
	piShutdown     = "session_shutdown"
)

// pi is the dialect of the shim in integrations/pi, which forwards pi's own events and carries out
// the answer. Every approval is explicit, so that an empty answer is a denial.
type pi struct{}

// piMessage is what the shim sends.
type piMessage struct {
	Event piEvent `json:"event"`
	Ctx   struct {
		Folder  string `json:"cwd"`
		Session string `json:"sessionId"`
		// Entries are the kinds of entries that the session already has.
		Entries []string `json:"entries"`
	} `json:"ctx"`
}

type piEvent struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`

	Text   string            `json:"text"`
	Source string            `json:"source"`
	Images []json.RawMessage `json:"images"`

	Tool    string          `json:"toolName"`
	CallID  string          `json:"toolCallId"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"isError"`

	Hidden bool `json:"excludeFromContext"`

	Tools []string `json:"tools"`

	// About a model call and a round.
	Model        string               `json:"model"`
	Estimate     int                  `json:"tokenEstimate"`
	PromptDigest floodmark.Digest     `json:"promptDigest"`
	Iteration    int                  `json:"iteration"`
	Tokens       floodmark.TokenUsage `json:"tokens"`
	Calls        int                  `json:"calls"`
	GoesOn       bool                 `json:"goesOn"`
}

func (pi) read(req hookframe.Request) (asked, error) {
	var m piMessage
	if err := decode(req, &m); err != nil {
		return asked{}, err
	}
	if m.Event.Type != req.Event {
		return asked{}, fmt.Errorf("the shim sent %s as %s", floodmark.OneLine(m.Event.Type, hookframe.MaxName), floodmark.OneLine(req.Event, hookframe.MaxName))
	}
	ev := hook.Event{Agent: piName}
	var err error
	if ev.Session, err = sessionOf(piName, m.Ctx.Session); err != nil {
		return asked{}, err
	}
	switch m.Event.Type {
	case piSessionStart:
		ev.Point, ev.Project, ev.Home = hook.SessionStart, m.Ctx.Folder, req.Env["HOME"]
		ev.Cause, err = m.cause()
	case piInput:
		err = m.Event.input(&ev)
	case piUserBash:
		m.Event.userBash(&ev)
	case piRequest:
		m.Event.request(&ev)
	case piToolCall:
		ev.Point = hook.BeforeToolCall
		ev.Call, err = m.Event.call()
	case piToolResult:
		ev.Point, ev.Result = hook.AfterToolCall, hook.Result{Text: texts(m.Event.Content), Error: m.Event.IsError}
		ev.Call, err = m.Event.call()
	case piTurnEnd:
		ev.Point, ev.Iteration = hook.LoopIterationEnd, m.Event.Iteration
		ev.Loop = floodmark.Loop{
			Model: m.Event.Model, TokenUsage: m.Event.Tokens, ToolCallsMade: m.Event.Calls,
			NewMessagesAdded: 1 + m.Event.Calls, WillContinue: m.Event.GoesOn,
		}
	case piAgentEnd:
		ev.Point, ev.Audience = hook.BeforeResponseEmit, hook.ToOwner
	case piShutdown:
		ev.Point = hook.SessionEnd
	default:
		err = fmt.Errorf("the event %q of pi is not known", floodmark.OneLine(m.Event.Type, hookframe.MaxName))
	}
	return asked{event: ev}, err
}

// cause returns why a session starts. pi says «startup» also for a continued session, so the
// session's entries decide. A fork is continued, too, because it has a past.
func (m piMessage) cause() (hook.Cause, error) {
	switch m.Event.Reason {
	case "startup", "new":
		if slices.ContainsFunc(m.Ctx.Entries, func(sort string) bool { return !slices.Contains(piSettings(), sort) }) {
			return hook.Resume, nil
		}
		return hook.Startup, nil
	case "reload", "resume", "fork":
		return hook.Resume, nil
	}
	return "", fmt.Errorf("a session starts for the unknown reason %q", floodmark.OneLine(m.Event.Reason, hookframe.MaxName))
}

// piSettings returns the kinds of entries that add nothing to the model's context.
func piSettings() []string { return []string{"model_change", "thinking_level_change"} }

// input sets the event of a message. Only text that was typed into pi's own window is the owner's,
// because a program or another extension may pass on anyone's words.
func (e piEvent) input(ev *hook.Event) error {
	ev.Point, ev.Text, ev.Origin = hook.MessageReceived, e.Text, theOwner(piName)
	if e.Source != "interactive" {
		ev.Origin = floodmark.Origin{Kind: floodmark.FromSender, Name: piName, Sender: floodmark.OneLine(e.Source, hookframe.MaxName)}
	}
	if len(e.Images) > hook.MaxParts {
		return fmt.Errorf("%w: %d pictures", hook.ErrTooLarge, len(e.Images))
	}
	for _, image := range e.Images {
		ev.Parts = append(ev.Parts, hook.Content{
			Kind:   floodmark.NodeInput,
			Origin: floodmark.Origin{Kind: floodmark.FromPaste, Name: "picture"},
			Digest: floodmark.DigestOf(string(image)),
		})
	}
	return nil
}

// request sets the event of a call of the model. The system prompt is sent only as a digest,
// because pi includes files of the project in it, which are not the system's words.
func (e piEvent) request(ev *hook.Event) {
	ev.Point, ev.Loop = hook.BeforeLLMCall, floodmark.Loop{Model: e.Model, TokenEstimate: e.Estimate}
	for _, name := range e.Tools {
		ev.Tools = append(ev.Tools, hook.Tool{Name: name})
	}
	if !e.PromptDigest.IsZero() {
		ev.Messages = []hook.Content{{
			Kind: floodmark.NodeSystemPrompt, Origin: floodmark.Origin{Kind: floodmark.FromSystem}, Digest: e.PromptDigest,
		}}
	}
}

// userBash sets the event of a command that the owner ran. Its output is in the context, although
// no tool_call reported it.
func (e piEvent) userBash(ev *hook.Event) {
	ev.Point = hook.ContextAssembled
	if !e.Hidden {
		ev.Sources = []hook.Content{{
			Kind:   floodmark.NodeToolResult,
			Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "bash"},
		}}
	}
}

func (e piEvent) call() (hook.Call, error) {
	if e.Tool == "" {
		return hook.Call{}, errors.New("the message names no tool")
	}
	return hook.Call{ID: floodmark.CallID(e.CallID), Name: e.Tool, Args: e.Input}, nil
}

// piWithheld replaces a tool's result.
type (
	piText struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	piWithheld struct {
		Content []piText `json:"content"`
		Details struct{} `json:"details"`
		IsError bool     `json:"isError"`
	}
)

// piModel lists the tools to hide from a call of the model. Stop is the reason why the turn ends
// here, or false if it does not.
type piModel struct {
	Hidden  []string `json:"hidden"` // null: all of them
	Stop    any      `json:"stop"`
	Warning string   `json:"warning,omitempty"` // for the system prompt
}

// model returns the answer to a call of the model.
func (a answer) model() piModel {
	if a.why != "" {
		return piModel{Stop: a.reason()}
	}
	return piModel{Hidden: append([]string{}, a.reply.Decision.Hidden...), Stop: false, Warning: a.reply.Warning}
}

func (pi) write(event string, a answer) hookframe.Response {
	switch event {
	case piRequest:
		return tells(a.model())
	case piToolCall:
		return tells(a.call())
	case piInput:
		return tells(a.said())
	case piToolResult:
		if a.why != "" {
			return tells(piWithheld{Content: []piText{{Type: "text", Text: a.reason()}}, IsError: true})
		}
	}
	return a.kept()
}
