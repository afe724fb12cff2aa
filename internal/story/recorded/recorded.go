// Package recorded writes a story from the facts of a session, for a person who wants to keep what
// happened as a test. Facts hold no content, so a result is written as words of ours with the
// values that later calls took from it. The story is played, and what it answers otherwise is
// noted.
package recorded

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/story"
	"github.com/floodmark/floodmark/kernel/replay"
)

// The limits of a story that is written.
const (
	maxLines  = 400     // a person reads it
	maxText   = 2_000   // characters of a message
	maxPolicy = 512_000 // bytes of the policy in it
	maxNotes  = 20
)

// A Story is a session as a story.
type Story struct {
	Text string
	// Plays is set if every answer in it is the one that was given.
	Plays bool
	// Notes say what differs from the session.
	Notes []string
}

// Tell writes the story of a session. policy is the text of the policy that the story contains; if
// it is empty, the story uses the shipped profile. The facts end with the decision that the story
// is about.
func Tell(session string, facts []replay.Recorded, policy string, shipped *catalog.Catalog) Story {
	w := &writer{taken: taken(facts), ids: map[floodmark.CallID]string{}, nodes: map[floodmark.NodeID]string{}}
	for _, f := range facts {
		w.take(f.Fact)
		if len(w.lines) > 2*maxLines {
			w.shorten()
		}
	}
	w.shorten()
	ar := &txtar.Archive{Comment: []byte(title(session))}
	if policy != "" && w.holds(policy) {
		ar.Files = append(ar.Files, txtar.File{Name: "policy", Data: []byte(strings.TrimRight(policy, "\n") + "\n")})
	}
	ar.Files = append(ar.Files, txtar.File{Name: "story", Data: []byte(w.text())})
	out := Story{Text: string(txtar.Format(ar))}
	out.Text, out.Plays = w.play(out.Text, shipped)
	out.Notes = w.notes
	return out
}

func title(session string) string {
	return "What session " + floodmark.OneLine(session, 200) + " did, written from its journal.\n\n" +
		"The journal keeps no content: what a tool returned stands here in other words. Make it\nsay what matters, and change the answers to those that you want.\n\n"
}

// taken returns, for each source, the values that later calls took from it.
func taken(facts []replay.Recorded) map[floodmark.NodeID][]string {
	of := map[floodmark.NodeID][]string{}
	for _, f := range facts {
		d, ok := f.Fact.(floodmark.ActionDecided)
		if !ok {
			continue
		}
		for _, a := range d.Action.Arguments {
			for _, s := range a.Spans {
				if a.Shown != "" && !slices.Contains(of[s.Node], a.Shown) {
					of[s.Node] = append(of[s.Node], a.Shown)
				}
			}
		}
	}
	return of
}

// A writer writes the lines of a story.
type writer struct {
	lines []line
	begin int // how many lines begin the session
	notes []string
	taken map[floodmark.NodeID][]string
	ids   map[floodmark.CallID]string
	nodes map[floodmark.NodeID]string // the id of the call that announced a source
	calls int
	asked string // the id of the last call that was asked about
}

// A line is one line of a story.
type line struct {
	text string
	call string // the id of the call that the line makes; empty: none
	of   string // the id of the call that the line belongs to; empty: none
}

func (w *writer) line(format string, words ...any) {
	w.lines = append(w.lines, line{text: fmt.Sprintf(format, words...)})
}

// lineOf writes a line that belongs to an earlier call.
func (w *writer) lineOf(call, format string, words ...any) {
	w.lines = append(w.lines, line{text: fmt.Sprintf(format, words...), of: call})
}

// shorten keeps the beginning of the session and the last lines, which lead to the decision that the
// story is about. Lines that belong to a call which is left out are left out, too.
func (w *writer) shorten() {
	if len(w.lines) <= maxLines {
		return
	}
	w.note("the session is longer than %d lines: only its beginning and its last lines are written, so the answers may differ", maxLines)
	kept, made := slices.Clone(w.lines[:w.begin]), map[string]bool{}
	for _, l := range w.lines[len(w.lines)-(maxLines-w.begin):] {
		if l.of == "" || made[l.of] {
			kept = append(kept, l)
		}
		made[l.call] = true
	}
	w.lines = kept
}

func (w *writer) text() string {
	var b strings.Builder
	for _, l := range w.lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// last returns the id of the last call.
func (w *writer) last() string { return fmt.Sprint("c", w.calls) }

func (w *writer) note(format string, words ...any) {
	text := fmt.Sprintf(format, words...)
	if len(w.notes) < maxNotes && !slices.Contains(w.notes, text) {
		w.notes = append(w.notes, text)
	}
}

// holds reports whether a story can contain a policy.
func (w *writer) holds(policy string) bool {
	if len(policy) > maxPolicy || partLine.MatchString(policy) {
		w.note("the policy cannot stand in a story; the shipped profile is used")
		return false
	}
	return true
}

var partLine = regexp.MustCompile(`(?m)^-- .* --`)

// take writes the lines of one fact.
func (w *writer) take(f floodmark.Fact) {
	switch f := f.(type) {
	case floodmark.SessionOpened:
		w.start(f.Agent, f.Project, f.Home)
	case floodmark.SessionForked:
		w.note("it is a sub-agent's session; what it inherited is left out")
		w.start(f.Agent, f.Project, f.Home)
	case floodmark.ContentSeen:
		w.seen(f)
	case floodmark.ContentArrived:
		if id := w.nodes[f.Node]; id != "" {
			w.result(id, f.Node)
		}
	case floodmark.ActionDecided:
		w.decided(f)
	case floodmark.TicketAnswered:
		switch f.Verdict {
		case floodmark.Allow:
			w.lineOf(w.asked, "approve")
		case floodmark.Restrict:
			w.lineOf(w.asked, "deny")
		default:
		}
	case floodmark.Endorsed, floodmark.Withdrawn:
		w.note("content was trusted or distrusted by its digest, which a story cannot do")
	case floodmark.ChildSpawned:
		w.note("a sub-agent was started; it is left out")
	case floodmark.SessionClosed:
		w.line("end")
	default:
	}
}

// bare says which names can stand in a line without quotation marks.
var bare = regexp.MustCompile(`^[\w./:@+~-]+$`)

func (w *writer) start(agent, project, home string) {
	if bare.MatchString(agent) {
		w.line("agent %s", agent)
	}
	line := "start"
	for _, p := range [][2]string{{"project", project}, {"home", home}} {
		if bare.MatchString(p[1]) {
			line += " " + p[0] + "=" + p[1]
		} else if p[1] != "" {
			w.note("the %s folder is left out, because its name cannot stand in a story", p[0])
		}
	}
	w.line("%s", line)
	if w.begin == 0 {
		w.begin = len(w.lines)
	}
}

// seen writes a message, or the result of a call.
func (w *writer) seen(f floodmark.ContentSeen) {
	if f.Call != "" {
		w.nodes[f.Node] = w.ids[f.Call]
		return // it is announced, and its content comes later
	}
	switch f.Origin.Kind {
	case floodmark.FromSender:
		text := f.Text
		if text == "" {
			text = w.words("a message", f.Node)
		}
		if f.Origin.IsOwner && f.Origin.Group == "" {
			w.line("owner %s", escaped(text))
			return
		}
		if origin, err := json.Marshal(f.Origin); err == nil {
			w.line("from %s %s", origin, escaped(text))
		}
	case floodmark.FromTool:
		if w.calls > 0 {
			w.result("", f.Node)
		}
	case floodmark.FromModel, floodmark.FromSystem:
	default:
		w.note("content of the kind %q is left out", f.Origin.Kind)
	}
}

func (w *writer) result(id string, n floodmark.NodeID) {
	text := escaped(w.words("what it returned", n))
	if i := strings.LastIndex(id, " "); i >= 0 {
		w.lineOf(id[:i], "result #%s %s %s", id[:i], id[i+1:], text)
		return
	}
	w.lineOf(w.last(), "returns %s", text)
}

// words returns words for content that was not kept, with the values that were taken from it.
func (w *writer) words(what string, n floodmark.NodeID) string {
	return floodmark.Shorten(strings.Join(append([]string{"(" + what + ")"}, w.taken[n]...), " "), maxText)
}

// escaped writes a text on one line.
func escaped(text string) string {
	text = strings.NewReplacer(`\n`, `\\n`, "\r\n", `\n`, "\n", `\n`, "\r", " ").Replace(floodmark.Shorten(strings.TrimSpace(text), maxText))
	if strings.Contains(text+" ", " -> ") {
		text += " -> allow"
	}
	return text
}

// decided writes a call with the answer that it got.
func (w *writer) decided(f floodmark.ActionDecided) {
	switch f.Action.Kind {
	case floodmark.CallTool:
		w.calls++
		id := w.last()
		tool := f.Action.Tool.String()
		if !bare.MatchString(tool) {
			w.note("a call is left out, because the name of its tool cannot stand in a story")
			return
		}
		w.ids[f.Action.Call] = id + " " + tool
		text := fmt.Sprintf("call #%s %s %s -> %s", id, tool, w.arguments(f.Action.Arguments), story.Answer(f.Decision))
		w.lines = append(w.lines, line{text: text, call: id})
		if f.Decision.Verdict == floodmark.Confirm {
			w.asked = id
		}
	case floodmark.SendReply:
		verb := "publish"
		if f.Action.Audience == "" || f.Action.Audience == "owner" {
			verb = "reply"
		}
		w.line("%s (an answer) -> %s", verb, story.Answer(f.Decision))
	default:
	}
}

// arguments returns the arguments of a call as JSON.
func (w *writer) arguments(list []floodmark.Argument) string {
	args := map[string]any{}
	for _, a := range list {
		if a.Path == floodmark.CommandAddress {
			continue
		}
		value := a.Shown
		if value == "" {
			value = "(content)"
		}
		if strings.ContainsAny(a.Path, ".[") {
			w.note("nested arguments are written at the top: %s", a.Path)
		}
		args[a.Path] = value
	}
	data, err := json.Marshal(args)
	if err != nil {
		return "{}"
	}
	return string(data)
}

// play plays a story, puts the answers that came into the lines that were answered otherwise, and
// reports whether there were none.
func (w *writer) play(text string, shipped *catalog.Catalog) (string, bool) {
	res, err := story.Play("story.txtar", []byte(text), shipped)
	if err != nil {
		w.note("it cannot be played as it is: %s", floodmark.OneLine(err.Error(), 300))
		return text, false
	}
	lines := strings.Split(text, "\n")
	for _, m := range res.Mistakes {
		i := strings.LastIndex(lines[m.Line-1], " -> ")
		if i < 0 {
			w.note("line %d: %s", m.Line, floodmark.OneLine(m.Got, 300))
			continue
		}
		w.note("line %d was answered %q, and is answered %q here", m.Line, m.Want, floodmark.OneLine(m.Got, 120))
	}
	return strings.Join(lines, "\n"), res.OK()
}
