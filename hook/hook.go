// Package hook holds what agents report and what we answer: the one normal form every agent's own
// hook format is translated into. It makes no decisions; it refuses what is too large or not
// understood.
package hook

import (
	"encoding/json"
	"time"

	"github.com/floodmark/floodmark"
)

// A Point is a place in an agent's loop where it reports to us. The words are the RFC's and go on
// the wire as they are.
type Point string

// The points of an agent's loop, in the order they occur.
const (
	SessionStart       Point = "session_start"
	MessageReceived    Point = "message_received"
	ContextAssembled   Point = "context_assembled"
	LoopIterationStart Point = "loop_iteration_start"
	BeforeLLMCall      Point = "before_llm_call"
	AfterLLMCall       Point = "after_llm_call"
	BeforeToolCall     Point = "before_tool_call"
	AfterToolCall      Point = "after_tool_call"
	LoopIterationEnd   Point = "loop_iteration_end"
	BeforeResponseEmit Point = "before_response_emit"
	SubagentSpawned    Point = "subagent_spawned"
	SubagentEnded      Point = "subagent_ended"
	SessionEnd         Point = "session_end"
)

// Points returns every point, in order.
func Points() []Point {
	return []Point{
		SessionStart, MessageReceived, ContextAssembled, LoopIterationStart, BeforeLLMCall, AfterLLMCall,
		BeforeToolCall, AfterToolCall, LoopIterationEnd, BeforeResponseEmit, SubagentSpawned, SubagentEnded, SessionEnd,
	}
}

// A Cause says why a session starts.
type Cause string

// The causes of a session start. An empty cause is a new session.
const (
	Startup Cause = "startup" // a new session
	Resume  Cause = "resume"  // the same session goes on
	Clear   Cause = "clear"   // the context was emptied
	Compact Cause = "compact" // the context was summarised
)

// GatewaySession is the prefix of session names made up by a gateway whose client gave none.
const GatewaySession = "mcp-"

// An Event is one report of one agent. Fields that a point does not use are ignored at that point.
//
// Rules for changing it: fields are only added, and each new field is optional. A missing field
// must mean its safest value.
type Event struct {
	Point   Point               `json:"point"`
	Agent   string              `json:"agent"`
	Session floodmark.SessionID `json:"session"`

	// Cause is set at session_start.
	Cause Cause `json:"cause,omitempty"`
	// ByPerson says that a person typed or clicked the cause. Without it, Clear is not trusted.
	ByPerson bool `json:"byPerson,omitempty"`

	// Project is the folder the agent works in, and Home is the owner's home folder. Both are set
	// at session_start and resolve relative paths and ~.
	Project string `json:"project,omitempty"`
	Home    string `json:"home,omitempty"`

	// Origin and Text describe a message_received. Text is also the answer at before_response_emit,
	// the prompt at subagent_spawned and the result at subagent_ended.
	Origin floodmark.Origin `json:"origin,omitzero"`
	Text   string           `json:"text,omitempty"`
	// Typed says that the agent's adapter knows that all of Text was typed.
	Typed bool `json:"typed,omitempty"`
	// Parts are the parts of a message that the sender did not type: quotes, attachments, pasted
	// text.
	Parts []Content `json:"parts,omitempty"`

	// Sources are what a context was assembled from, at context_assembled, and
	// what hosted tools brought inside a response, at after_llm_call.
	Sources []Content `json:"sources,omitempty"`

	// Messages are all messages that a model call would send.
	Messages []Content `json:"messages,omitempty"`
	// Tools are the tools that a model call would offer. An adapter that lists tools but sees no
	// model calls reports them at context_assembled.
	Tools []Tool `json:"tools,omitempty"`
	// Iteration is the round of the agent's loop, from 0.
	Iteration int `json:"iteration,omitempty"`

	// SystemPrompt is the system prompt of a model call, at before_llm_call and context_assembled.
	// It is treated like a message of that kind and origin.
	SystemPrompt string `json:"systemPrompt,omitempty"`
	// Loop is what the agent reports of its loop, at any point.
	floodmark.Loop

	// Calls are the calls that a model response proposes.
	Calls []Call `json:"calls,omitempty"`

	// Call is the tool call, at before_tool_call and after_tool_call.
	Call Call `json:"call,omitzero"`
	// Result is the result of Call, at after_tool_call.
	Result Result `json:"result,omitzero"`

	// Boxes says that the agent's adapter can run the command of this call in a box: this was
	// proven for the agent and its version, and this machine can make a box. Like all fields
	// without a JSON name, it is set by the daemon and never read from a message.
	Boxes bool `json:"-"`

	// Holes says that such a box can let the command reach hosts that a person granted.
	Holes bool `json:"-"`
	// Granted are the grants for the whole project of the session.
	Granted []Lasting `json:"-"`
	// Repository identifies the checkout in the project. It is zero if the project is no checkout,
	// or if that is unknown.
	Repository floodmark.Digest `json:"-"`

	// Locks are the lock files by which this call installs its project's pinned packages. The
	// packages can be put into the box; see [Reply.Mirror].
	Locks []string `json:"-"`

	// Box describes how a command in a box ended, at after_tool_call.
	Box *BoxEnd `json:"-"`

	// Push is what a push in this call would send, at before_tool_call.
	Push *Push `json:"-"`
	// Remote is what «origin» means, if the command line may push. It is only displayed and does
	// not affect decisions.
	Remote Remote `json:"-"`

	// Patience is how long the call waits for a person and keeps its question open. If it is zero,
	// the call waits no longer than for any other reply.
	Patience time.Duration `json:"-"`

	// Audience says who will read the answer, at before_response_emit.
	Audience Audience `json:"audience,omitempty"`
	// More says that the agent continues after the answer, so the turn does not end.
	More bool `json:"more,omitempty"`

	// Gateway says that the event comes from a gateway between the agent and a tool server. The
	// agent's own hook may have reported the same call before.
	Gateway bool `json:"gateway,omitempty"`

	// Retry says that the same event was sent before, perhaps to another node, and got no answer.
	// The earlier decision is returned if it is still valid.
	Retry bool `json:"retry,omitempty"`

	// Shared names the tool server that the event is about, if the owner lets several sessions
	// share it. The results of a shared server get the marks of all sessions that wrote to it.
	Shared string `json:"shared,omitempty"`
	// Given says that this session is about to send the shared server something other than a call,
	// at context_assembled.
	Given bool `json:"given,omitempty"`

	// Window describes the window of a gateway's client, at before_tool_call. Nil means that no
	// question can be asked in a window.
	Window *Window `json:"window,omitempty"`

	// Claims names the session that a gateway's client says it belongs to. The claim is not proved
	// and never makes a decision less strict.
	Claims floodmark.SessionID `json:"claims,omitempty"`
	// Caller is the process for which a shared gateway sends the event. If it is zero, the caller
	// is the process that started the gateway.
	Caller Process `json:"caller,omitzero"`

	// Child is the sub-agent's session.
	Child floodmark.SessionID `json:"child,omitempty"`
}

// GoesOn reports whether the event is an answer after which the turn continues.
func (ev *Event) GoesOn() bool { return ev.Point == BeforeResponseEmit && ev.More }

// AllMessages returns all messages of a model call, including the system prompt.
func (ev *Event) AllMessages() []Content { return ev.prompted(ev.Messages) }

// AllSources returns the sources of a context, including the system prompt.
func (ev *Event) AllSources() []Content { return ev.prompted(ev.Sources) }

func (ev *Event) prompted(list []Content) []Content {
	if ev.SystemPrompt == "" {
		return list
	}
	prompt := Content{Kind: floodmark.NodeSystemPrompt, Origin: floodmark.Origin{Kind: floodmark.FromSystem}, Text: ev.SystemPrompt}
	return append([]Content{prompt}, list...)
}

// A Window is an MCP client that can show a question in its own window. The monitor, not the
// client, decides whether it does.
type Window struct {
	// Client is the client's name, by its token; empty for the process that started the gateway.
	Client string `json:"client,omitempty"`
	// Ticket is the open question; empty before a question is asked.
	Ticket floodmark.TicketID `json:"ticket,omitempty"`
	// Answer is [Accept] or [Decline]; any other word is no answer.
	Answer string `json:"answer,omitempty"`
	// Picked is the value that the person entered, if the question asks for one.
	Picked string `json:"picked,omitempty"`
}

// The answers of a window.
const (
	Accept  = "accept"
	Decline = "decline"
)

// An Ask is a question for the window of a gateway's client. It contains no one-time approval code,
// because the client is not the owner.
type Ask struct {
	// Text is the question in a few lines.
	Text string `json:"text"`
	// Pick says what the person must also type or choose.
	Pick string `json:"pick,omitempty"`
	// Among are the values to choose from; empty if the value must be typed.
	Among []string `json:"among,omitempty"`
}

// A Process is a program on the monitor's machine: its id, and its start time in the system's own
// ticks.
type Process struct {
	PID   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"`
}

// A Content is one piece of an agent's context.
type Content struct {
	Kind   floodmark.NodeKind `json:"kind"`
	Origin floodmark.Origin   `json:"origin,omitzero"`
	// Text or Digest identifies the content. With a Text, Digest is ignored.
	Text   string           `json:"text,omitempty"`
	Digest floodmark.Digest `json:"digest,omitzero"`
	// Trust is the agent's own opinion. It can only lower ours.
	Trust string `json:"trust,omitempty"`
}

// ContentDigest returns the digest that identifies c.
func (c Content) ContentDigest() floodmark.Digest {
	if c.Text != "" {
		return floodmark.DigestOf(c.Text)
	}
	return c.Digest
}

// A Tool is one tool offered to the model.
type Tool struct {
	Server string `json:"server,omitempty"`
	Name   string `json:"name"`
	// Hints are the server's own annotations. They can only make a decision stricter.
	Hints *Hints `json:"hints,omitempty"`
}

// Hints are a tool server's own claims (MCP annotations and _meta.ifc). A missing field claims
// nothing.
type Hints struct {
	ReadOnly    *bool  `json:"readOnly,omitempty"`
	Destructive *bool  `json:"destructive,omitempty"`
	OpenWorld   *bool  `json:"openWorld,omitempty"`
	Trust       string `json:"trust,omitempty"`
	Secrecy     string `json:"secrecy,omitempty"`
}

// A Call is one tool call.
type Call struct {
	ID     floodmark.CallID `json:"id,omitempty"`
	Server string           `json:"server,omitempty"`
	Name   string           `json:"name"`
	Args   json.RawMessage  `json:"args,omitempty"`
	Hints  *Hints           `json:"hints,omitempty"`
}

// IsZero lets encoders omit an empty Call.
func (c Call) IsZero() bool {
	return c.ID == "" && c.Server == "" && c.Name == "" && c.Args == nil && c.Hints == nil
}

// A Result is the output of a tool. The text of an error is treated like any other content.
type Result struct {
	Text   string           `json:"text,omitempty"`
	Digest floodmark.Digest `json:"digest,omitzero"`
	Error  bool             `json:"error,omitempty"`
}

// ContentDigest returns the digest that identifies r.
func (r Result) ContentDigest() floodmark.Digest {
	if r.Text != "" {
		return floodmark.DigestOf(r.Text)
	}
	return r.Digest
}

// An Audience says who reads an answer. The zero value is the widest.
type Audience string

// The audiences of an answer.
const (
	ToOthers Audience = ""      // others than the owner may read it
	ToOwner  Audience = "owner" // the owner alone
)

// A Reply is what the agent must do. The zero Reply blocks.
type Reply struct {
	Decision floodmark.Decision `json:"decision"`
	// Calls are the decisions on the calls of an after_llm_call, in order.
	Calls []floodmark.Decision `json:"calls,omitempty"`
	// Line explains a refusal in one line: source, argument, action, remedy.
	Line string `json:"line,omitempty"`
	// Warning may be shown to the model before its next call.
	Warning string `json:"warning,omitempty"`
	// SystemPrompt is the event's system prompt with the warning added, at before_llm_call. The
	// agent must use it instead of its own system prompt.
	SystemPrompt string `json:"systemPrompt,omitempty"`
	// Text replaces the answer, and Footer is added at its end, at before_response_emit.
	Text   string `json:"text,omitempty"`
	Footer string `json:"footer,omitempty"`
	// Ticket names the question for a person. The code is not part of a reply, because a reply
	// reaches the model.
	Ticket floodmark.TicketID `json:"ticket,omitempty"`
	// Consumed says that the message was a command to us. It must not be passed on to the model.
	Consumed bool `json:"consumed,omitempty"`
	// Notice is the answer to such a command, for the owner only.
	Notice string `json:"notice,omitempty"`
	// BlockTurn ends the agent's turn.
	BlockTurn bool `json:"blockTurn,omitempty"`
	// Label is the label of a result, at after_tool_call. A gateway passes it on with the result.
	// Nil means unknown.
	Label *floodmark.Label `json:"label,omitempty"`
	// Mark is the session's new mark, for a gateway. Nil means unknown.
	Mark *floodmark.Label `json:"mark,omitempty"`
	// Ask is the question for the window of a gateway's client, if it may be asked there. The
	// gateway sends the event again with the answer.
	Ask *Ask `json:"ask,omitempty"`
	// Command is what the agent has to run in place of the call's own command, at before_tool_call.
	// A caller that cannot do so must not make the call.
	Command string `json:"command,omitempty"`
	// Hosts are the hosts that the box of an allowed call may let it reach. Only the daemon reads
	// them; they are not sent.
	Hosts []string `json:"-"`
	// Mirror says that the box of an allowed call may get the packages that the event's lock files
	// pin, because the session did not write these files and they are trusted enough.
	Mirror bool `json:"-"`
	// Tried says that an allowed call is tried in a box although it may need a host that the box
	// cannot reach. If it fails for that reason, its changes are dropped, so that it can be
	// repeated.
	Tried bool `json:"-"`
	// Shown identifies the push ([Push.With] of the zero digest) that a person approved or is being
	// asked about; zero if there is none. The daemon makes this push, and the agent does not.
	Shown floodmark.Digest `json:"-"`
}
