package floodmark

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// An OriginKind names a kind of place that content comes from. It is a word on the wire; an unknown
// word is kept, and never trusted.
type OriginKind string

// The places content comes from.
const (
	FromSystem     OriginKind = "system"     // prompt, configuration, cron: asserted by the agent's adapter
	FromSender     OriginKind = "sender"     // a person or service writing to the agent
	FromTool       OriginKind = "tool"       // the result of a tool call
	FromModel      OriginKind = "model"      // text the model produced
	FromParent     OriginKind = "parent"     // the session that began this one
	FromChild      OriginKind = "child"      // the result of a sub-agent
	FromHistory    OriginKind = "history"    // a group's history, or a summary after compaction
	FromFile       OriginKind = "file"       // instruction files, skills, attachments, @file
	FromDefinition OriginKind = "definition" // tool definitions and server instructions
	FromPaste      OriginKind = "paste"      // a long run of text the owner pasted
	FromQuote      OriginKind = "quote"      // quoted or forwarded parts of a message
	FromCheckout   OriginKind = "checkout"   // a repository that others wrote, as it was checked out
	FromUnknown    OriginKind = "unknown"    // content at a model call that no earlier event reported
)

// An Origin says where a piece of content came from.
type Origin struct {
	Kind OriginKind `json:"kind,omitempty"`
	// Name is the tool, channel, file or session, by Kind.
	Name string `json:"name,omitempty"`
	// Server is the identity of the tool server; empty for an agent's built-in tool.
	Server string `json:"server,omitempty"`
	// Place is the URL, host or path that was read, when the call names one.
	Place string `json:"place,omitempty"`
	// Sender identifies the author of the content, if the channel does.
	Sender string `json:"sender,omitempty"`
	// IsOwner is true only if the channel verified Sender as the owner.
	IsOwner bool `json:"isOwner,omitempty"`
	// Group is the group or channel where others can write too; empty in a
	// direct conversation.
	Group string `json:"group,omitempty"`
}

// IsZero lets encoders omit an empty Origin.
func (o Origin) IsZero() bool { return o == Origin{} }

// A NodeKind names what a node of the provenance graph stands for. The words
// are the RFC's.
type NodeKind string

// The node kinds of the RFC's graph.
const (
	NodeInput        NodeKind = "input"
	NodeSystemPrompt NodeKind = "system_prompt"
	NodeHistory      NodeKind = "history"
	NodeLLMCall      NodeKind = "llm_call"
	NodeToolCall     NodeKind = "tool_call"
	NodeToolResult   NodeKind = "tool_result"
	NodeOutput       NodeKind = "output"
	NodeDecision     NodeKind = "policy_decision"
)

// A Digest is the SHA-256 of content: enough to recognise it, not to read it.
type Digest [sha256.Size]byte

// DigestOf returns the digest of text.
func DigestOf(text string) Digest { return sha256.Sum256([]byte(text)) }

// IsZero reports whether the digest is unknown.
func (d Digest) IsZero() bool { return d == Digest{} }

func (d Digest) String() string {
	var b [2 * len(d)]byte
	hex.Encode(b[:], d[:])
	return string(b[:])
}

// Short returns the first eight hex digits, for people.
func (d Digest) Short() string { return d.String()[:8] }

// MarshalText writes the digest in hex.
func (d Digest) MarshalText() ([]byte, error) {
	return hex.AppendEncode(make([]byte, 0, 2*len(d)), d[:]), nil
}

// UnmarshalText reads exactly 64 hex digits.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) != 2*len(d) {
		return fmt.Errorf("digest has %d characters, want %d", len(b), 2*len(d))
	}
	var got Digest
	if _, err := hex.Decode(got[:], b); err != nil {
		return fmt.Errorf("digest: %w", err)
	}
	*d = got
	return nil
}
