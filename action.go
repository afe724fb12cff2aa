package floodmark

import "strings"

// SessionID names one conversation of one agent, across turns and restarts.
type SessionID string

// NodeID names one source inside a session's provenance graph, from 0.
type NodeID int

// CallID names one tool call, as the agent names it.
type CallID string

// An ActionKind names a kind of step that an agent can take.
type ActionKind string

// The steps that need a decision.
const (
	CallModel  ActionKind = "call-model"
	CallTool   ActionKind = "call-tool"
	SendReply  ActionKind = "send-reply"
	SpawnAgent ActionKind = "spawn-agent"
)

// An Effect says what a tool does to the world.
// Smaller is safer: the zero value is [Admin], the effect we guard most.
type Effect uint8

// The seven effects, from the most guarded to the least.
const (
	Admin   Effect = iota // changes the agent, its schedule, its instructions, or this monitor
	Run                   // runs arbitrary code
	Send                  // reaches other people or services
	Change                // deletes, or alters records that others rely on
	Write                 // creates or edits files and notes, so that it can be undone
	Fetch                 // reads over the network
	Observe               // nothing leaves, nothing changes
)

func effectWords() words {
	return words{"admin", "run", "send", "change", "write", "fetch", "observe"}
}

func (e Effect) String() string { return effectWords().word(int(e)) }

// ParseEffect reads an effect's word. With an error it returns [Admin].
func ParseEffect(word string) (Effect, error) {
	n, err := effectWords().index("effect", word)
	return Effect(n), err
}

// MarshalText writes the effect's word, the only form that leaves the process.
func (e Effect) MarshalText() ([]byte, error) { return effectWords().marshal(int(e)) }

// UnmarshalText reads an effect's word and refuses every other text.
func (e *Effect) UnmarshalText(b []byte) (err error) {
	*e, err = ParseEffect(string(b))
	return err
}

// A ToolRef names a tool: by the agent it is built into, or by the server that
// offers it. A name alone never identifies a tool.
type ToolRef struct {
	Agent  string `json:"agent,omitempty"`
	Server string `json:"server,omitempty"`
	Name   string `json:"name"`
}

func (t ToolRef) String() string {
	if t.Server != "" {
		return t.Server + "/" + t.Name
	}
	return t.Name
}

// Program returns the part of an agent's name before the first slash: «openclaw» for
// «openclaw/work». Without a slash it is the whole name. Rules for a program apply to all its
// agents.
func Program(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	return name
}

// IsOf reports whether a name in the rules covers an agent, as the name of the agent or of its
// program.
func IsOf(agent, name string) bool { return agent == name || Program(agent) == name }

// An Action is what an agent wants to do next, as it is recorded: without the content of its
// arguments, which may be any foreign text.
type Action struct {
	Kind ActionKind `json:"kind"`
	// Call, Tool, Effects and Arguments describe a CallTool.
	Call      CallID     `json:"call,omitempty"`
	Tool      ToolRef    `json:"tool,omitzero"`
	Effects   []Effect   `json:"effects,omitempty"`
	Arguments []Argument `json:"arguments,omitempty"`
	// ArgsDigest identifies the exact arguments.
	ArgsDigest Digest `json:"argsDigest,omitzero"`
	// Tools are the tools offered to the model; set for CallModel.
	Tools []string `json:"tools,omitempty"`
	// Iteration is the round of the agent's loop; set for CallModel and CallTool.
	Iteration int `json:"iteration,omitempty"`
	// Audience says who would read a SendReply.
	Audience string `json:"audience,omitempty"`
	// Child is the session a SpawnAgent would begin.
	Child SessionID `json:"child,omitempty"`
}
