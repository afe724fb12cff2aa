package agents

import (
	"maps"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// This file is about the answers that OpenClaw sends, and who reads them.

// openclawAnswers is one part of an answer, before OpenClaw sends it.
type openclawAnswers struct {
	// Here says that the answer goes to where the message came from. More says that the run
	// continues.
	Here bool `json:"here"`
	More bool `json:"more"`
	// Text is the text of the answer. Beside is what else is sent: buttons, names of files. Loads
	// are addresses from which OpenClaw or the chat app may load something.
	Text   string   `json:"text"`
	Beside []string `json:"beside"`
	Loads  []string `json:"loads"`
	// Files are local files that OpenClaw would attach.
	Files []string `json:"files"`
	// Refused is, for each tool, why calls of the run were refused.
	Refused map[string]string `json:"refused"`
}

// alone reports whether only the owner reads an answer sent where the message came from.
func (m openclawSays) alone() bool {
	o := m.origin()
	return m.Channel != "" && o.Kind == floodmark.FromSender && o.IsOwner && o.Group == "" && !m.isChild()
}

func (m openclawSays) audience() hook.Audience {
	if m.Here && m.alone() {
		return hook.ToOwner
	}
	return hook.ToOthers
}

// whole returns everything that is sent, as one text. An address that the receiver's program may
// load is written as an image, because the addresses of images are made inert later. An answer to
// the owner is never stopped, so the texts of Beside are left out of it.
func (m openclawSays) whole() string {
	parts := []string{m.Text}
	if m.audience() != hook.ToOwner {
		parts = append(parts, m.Beside...)
	}
	plain := strings.NewReplacer(" ", "%20", "\t", "%09", "\n", "%0A", "(", "%28", ")", "%29", "[", "%5B", "]", "%5D", "<", "%3C", ">", "%3E")
	for _, place := range m.Loads {
		parts = append(parts, "![file]("+plain.Replace(strings.TrimSpace(place))+")")
	}
	return strings.Join(parts, "\n\n")
}

// attaches reports whether a local file would be sent with the answer. The content of such a file
// was not inspected. Files for others must be sent by a tool, whose call is judged by the file.
func (m openclawSays) attaches() bool {
	return len(m.Files) > 0 || slices.ContainsFunc(m.Beside, func(s string) bool {
		s = strings.ToLower(strings.TrimSpace(s))
		return slices.ContainsFunc([]string{"/", "./", "../", "~", "file:", "data:", `\\`}, func(begin string) bool { return strings.HasPrefix(s, begin) }) ||
			len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
	})
}

// openclawHears answers a message. Alone says that only the owner reads the conversation.
type openclawHears struct {
	shimSays

	Alone bool `json:"alone,omitempty"`
}

// heard returns the answer to a message, before the model is called. In a conversation that others
// can read, it leaves out what is for the owner.
func (a answer) heard() openclawHears {
	m := a.about.openclaw
	out := openclawHears{shimSays: a.said()}
	out.Alone = out.Action == "continue" && m.alone()
	if a.why == "" && a.reply.Consumed && m.shared() {
		out.Notice = "floodmark: done. What there is to say is for the owner alone: write to the agent where nobody else reads."
	}
	return out
}

// openclawCalls answers a call; Why tells the owner why it is refused.
type openclawCalls struct {
	shimCall

	Why string `json:"why,omitempty"`
}

// because returns the reason of a refusal in a few words.
func (a answer) because() string {
	if reasons := a.reply.Decision.Reasons; a.why != "" && len(reasons) > 0 {
		return floodmark.OneLine(reasons[0].Text, maxBecause)
	}
	return ""
}

const maxBecause = 200 // bytes

// openclawSends says whether an answer is sent, and in which form. If Alone is set, only the text
// is sent.
type openclawSends struct {
	Send   bool    `json:"send"`
	Text   *string `json:"text,omitempty"`
	Alone  bool    `json:"alone,omitempty"`
	Reason string  `json:"reason,omitempty"`
}

// sent returns whether and how a part of an answer is sent. Only the owner gets the footer, because
// it would tell others what the agent has read.
func (a answer) sent() openclawSends {
	m, out := a.about.openclaw, openclawSends{Send: true}
	text := m.Text
	if a.why != "" && (!a.failed || a.about.event.Audience != hook.ToOwner) {
		return openclawSends{Reason: a.reason()}
	}
	if a.failed {
		// An answer to the owner is never stopped, but nothing in this one can be loaded.
		text = loadless(m.whole()) + "\n\n(" + a.reason() + ")"
		return openclawSends{Send: true, Text: &text, Alone: len(m.Loads) > 0}
	}
	if changed := a.reply.Text; changed != "" {
		text, out.Alone = changed, len(m.Loads) > 0 || len(m.Beside) > 0 && a.about.event.Audience != hook.ToOwner
	}
	if a.about.event.Audience != hook.ToOwner && m.attaches() {
		if text == "" {
			return openclawSends{Reason: "floodmark: a file of this machine does not go to others with an answer. Send it by a tool, which is judged."}
		}
		out.Text, out.Alone = &text, true
	}
	if a.about.event.Audience == hook.ToOwner && !m.More && text != "" {
		text += a.below(m.Refused)
	}
	if text != m.Text {
		out.Text = &text
	}
	return out
}

// loadless returns a text in which nothing is loaded automatically. It is needed because a verifier
// or an auditor may repeat the refused text in its reason.
func loadless(text string) string { return strings.NewReplacer("![", "[", "<", "‹").Replace(text) }

// below returns the footer of an answer to the owner: its sources, what was blocked and why, and
// where to read more.
func (a answer) below(refused map[string]string) string {
	footer := floodmark.OneLine(strings.ReplaceAll(a.reply.Footer, ", see «floodmark why»", ""), maxReason) // said below, with the session
	if footer == "" {
		return ""
	}
	if !strings.Contains(footer, "blocked: ") {
		return "\n\n(" + footer + ")"
	}
	for _, tool := range slices.Sorted(maps.Keys(refused)) {
		footer += "; " + loadless(floodmark.OneLine(tool, maxBecause)+" because "+floodmark.OneLine(refused[tool], maxBecause))
	}
	return "\n\n(⚠️ " + footer + ". Details: floodmark why " + string(a.about.event.Session) + ")"
}
