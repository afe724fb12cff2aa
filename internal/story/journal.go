package story

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/factjson"
)

// journal returns all sessions' facts, one a line, without times and hashes, so that the text stays
// the same if nothing that matters changed.
func (w *world) journal() string {
	var b strings.Builder
	for _, id := range w.order {
		for i, f := range w.sessions[id].facts {
			fmt.Fprintf(&b, "%s %d %s\n", id, i+1, Describe(f))
		}
	}
	return b.String()
}

// Describe returns a fact as one line that a person can read and a test can compare.
func Describe(f floodmark.Fact) string {
	kind, body, err := factjson.Encode(f)
	if err != nil {
		return err.Error()
	}
	switch f := f.(type) {
	case floodmark.RulesLoaded:
		return kind // its digests change with every word of the shipped rules
	case floodmark.ContentSeen:
		return kind + " " + source(f.Source) + said(f.Text)
	case floodmark.ContentArrived:
		return fmt.Sprintf("%s n%d %s%s", kind, f.Node, f.Label, inputs(f.Inputs, false)) + secrets(f.Secrets) + inBox(f)
	case floodmark.ActionDecided:
		return kind + " " + decided(f)
	case floodmark.SessionForked:
		return fmt.Sprintf("%s of %s%s", kind, f.Parent, list(f.Sources))
	case floodmark.ChildEnded:
		return fmt.Sprintf("%s %s%s", kind, f.Child, list(f.Sources))
	case floodmark.ArtifactRead:
		return fmt.Sprintf("%s %s%s", kind, f.Artifact, list(f.Sources))
	case floodmark.ArtifactWritten:
		return kind + " " + writing(f)
	case floodmark.ArtifactSettled:
		return fmt.Sprintf("%s %s", kind, f.Artifact)
	case floodmark.FilesCleaned:
		return kind + cleanedFiles(f)
	case floodmark.TicketOpened:
		return fmt.Sprintf("%s %s %s until %s", kind, f.Ticket, shown(f.Shown...), f.Expires.Format("15:04:05"))
	case floodmark.TicketExtended:
		return fmt.Sprintf("%s %s %s", kind, f.Ticket, shown(f.Shown))
	case floodmark.GrantGiven:
		s := fmt.Sprintf("%s %s %s %s turn %d", kind, f.Ticket, f.Scope, shown(f.Shown), f.Turn)
		if !f.Until.IsZero() {
			s += " until " + f.Until.Format("15:04:05")
		}
		return s
	case floodmark.ModelAnswered:
		return kind + proposed(f)
	case floodmark.GrantUsed:
		return fmt.Sprintf("%s %s %s", kind, f.Ticket, f.Tool)
	case floodmark.Endorsed:
		return fmt.Sprintf("%s %s to %s by %s", kind, f.Digest.Short(), f.Trust, f.By) + where(f.Session)
	case floodmark.Withdrawn:
		return fmt.Sprintf("%s %s by %s", kind, f.Digest.Short(), f.By) + where(f.Session)
	case floodmark.VerifierAnswered:
		s := fmt.Sprintf("%s %s %s", kind, f.Verifier, f.Verdict)
		if f.Failure != "" {
			s += " " + f.Failure
		}
		return s + fmt.Sprintf(" %q", f.Text)
	case floodmark.OpinionGiven:
		return fmt.Sprintf("%s %s %q", kind, f.Verdict, f.Text)
	default:
	}
	if string(body) == "{}" {
		return kind
	}
	return kind + " " + plain(body)
}

func source(s floodmark.Source) string {
	o := s.Origin
	from := string(o.Kind)
	for _, part := range []string{o.Server, o.Name, o.Place, o.Sender} {
		if part != "" {
			from += ":" + part
		}
	}
	if o.Group != "" {
		from += " in " + o.Group
	}
	text := fmt.Sprintf("n%d %s %s %s%s", s.Node, s.Kind, from, s.Label, inputs(s.Inputs, s.Whole))
	for _, p := range s.Via {
		text += " via " + p.Artifact.String() + " of " + string(p.Session)
	}
	if s.Call != "" {
		text += " announced"
	}
	return text + secrets(s.Secrets)
}

func secrets(list []floodmark.SecretSpan) string {
	text := ""
	for _, s := range list {
		text += fmt.Sprintf(" secret %s@%d-%d", s.Rule, s.Start, s.End)
	}
	return text
}

func writing(f floodmark.ArtifactWritten) string {
	text := fmt.Sprintf("%s from before n%d", f.Artifact, f.Nodes)
	if f.Whole {
		text += " as a whole"
	}
	return text
}

// where returns in which session the owner decided something.
func where(s floodmark.SessionID) string {
	if s == "" {
		return ""
	}
	return " in " + string(s)
}

func inputs(nodes []floodmark.NodeID, whole bool) string {
	if whole {
		return " from everything before"
	}
	if len(nodes) == 0 {
		return ""
	}
	return " from " + strings.Trim(fmt.Sprint(nodes), "[]")
}

func said(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" said %q", text)
}

func decided(f floodmark.ActionDecided) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", f.Action.Kind)
	if f.Action.Tool.Name != "" {
		fmt.Fprintf(&b, " %s %v", f.Action.Tool, f.Action.Effects)
	}
	for _, a := range f.Action.Arguments {
		fmt.Fprintf(&b, " %s:%s:%s:%s", a.Path, a.Role, a.Whence, a.Trust)
	}
	fmt.Fprintf(&b, " at %s", f.Mark)
	if f.Basis != nil {
		for _, l := range f.Basis.Loads {
			fmt.Fprintf(&b, " loads %s %s", l.Artifact, l.Label)
		}
	}
	if f.Trust != f.Mark.Trust {
		fmt.Fprintf(&b, " trust %s", f.Trust)
	}
	fmt.Fprintf(&b, " -> %s", Answer(f.Decision))
	if f.Decision.Reach == floodmark.Boxed && !f.Decision.Contained() {
		b.WriteString(" boxed")
	}
	for _, r := range f.Decision.Reasons {
		if r.Rule != "" {
			fmt.Fprintf(&b, " [%s %s]", r.Rule, r.Verdict)
		}
	}
	if len(f.Decision.Blame) > 0 {
		fmt.Fprintf(&b, " blame %v", f.Decision.Blame)
	}
	if f.Basis != nil {
		for _, c := range f.Basis.Carried {
			b.WriteString(" carries " + c.Rule)
			if c.Seen {
				fmt.Fprintf(&b, "@n%d:%d-%d", c.Node, c.Start, c.End)
			}
		}
	}
	if f.Decision.Would != "" {
		b.WriteString(" would " + f.Decision.Would)
	}
	return b.String()
}

func proposed(f floodmark.ModelAnswered) string {
	var b strings.Builder
	for _, p := range f.Calls {
		fmt.Fprintf(&b, " %s=%s", p.Call, p.Tool)
	}
	if f.Hosted {
		b.WriteString(" hosted")
	}
	return b.String()
}

func list(sources []floodmark.Source) string {
	var b strings.Builder
	for _, s := range sources {
		b.WriteString(" (" + source(s) + ")")
	}
	return b.String()
}

func shown(all ...floodmark.Shown) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = s.Tool.String() + "@" + s.Mark.String()
		if s.Pattern != "" {
			words[i] += fmt.Sprintf(" pattern %q", s.Pattern)
		}
		if !s.Pick.IsZero() {
			words[i] += " to be picked"
		}
	}
	return strings.Join(words, ", ")
}

// plain drops the quotes of small JSON objects, which only hinder reading.
func plain(body []byte) string {
	var m map[string]any
	if json.Unmarshal(body, &m) != nil {
		return string(body)
	}
	return strings.NewReplacer(`"`, "", "{", "", "}", "", ",", " ").Replace(string(body))
}

// cleanedFiles returns the paths of cleaned files, and by whom they were cleaned.
func cleanedFiles(f floodmark.FilesCleaned) (s string) {
	for _, file := range f.Files {
		s += " " + file.Path
	}
	if f.Done {
		s += " done"
	}
	return s + " by " + f.By
}

// inBox returns the words for a call that failed in its box, with what it wanted there.
func inBox(f floodmark.ContentArrived) string {
	if !f.BoxFailed {
		return ""
	}
	return strings.TrimRight(" failed in its box "+strings.Join(append(slices.Clip(f.Wanted), f.NotKept...), " "), " ")
}
