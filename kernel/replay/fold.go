package replay

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/kernel"
)

// relabels returns the facts of an event before its decision, with the labels that their content would
// have had.
func (t *trial) relabels(before []Recorded) []floodmark.Fact {
	facts := make([]floodmark.Fact, len(before))
	for i, b := range before {
		facts[i] = b.Fact
		if f, ok := b.Fact.(floodmark.ContentSeen); ok {
			f.Label = t.relabel(f.Source)
			facts[i] = f
		}
	}
	return facts
}

// sameCatalog reports whether the catalog tells the same of a tool as when the decision was recorded.
func (t *trial) sameCatalog(ref floodmark.ToolRef) bool {
	return t.catalog == t.Now.Catalog.Hash() || t.Then != nil && t.catalog == t.Then.Catalog.Hash() && t.Then.Catalog.Alike(t.Now.Catalog, ref)
}

// take applies one more fact to both states: as it was, and as it would have been.
func (t *trial) take(i int, f floodmark.Fact) error {
	would, keep := t.wouldBe(i, f)
	if err := t.was.Apply(f); err != nil {
		return err
	}
	if !keep {
		return nil
	}
	if err := t.would.Apply(would); err != nil {
		return err
	}
	if i == t.last.index {
		for _, ticket := range t.last.tickets {
			if err := t.would.Apply(ticket); err != nil {
				return err
			}
		}
	}
	return t.vouch(f)
}

// wouldBe returns what would have been written down instead of f, if anything.
func (t *trial) wouldBe(i int, f floodmark.Fact) (floodmark.Fact, bool) {
	switch f := f.(type) {
	case floodmark.ActionDecided:
		if i == t.last.index && t.last.told {
			j := &t.last.again
			f.Mark, f.Trust, f.Decision, f.Action.Effects = j.Mark, j.Trust, j.Decision, j.Action.Effects
		}
		return f, true
	case floodmark.TicketOpened, floodmark.TicketExtended:
		return f, !t.last.told // otherwise it was asked anew, or not at all
	case floodmark.GrantGiven:
		f.Shown = t.shown(f)
		return f, true
	case floodmark.ContentSeen:
		label := t.relabel(f.Source)
		t.relabelled = t.relabelled || label != f.Label
		f.Label = label
		return f, true
	case floodmark.ContentArrived:
		if src, ok := t.was.Ledger.Source(f.Node); ok && src.Label == f.Label {
			now, _ := t.would.Ledger.Source(f.Node)
			f.Label = now.Label
		}
		return f, true
	case floodmark.RulesLoaded:
		t.policy, t.catalog = f.Policy, f.Catalog
		t.inherited(t.heritage)
		t.heritage = nil
		return f, true
	case floodmark.SessionForked:
		t.heritage = f.Sources
		f.Endorsed = slices.DeleteFunc(slices.Clone(f.Endorsed), func(e floodmark.Endorsed) bool {
			gone := slices.Contains(t.Disown, e.Digest)
			t.relabelled = t.relabelled || gone
			return gone
		})
		return f, true
	case floodmark.ChildEnded:
		t.inherited(f.Sources)
		return f, true
	case floodmark.ArtifactRead:
		t.inherited(f.Sources)
		return f, true
	case floodmark.Endorsed:
		gone := slices.Contains(t.Disown, f.Digest)
		t.relabelled = t.relabelled || gone
		return f, !gone
	default:
		return f, true
	}
}

// shown returns the call as the owner would have been shown it when they approved it.
func (t *trial) shown(f floodmark.GrantGiven) floodmark.Shown {
	for _, open := range t.would.Book.Tickets {
		for _, s := range open.Shown {
			if open.ID == f.Ticket && s.Tool == f.Shown.Tool && s.ArgsDigest == f.Shown.ArgsDigest {
				return s
			}
		}
	}
	return f.Shown
}

// vouch endorses what came with a fact, if that is to be assumed.
func (t *trial) vouch(f floodmark.Fact) error {
	if len(t.Endorse) == 0 {
		return nil
	}
	for _, digest := range floodmark.Placed(f) {
		if !slices.Contains(t.Endorse, digest) {
			continue
		}
		t.relabelled = true
		if err := t.would.Apply(floodmark.Endorsed{Digest: digest, Trust: floodmark.Local}); err != nil {
			return err
		}
	}
	return nil
}

// relabel returns what a source's own label would have been.
func (t *trial) relabel(src floodmark.Source) floodmark.Label {
	if src.Call != "" {
		return t.announced(src)
	}
	then := t.then()
	if src.Whole || then == &t.Now {
		return src.Label
	}
	switch src.Origin.Kind {
	case floodmark.FromSender, floodmark.FromQuote, floodmark.FromFile, floodmark.FromHistory, floodmark.FromSystem, floodmark.FromDefinition:
	case floodmark.FromTool:
		if then == nil || t.asBefore(then, src) {
			return src.Label
		}
	default:
		return src.Label // no rule has a say
	}
	now := t.Now.Speaker(t.would, src.Origin)
	if then == nil {
		return src.Label.Join(now)
	}
	old := then.Speaker(t.would, src.Origin)
	switch {
	case old == now:
		return src.Label
	case src.Label == old:
		return now
	case src.Origin.Kind == floodmark.FromTool:
		t.lose("a result came in without a decision, and what it is worth now is not known")
	}
	return src.Label.Join(now)
}

// announced returns the label of a result that a call announces.
func (t *trial) announced(src floodmark.Source) floodmark.Label {
	if !t.last.placed || t.last.again.Action.Call != src.Call {
		if then := t.then(); then == nil || then != &t.Now && !t.asBefore(then, src) {
			t.lose("what an earlier result is worth cannot be told")
		}
		return src.Label
	}
	return t.last.again.Returns(src.Origin.Place)
}

// inherited looks at sources of another session. Their labels are kept. If the rules now say
// something else of a source, no label can be told any more.
func (t *trial) inherited(sources []floodmark.Source) {
	then := t.then()
	if then == nil || then == &t.Now {
		return
	}
	for _, src := range sources {
		if src.Origin.Kind == floodmark.FromTool && !t.asBefore(then, src) {
			t.lose("a source came from another session, and what it is worth now is not known")
		}
	}
}

// asBefore reports whether the rules say of the result of a tool what they said
// before, whatever its arguments were.
func (t *trial) asBefore(then *kernel.Rules, src floodmark.Source) bool {
	ref := floodmark.ToolRef{Agent: t.would.Agent, Server: src.Origin.Server, Name: src.Origin.Name}
	if !then.Catalog.Alike(t.Now.Catalog, ref) || then.Policy.Caution(ref) != t.Now.Policy.Caution(ref) {
		return false
	}
	known, home := t.would.Project != "", t.would.Home
	for _, kind := range []catalog.PathKind{catalog.NoPath, catalog.InProject, catalog.Elsewhere, catalog.Foreign} {
		l := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Private}
		if then.Policy.PlaceLabel(l, src.Origin.Place, kind, known, home) != t.Now.Policy.PlaceLabel(l, src.Origin.Place, kind, known, home) {
			return false
		}
	}
	return true
}

func (t *trial) lose(why string) {
	if t.lost == "" {
		t.lost = why
	}
}
