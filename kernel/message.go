package kernel

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/rules/lull"
)

// A message of at least this size is taken as pasted, not typed. People seldom type so much in one
// message, but they do paste mails and pages.
const (
	pastedRunes = 400
	pastedLines = 5
)

// messageReceived takes in what a sender wrote. Only what the verified owner writes in a
// conversation with nobody else is a stated word or a command to us.
func (st *step) messageReceived() error {
	o := st.ev.Origin
	label := st.r.Policy.Classify(o)
	if label.Trust == floodmark.Owner && o.Kind == floodmark.FromSender && st.s.Parent == "" {
		cmd, err := approval.ParseCommand(st.ev.Text)
		if err == nil {
			cmd.By, cmd.Channel, cmd.Typed = o.Sender, o.Name, true
			st.out.Reply.Consumed = true
			return st.command(cmd)
		}
		if !errors.Is(err, approval.ErrNotCommand) {
			st.out.Reply.Consumed = true
			st.out.Reply.Notice = err.Error()
			return nil
		}
		if st.saidBefore(digestOf(st.ev.Text)) {
			return nil
		}
		st.openTurn()
		if st.pause != (floodmark.Pause{}) {
			st.out.Reply.Notice = lull.Notice(st.pause)
		}
		st.ownerSays(o, label)
		st.parts()
		return nil
	}
	if st.burn(st.ev.Text) && o.IsOwner {
		st.out.Reply.Consumed = true
		st.out.Reply.Notice = "Commands count only in a direct conversation. That code was seen by others and is void; try again."
		return nil
	}
	digest := digestOf(st.ev.Text)
	if st.saidBefore(digest) {
		return nil
	}
	st.openTurn()
	st.groupHistory(o)
	inputs := st.carriedBy(o, digest)
	st.see(floodmark.Source{Kind: floodmark.NodeInput, Origin: o, Label: label, Digest: digest, Inputs: inputs}, st.ev.Text)
	st.parts()
	return nil
}

// ownerSays keeps what the owner typed. A pasted run is a source of its own.
func (st *step) ownerSays(o floodmark.Origin, label floodmark.Label) {
	f := floodmark.ContentSeen{Text: st.ev.Text}
	f.Source = floodmark.Source{Kind: floodmark.NodeInput, Origin: o, Label: label, Digest: digestOf(st.ev.Text)}
	if !st.pasted() {
		st.seeAs(f, "")
		return
	}
	f.Text = ""
	f.Origin.Kind, f.Label = floodmark.FromPaste, floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private}
	st.seeAs(f, st.ev.Text)
}

// parts adds the parts of a message that its sender did not type.
func (st *step) parts() {
	for _, c := range st.ev.Parts {
		st.content(c)
	}
}

// content takes in one announced piece of context, unless it is known already.
func (st *step) content(c hook.Content) {
	digest := c.ContentDigest()
	if !digest.IsZero() && st.known(digest) {
		return
	}
	st.burn(c.Text)
	src := floodmark.Source{Kind: c.Kind, Origin: c.Origin, Label: st.speaker(c.Origin), Digest: digest}
	if src.Kind == "" {
		src.Kind = floodmark.NodeInput
	}
	if c.Origin.Kind == floodmark.FromModel || c.Origin.Kind == floodmark.FromHistory && c.Origin.Group == "" {
		src.Whole, src.Label = true, st.summed()
	}
	if c.Trust != "" {
		t, _ := floodmark.ParseTrust(c.Trust) // a word we do not know is the lowest
		src.Label.Trust = min(src.Label.Trust, t)
	}
	src.Inputs = st.carriedBy(c.Origin, digest)
	if n, ok := st.s.Ledger.Find(digest); ok && !digest.IsZero() {
		src.Inputs = append(src.Inputs, n) // it was here before the context was cleared
	}
	st.see(src, c.Text)
}

// summed returns the label of text made from the conversation so far. At the
// beginning of a session no content is known that it could be made from, so
// it is not trusted.
func (st *step) summed() floodmark.Label {
	if st.s.Acted || st.s.Turn > 1 {
		return floodmark.Clean()
	}
	return floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private}
}

// speaker returns the label of content by where it came from. The catalog labels
// what a tool brought, even if its call was not reported.
func (st *step) speaker(o floodmark.Origin) floodmark.Label {
	if o.Kind == floodmark.FromFile {
		return st.left().FileLabel(o)
	}
	if o.Kind != floodmark.FromTool {
		return st.r.Policy.Classify(o)
	}
	ref := st.ref(o.Server, o.Name)
	use := st.r.Catalog.Classify(ref, nil, nil, st.places())
	l := st.returns(ref, use, nil)
	if use.ByPath {
		l.Trust = min(l.Trust, floodmark.External) // which file it was is not known
	}
	return l
}

// groupHistory adds a source for what others wrote in a group before this message. It is in the
// context even if only the owner's message started the turn.
func (st *step) groupHistory(o floodmark.Origin) {
	if o.Group == "" {
		return
	}
	for _, c := range st.ev.Parts {
		if c.Kind == floodmark.NodeHistory {
			return // the event itself has the history
		}
	}
	origin := floodmark.Origin{Kind: floodmark.FromHistory, Name: o.Name, Group: o.Group}
	for src := range st.s.Ledger.Sources() {
		if src.Origin == origin && st.s.Ledger.Live(src.Node) {
			return
		}
	}
	st.see(floodmark.Source{Kind: floodmark.NodeHistory, Origin: origin, Label: st.r.Policy.Classify(origin)}, "")
}

// contextAssembled takes in what is in the context before the first model call of a turn. An
// adapter that lists tools, but sees no model call, is told here which tools to hide.
func (st *step) contextAssembled() {
	st.openTurn()
	if st.ev.Given {
		st.give(st.mark, "", st.node)
	}
	if len(st.ev.Sources) > 0 {
		st.givenBack() // also if all sources are known
	}
	for _, c := range st.ev.AllSources() {
		st.content(c)
	}
	if len(st.ev.Tools) == 0 {
		return
	}
	d := floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}
	d.Hidden, d.Reasons = st.hidden(st.modelQuestion(st.s.Iteration), st.tools())
	st.enforce(&d, nil)
	st.out.Reply.Decision = d
}

// known reports whether content is a live node already. Content of a cleared context that turns up
// again is not: it gets a new node.
func (st *step) known(d floodmark.Digest) bool {
	for _, f := range st.out.Facts {
		if seen, ok := f.(floodmark.ContentSeen); ok && seen.Digest == d {
			return true
		}
	}
	n, ok := st.s.Ledger.Find(d)
	return ok && st.s.Ledger.Live(n)
}

// pasted reports whether a message is too long to have been typed as it is. We cannot tell which
// part of it was: a pasted mail may begin with one short line. An adapter that knows that all of it
// was typed sets Typed.
func (st *step) pasted() bool {
	return !st.ev.Typed && (utf8.RuneCountInString(st.ev.Text) > pastedRunes || strings.Count(st.ev.Text, "\n") >= pastedLines)
}
