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

// GatewaySession begins the name of a session that a gateway made up because it was told none.
const GatewaySession = "mcp-"

// An Event is one report of one agent. Fields that a point does not use are ignored there.
//
// Rules for changing it: fields are only added, each optional, and the absence of one must mean the
// safest value.
type Event struct {
	Point   Point               `json:"point"`
	Agent   string              `json:"agent"`
	Session floodmark.SessionID `json:"session"`

	// Cause belongs to session_start. ByPerson says that a person typed or clicked it; without
	// that, Clear is not trusted.
	Cause    Cause `json:"cause,omitempty"`
	ByPerson bool  `json:"byPerson,omitempty"`

	// Project is the folder the agent works in and Home the owner's, at session_start: they resolve
	// relative paths and ~.
	Project string `json:"project,omitempty"`
	Home    string `json:"home,omitempty"`

	// Origin and Text describe a message_received; Parts are what it carries that the sender did
	// not type (quotes, attachments, pasted runs). Text is also the answer at before_response_emit,
	// the prompt at subagent_spawned and the result at subagent_ended. Typed says that the door
	// knows the whole text was typed: pasted text is in Parts.
	Origin floodmark.Origin `json:"origin,omitzero"`
	Text   string           `json:"text,omitempty"`
	Typed  bool             `json:"typed,omitempty"`
	Parts  []Content        `json:"parts,omitempty"`

	// Sources are what a context was assembled from, at context_assembled, and
	// what hosted tools brought inside a response, at after_llm_call.
	Sources []Content `json:"sources,omitempty"`

	// Messages are all that a model call would carry, Tools what it would offer, Iteration the
	// round of the loop, from 0. A door that lists tools but sees no model call gives Tools at
	// context_assembled.
	Messages  []Content `json:"messages,omitempty"`
	Tools     []Tool    `json:"tools,omitempty"`
	Iteration int       `json:"iteration,omitempty"`

	// SystemPrompt is the system prompt of a model call, at before_llm_call and context_assembled:
	// the same as a message of that kind and origin. The Loop is what the agent reports of its
	// loop, at any point.
	SystemPrompt string `json:"systemPrompt,omitempty"`
	floodmark.Loop

	// Calls are the calls that a model response proposes.
	Calls []Call `json:"calls,omitempty"`

	// Call is the call before or after a tool; Result its result.
	Call   Call   `json:"call,omitzero"`
	Result Result `json:"result,omitzero"`

	// Boxes says that the door can run the command of this call in a box: that was proven for this
	// agent and its version, and this machine has a box. The daemon sets it; it is not read from
	// any message.
	Boxes bool `json:"-"`

	// Holes says that such a box can let the command reach hosts that a person granted. Granted are
	// grants for all of its project, and Repository stands for the checkout that lies there; zero
	// if none does, or it is unknown. The daemon sets all three.
	Holes      bool             `json:"-"`
	Granted    []Lasting        `json:"-"`
	Repository floodmark.Digest `json:"-"`

	// Locks are the lock files by which this call installs its project's pinned packages. The door
	// can give those to its box if told to; see [Reply.Mirror]. The daemon sets it.
	Locks []string `json:"-"`

	// Box is how a command in a box ended, at after_tool_call. The daemon sets it.
	Box *BoxEnd `json:"-"`

	// Push is what a push in this call would send, at before_tool_call. The daemon sets it.
	Push *Push `json:"-"`
	// Remote is what «origin» means, where a line may push. It is for display, not for decisions.
	Remote Remote `json:"-"`

	// Patience is how long the call waits for a person, and its question stays open; zero: not
	// longer than for any answer. The daemon sets it.
	Patience time.Duration `json:"-"`

	// Audience says who will read the answer at before_response_emit. More says that the agent
	// continues after it: the turn does not end there.
	Audience Audience `json:"audience,omitempty"`
	More     bool     `json:"more,omitempty"`

	// Gateway says that the event comes from a gateway between the agent and a tool server: the
	// agent's own hook may have reported the same call before.
	Gateway bool `json:"gateway,omitempty"`

	// Retry says that the same event was sent before, perhaps to another node, and got no answer:
	// the earlier decision is returned if it still holds.
	Retry bool `json:"retry,omitempty"`

	// Shared names the tool server that this is about, if the owner lets several sessions share it:
	// its results carry the marks of all sessions that wrote to it. Given says that this session is
	// about to send it something besides a call, at context_assembled.
	Shared string `json:"shared,omitempty"`
	Given  bool   `json:"given,omitempty"`

	// Window describes the window of a gateway's client, at before_tool_call. Nil means that there
	// is none to ask in.
	Window *Window `json:"window,omitempty"`

	// Claims names the session that a gateway's client says it belongs to. It is unproved, and
	// makes nothing less restricted. Caller is the process for which a shared gateway speaks; zero:
	// the one that started it.
	Claims floodmark.SessionID `json:"claims,omitempty"`
	Caller Process             `json:"caller,omitzero"`

	// Child is the sub-agent's session.
	Child floodmark.SessionID `json:"child,omitempty"`
}

// GoesOn reports an answer after which the turn continues.
func (ev *Event) GoesOn() bool { return ev.Point == BeforeResponseEmit && ev.More }

// AllMessages are all that a model call would carry, including the system prompt.
func (ev *Event) AllMessages() []Content { return ev.prompted(ev.Messages) }

// AllSources are the sources of a context, including the system prompt.
func (ev *Event) AllSources() []Content { return ev.prompted(ev.Sources) }

func (ev *Event) prompted(list []Content) []Content {
	if ev.SystemPrompt == "" {
		return list
	}
	prompt := Content{Kind: floodmark.NodeSystemPrompt, Origin: floodmark.Origin{Kind: floodmark.FromSystem}, Text: ev.SystemPrompt}
	return append([]Content{prompt}, list...)
}

// A Window is a client of tool servers that could show a question in its own window. The client
// does not decide whether it may.
type Window struct {
	// Client is the client's name, by its token; empty for the process that started the gateway.
	Client string `json:"client,omitempty"`
	// Ticket is the open question; empty before one is asked. Answer is one of the words below, and
	// Picked what was entered.
	Ticket floodmark.TicketID `json:"ticket,omitempty"`
	Answer string             `json:"answer,omitempty"`
	Picked string             `json:"picked,omitempty"`
}

// The answers of a window. Any other word is no answer.
const (
	Accept  = "accept"
	Decline = "decline"
)

// An Ask is a question for the window of a gateway's client. It has no code: the client is not the
// owner.
type Ask struct {
	// Text is the question in a few lines.
	Text string `json:"text"`
	// Pick says what has to be typed as well, or chosen among some values.
	Pick  string   `json:"pick,omitempty"`
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
	// Text or Digest identify it; Digest is computed from Text if both are given.
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
	// Hints are the server's own annotations. They can only tighten.
	Hints *Hints `json:"hints,omitempty"`
}

// Hints are a tool server's own claims (MCP annotations and _meta.ifc). A missing one makes no
// claim.
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

// A Result is the output of a tool. An error text is content like any other.
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
	// SystemPrompt is the event's with the warning added, at before_llm_call: the agent must use it
	// instead.
	SystemPrompt string `json:"systemPrompt,omitempty"`
	// Text replaces the answer and Footer is added to it, at before_response_emit.
	Text   string `json:"text,omitempty"`
	Footer string `json:"footer,omitempty"`
	// Ticket names the question for a person. The code is not part of a reply, because a reply
	// reaches the model.
	Ticket floodmark.TicketID `json:"ticket,omitempty"`
	// Consumed says that the message was a command to us: it must not be passed on to the model.
	// Notice is the answer to it, for the owner only.
	Consumed bool   `json:"consumed,omitempty"`
	Notice   string `json:"notice,omitempty"`
	// BlockTurn ends the agent's turn.
	BlockTurn bool `json:"blockTurn,omitempty"`
	// Label is the label of a result, at after_tool_call, and Mark the session's new mark; both for
	// a gateway, which passes the first on. Nil is unknown.
	Label *floodmark.Label `json:"label,omitempty"`
	Mark  *floodmark.Label `json:"mark,omitempty"`
	// Ask is the question for the window of a gateway's client, where allowed; the gateway sends
	// the event again with the answer.
	Ask *Ask `json:"ask,omitempty"`
	// Command is what the agent has to run in place of the call's own command, at before_tool_call.
	// A caller that cannot do so must not make the call.
	Command string `json:"command,omitempty"`
	// Hosts are those that the box of an allowed call may let it reach. Only the daemon reads it;
	// it is not sent.
	Hosts []string `json:"-"`
	// Mirror says that the box of an allowed call may get the packages that the event's lock files
	// pin: those files predate the session and are trusted.
	Mirror bool `json:"-"`
	// Tried says that an allowed call may need what no box has, and is tried in one: if it fails
	// for want of a host, its changes are dropped, so that it can be repeated.
	Tried bool `json:"-"`
	// Shown is [Push.With] of the zero digest, if a person approved that push or is being asked
	// about it: then the daemon pushes, and the agent does not.
	Shown floodmark.Digest `json:"-"`
}
