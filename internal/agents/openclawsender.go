package agents

import (
	"cmp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// The sender, as OpenClaw's host reports it; its prompts are not consulted.

// openclawSender is what is known about the author of a run.
type openclawSender struct {
	Trigger  string `json:"trigger"`
	JobID    string `json:"jobId"`
	Channel  string `json:"channel"`
	ChatID   string `json:"chatId"`
	SenderID string `json:"senderId"`
	IsOwner  bool   `json:"senderIsOwner"`
	// IsGroup says whether others write there too; nil if not reported.
	IsGroup    *bool              `json:"isGroup"`
	Provenance openclawProvenance `json:"provenance"`
}

// openclawProvenance is OpenClaw's own report of where an input is from. Many messages of people
// lack it.
type openclawProvenance struct {
	Kind   string          `json:"kind"`
	Tool   string          `json:"sourceTool"`
	Origin string          `json:"originSessionId"`
	Source openclawSession `json:"source"`
}

// OpenClaw's words for that.
const (
	openclawPerson = "external_user"
	openclawOther  = "inter_session"
	openclawItself = "internal_system"
)

// origin is the channel table: the owner alone with the agent, the owner among others, another
// sender, an unknown one, and OpenClaw itself if it says so.
func (m openclawSays) origin() floodmark.Origin {
	unknown := floodmark.Origin{Kind: floodmark.FromUnknown, Name: floodmark.OneLine(cmp.Or(m.Trigger, "a run"), 40) + " of unknown origin"}
	switch {
	case slices.Contains([]string{"cron", "heartbeat"}, m.Trigger):
		// It is configuration only if no session wrote it.
		p := m.Provenance
		if p.Kind == openclawItself && p.Tool == "" && p.Origin == "" && p.Source == (openclawSession{}) {
			return floodmark.Origin{Kind: floodmark.FromSystem, Name: m.Trigger, Place: floodmark.OneLine(m.JobID, 128)}
		}
		return unknown
	case m.Trigger != "user", m.Provenance.Kind != "" && m.Provenance.Kind != openclawPerson:
		return unknown
	case m.Channel == "" && m.SenderID == "" && m.ChatID == "" && m.IsOwner:
		return theOwner(openclawName) // at a terminal of this machine
	}
	return floodmark.Origin{
		Kind: floodmark.FromSender, Name: floodmark.OneLine(cmp.Or(m.Channel, openclawName), 64), Sender: floodmark.OneLine(m.SenderID, 128),
		IsOwner: m.IsOwner && m.SenderID != "", Group: m.group(),
	}
}

// group is the conversation that others write to as well; empty if it is known to be between two.
func (m openclawSays) group() string {
	if m.IsGroup != nil && !m.shared() {
		return ""
	}
	return floodmark.OneLine(cmp.Or(m.ChatID, "unknown"), 128)
}

// shared reports whether others are known to write there too.
func (m openclawSays) shared() bool {
	return m.IsGroup != nil && *m.IsGroup || strings.Contains(m.Key, ":group:") || strings.Contains(m.Key, ":channel:")
}
