package agents

import (
	"cmp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// This file finds the sender of a message from what OpenClaw's host reports, not from its prompts.

// openclawSender is what is known about the author of a run.
type openclawSender struct {
	Trigger  string `json:"trigger"`
	JobID    string `json:"jobId"`
	Channel  string `json:"channel"`
	ChatID   string `json:"chatId"`
	SenderID string `json:"senderId"`
	IsOwner  bool   `json:"senderIsOwner"`
	// IsGroup says whether others also write in the conversation; nil if that was not reported.
	IsGroup    *bool              `json:"isGroup"`
	Provenance openclawProvenance `json:"provenance"`
}

// openclawProvenance is OpenClaw's own report of where an input came from. Many messages of people
// come without it.
type openclawProvenance struct {
	Kind   string          `json:"kind"`
	Tool   string          `json:"sourceTool"`
	Origin string          `json:"originSessionId"`
	Source openclawSession `json:"source"`
}

// The values of [openclawProvenance.Kind].
const (
	openclawPerson = "external_user"
	openclawOther  = "inter_session"
	openclawItself = "internal_system"
)

// origin returns the origin of a message: the owner alone with the agent, the owner among others,
// another sender, an unknown sender, or OpenClaw itself if OpenClaw says so.
func (m openclawSays) origin() floodmark.Origin {
	unknown := floodmark.Origin{Kind: floodmark.FromUnknown, Name: floodmark.OneLine(cmp.Or(m.Trigger, "a run"), 40) + " of unknown origin"}
	switch {
	case slices.Contains([]string{"cron", "heartbeat"}, m.Trigger):
		// A schedule is the owner's configuration only if no session wrote it.
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

// group returns the conversation if others may write in it as well; empty if it is known to be
// between two.
func (m openclawSays) group() string {
	if m.IsGroup != nil && !m.shared() {
		return ""
	}
	return floodmark.OneLine(cmp.Or(m.ChatID, "unknown"), 128)
}

// shared reports whether others are known to write in the conversation, too.
func (m openclawSays) shared() bool {
	return m.IsGroup != nil && *m.IsGroup || strings.Contains(m.Key, ":group:") || strings.Contains(m.Key, ":channel:")
}
