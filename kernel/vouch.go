package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/policy"
)

func vouchRef(d floodmark.Digest) floodmark.ArtifactRef {
	return floodmark.ArtifactRef{Kind: floodmark.VouchArtifact, Name: d.String()}
}

// words returns the records of what the owner last said of contents, in any session. If two are of
// the same time, the one that trusts less is taken.
func (st *step) words(digests []floodmark.Digest) map[floodmark.Digest]Kept {
	var refs []floodmark.ArtifactRef
	for _, d := range digests {
		if !d.IsZero() {
			refs = append(refs, vouchRef(d))
		}
	}
	last := map[floodmark.Digest]Kept{}
	for _, k := range st.find(refs...) {
		var d floodmark.Digest
		if k.Vouch == nil || d.UnmarshalText([]byte(k.Ref.Name)) != nil {
			continue
		}
		old, ok := last[d]
		if !ok || cmp.Or(cmp.Compare(old.Vouch.At, k.Vouch.At), cmp.Compare(k.Vouch.Trust, old.Vouch.Trust)) < 0 {
			last[d] = k
		}
	}
	return last
}

// vouched returns what the owner vouches for among some contents.
func (st *step) vouched(digests []floodmark.Digest) map[floodmark.Digest]floodmark.Vouch {
	yes := map[floodmark.Digest]floodmark.Vouch{}
	for d, k := range st.words(digests) {
		if k.Vouch.Trust > floodmark.External {
			yes[d] = *k.Vouch
		}
	}
	return yes
}

// say records for every session what the owner says of a content. It replaces what they said of the
// content before, in whatever session.
func (st *step) say(d floodmark.Digest, trust floodmark.Trust, by string) {
	ref := vouchRef(d)
	at := st.in.At.UnixNano()
	for _, k := range st.find(ref) {
		if k.Version.Session != st.ev.Session {
			st.out.Gone = append(st.out.Gone, Gone{Ref: ref, Version: k.Version})
		}
		if k.Vouch != nil {
			at = max(at, k.Vouch.At+1) // clocks of two machines may differ
		}
	}
	st.out.Artifacts = append(st.out.Artifacts, floodmark.Artifact{Ref: ref, Vouch: &floodmark.Vouch{Trust: trust, By: by, At: at}})
}

// heed takes in what the owner said in other sessions about what this one
// carries. The facts come first: everything else is judged after them.
func (st *step) heed() error {
	if st.in.Artifacts == nil || !st.s.Opened {
		return nil
	}
	have := st.s.Ledger.Endorsements()
	want := slices.Clone(st.s.Carried)
	for _, e := range have {
		want = append(want, e.Digest)
	}
	if len(want) == 0 {
		return nil
	}
	facts := st.heard(st.words(want), have)
	if len(facts) == 0 {
		return nil
	}
	next, err := st.s.with(facts)
	if err != nil {
		return fmt.Errorf("take in what the owner said elsewhere: %w", err)
	}
	st.s, st.heeded = next, len(facts)
	st.mark, st.more = next.Ledger.Mark(), next.Ledger.Levels()
	for _, f := range facts {
		st.keep(f)
	}
	return nil
}

// with returns a copy of the state after some more facts.
func (s *State) with(facts []floodmark.Fact) (*State, error) {
	data, err := s.Snapshot()
	if err != nil {
		return nil, err
	}
	next, err := Restore(data)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		if err := next.Apply(f); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// heard returns the facts that make a ledger agree with what the owner last said.
func (st *step) heard(words map[floodmark.Digest]Kept, have []floodmark.Endorsed) []floodmark.Fact {
	var facts []floodmark.Fact
	digests := make([]floodmark.Digest, 0, len(words))
	for d := range words {
		digests = append(digests, d)
	}
	slices.SortFunc(digests, func(a, b floodmark.Digest) int { return slices.Compare(a[:], b[:]) })
	for _, d := range digests {
		k := words[d]
		endorsed := slices.ContainsFunc(have, func(e floodmark.Endorsed) bool { return e.Digest == d })
		yes := k.Vouch.Trust > floodmark.External
		switch {
		case yes && !endorsed:
			facts = append(facts, floodmark.Endorsed{Digest: d, Trust: k.Vouch.Trust, By: k.Vouch.By, Session: k.Version.Session})
		case !yes && endorsed:
			facts = append(facts, floodmark.Withdrawn{Digest: d, By: k.Vouch.By, Session: k.Version.Session})
		}
	}
	return facts
}

// Anyone who can write into a conversation could write «.endorse» there. So the command only asks
// there: a question with a code goes to the owner's own channels, and the code, or an answer on
// such a channel, vouches.

// vouchTool is the tool that a question names if it is about no call.
const vouchTool = string(approval.Endorse)

// vouchInChat asks whether the owner vouches for a content, or takes the code that
// was sent for it.
func (st *step) vouchInChat(cmd approval.Command) {
	if cmd.Code != "" {
		st.vouchByCode(cmd)
		return
	}
	src, notice := st.contentOf(cmd.Digest)
	if st.out.Reply.Notice = notice; notice != "" {
		return
	}
	how := fmt.Sprintf("Answer there, or type «%s %s <code>» here.", approval.Endorse, src.Digest.Short())
	shown := st.vouchShown(src)
	if _, asked := st.s.Book.Asked(shown.Tool, shown.ArgsDigest, st.in.At); asked {
		st.out.Reply.Notice = "You were asked already, at your own channels: " + meaning.Source(src, st.trustOf(src)) + ". " + how
		return
	}
	most := st.settings().PerHour
	if most == 0 {
		most = policy.UsualPerHour
	}
	if st.askedInAnHour() >= most {
		st.out.Reply.Notice = "This session has asked too many questions within an hour. Vouch for it at your terminal: «floodmark trust»."
		return
	}
	t := approval.Ticket{
		ID: st.in.Ticket, Session: st.ev.Session, Code: st.in.Code, Calls: 1, Expires: st.in.At.Add(st.settings().TicketTTL), Call: st.vouchQuestion(src, shown),
		Seen: approval.Open{Shown: []floodmark.Shown{shown}}.Seen(),
	}
	st.keep(floodmark.TicketOpened{Ticket: t.ID, CodeMAC: st.codeMAC(t.ID), Shown: []floodmark.Shown{shown}, Expires: t.Expires})
	st.out.Ask = &t
	st.out.Reply.Notice = "You are asked at your own channels whether you vouch for " + meaning.Source(src, st.trustOf(src)) + ". " + how
}

// vouchByCode takes the code of a question whether to vouch, and of no other question.
func (st *step) vouchByCode(cmd approval.Command) {
	if st.lockedOut(cmd) {
		return
	}
	open, ok := st.ticket(cmd)
	if !ok {
		st.unanswerable(cmd)
		return
	}
	if v := open.Vouch(); v.IsZero() || !strings.HasPrefix(v.String(), cmd.Digest) {
		st.out.Reply.Notice = "That code was not asked for this content. Nothing was endorsed."
		return
	}
	cmd.Verb, cmd.Tool = approval.Approve, approval.All
	st.answer(cmd)
}

// vouchAnswered takes an approval of a question whether to vouch.
func (st *step) vouchAnswered(cmd approval.Command, open approval.Open) {
	if !cmd.Approves(open.Shown[0]) {
		st.out.Reply.Notice = fmt.Sprintf("That code was not asked for %q but for: %s.", cmd.Tool, names(open.Shown))
		return
	}
	cmd.Digest = open.Vouch().String()
	st.endorse(cmd)
	st.keep(floodmark.TicketAnswered{Ticket: open.ID, Verdict: floodmark.Allow, By: cmd.By, Channel: cmd.Channel})
}

func (st *step) vouchShown(src floodmark.Source) floodmark.Shown {
	return floodmark.Shown{
		Tool: st.ref("", vouchTool), ArgsDigest: src.Digest, Vouch: src.Digest, Mark: st.mark, Node: st.node,
		Offers: []floodmark.Offer{{Words: "vouch for it", Scope: floodmark.GrantOnce}},
	}
}

// vouchQuestion returns the question as a person sees it.
func (st *step) vouchQuestion(src floodmark.Source, shown floodmark.Shown) approval.Question {
	q := approval.Question{
		Action: floodmark.Action{Kind: floodmark.CallTool, Tool: shown.Tool, ArgsDigest: shown.ArgsDigest},
		Line:   fmt.Sprintf("You want to vouch for %s, digest %s: it would count as your own file.", meaning.Source(src, st.trustOf(src)), src.Digest.Short()),
		Offers: shown.Offers, Sources: []floodmark.Source{src}, Vouch: approval.OriginOf(src, st.trustOf(src)),
	}
	q.Source, q.Consequence = q.Vouch.Name+" "+q.Vouch.Place, approval.VouchConsequence
	return q
}

// vouchAgain returns the question again after the monitor was restarted.
func (st *step) vouchAgain(shown floodmark.Shown) (approval.Question, error) {
	src, notice := st.contentOf(shown.Vouch.String())
	if notice != "" {
		return approval.Question{}, errors.New("the content it is about is not there any more")
	}
	return st.vouchQuestion(src, shown), nil
}

// trustOf returns how much a source is trusted now.
func (st *step) trustOf(src floodmark.Source) floodmark.Trust {
	if n, ok := st.s.Ledger.Find(src.Digest); ok {
		return st.s.Ledger.Effective(n).Trust
	}
	return src.Label.Trust
}
