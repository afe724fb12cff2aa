package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/hostnames"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/report"
)

// beforeTool decides one call. An allowed call lowers the mark at once by what
// it is going to bring back: we do not depend on an after-hook arriving.
func (st *step) beforeTool() {
	st.openTurn()
	if st.letBefore() || st.ev.Gateway && st.followed() {
		return
	}
	st.finish(st.judgeCall(st.ev.Call))
	st.refusedBefore()
}

// authority returns the context in which the model proposed exactly this call; a proposal is used
// once. A call that was not proposed exactly so is judged by everything that was seen, even if it
// has the name of a proposed call.
func (st *step) authority(a floodmark.Action) Context {
	if st.s.Context != nil && slices.Contains(st.s.Proposed, proposed(a)) {
		return *st.s.Context
	}
	return st.now()
}

func proposed(a floodmark.Action) floodmark.Proposed {
	return floodmark.Proposed{Call: a.Call, Tool: a.Tool, ArgsDigest: a.ArgsDigest}
}

// now returns the context of a call that has seen everything up to here.
func (st *step) now() Context { return Context{Mark: st.mark, Levels: st.more, Nodes: st.node} }

// finish writes a judgement down, opens the question if one is needed, and
// announces the result of a call that may run. A call uses its grant when it
// proceeds, not when it waits for verifiers or they refuse it.
func (st *step) finish(j *judged) {
	st.enforce(&j.decision, j)
	if waits(j.decision) && st.verify(j) {
		return
	}
	st.tooMany(j)
	st.quiet(j)
	if j.grant != nil && j.decision.Verdict == floodmark.Allow {
		st.keep(floodmark.GrantUsed{Ticket: j.grant.Ticket, Call: j.action.Call, Tool: j.action.Tool, Args: j.action.ArgsDigest})
	}
	st.decide(j.action, j.mark, j.question.Trust, j.decision, j.basis)
	switch j.decision.Verdict {
	case floodmark.Allow:
		st.out.Reply.Hosts = j.basis.Hosts
		st.announce(j)
	case floodmark.Confirm:
		st.out.Reply.Line = report.Line(&st.s.Ledger, j.decided())
		st.ask(j)
	case floodmark.Audit:
		c := st.auditCase(j)
		st.out.Case = &c
	case floodmark.Restrict:
		st.out.Reply.Line = report.Line(&st.s.Ledger, j.decided())
		st.out.Reply.BlockTurn = j.ruling.BlockTurn
	}
}

// announce adds the source of a result that is coming.
func (st *step) announce(j *judged) {
	n := st.see(floodmark.Source{
		Kind:   floodmark.NodeToolResult,
		Origin: j.origin(),
		Label:  j.returns,
		Inputs: st.withCarried(j),
		Call:   j.action.Call, Secrets: j.kept, Because: unknown(st.ev.Call, j), Said: said(j),
	}, "")
	st.leaves(j, n)
}

// afterTool takes in what a tool gave back. A result of a call we did not let
// through is an incident: something ran without us.
func (st *step) afterTool() {
	c := st.ev.Call
	st.burn(st.ev.Result.Text)
	id := callID(c)
	if st.ev.Gateway && st.s.Running.Matched(id) {
		st.metResult() // the agent's own hook tells what it gave
		return
	}
	digest := st.ev.Result.ContentDigest()
	if n, ok := st.s.Ledger.Pending(id); ok {
		label := st.arrived(c, n).Join(st.late(c))
		found := st.secrets().Find(st.ev.Result.Text)
		src, _ := st.s.Ledger.Source(n)
		if src.Because != "" && unknown(c, st.judgedOf(c)) == "" {
			found = append(found, floodmark.SecretSpan{Rule: "declared"})
		}
		came := floodmark.ContentArrived{Node: n, Digest: digest, Label: label, Secrets: found, Links: hostnames.Count(st.ev.Result.Text, src.Origin.Place)}
		st.boxEnded(&came)
		st.keep(came)
		st.mark = st.mark.Join((&floodmark.Source{Label: label, Secrets: found}).Own())
		st.indexResult(n, digest)
		st.settle(id, n)
		st.worth(st.effective(n).Join(label), found)
		return
	}
	if n, ok := st.arrivedBefore(id, digest); ok {
		st.worth(st.effective(n), nil)
		return
	}
	refused := slices.ContainsFunc(st.s.Refused, func(r Refused) bool { return r.Call == id })
	if refused && st.ev.Result.Error {
		return // the agent reports our own refusal
	}
	ref := st.ref(c.Server, c.Name)
	kind, text := "unmediated-call", "a result arrived for a call that was never decided"
	if refused {
		kind, text = "refused-call-ran", "a result arrived for a call that was refused"
	}
	st.keep(floodmark.IncidentSeen{Kind: kind, Call: id, Tool: ref, Text: text})
	now := st.now()
	j := st.judge(c, &now)
	found := append(st.secrets().Find(st.ev.Result.Text), j.kept...)
	n := st.see(floodmark.Source{
		Kind: floodmark.NodeToolResult, Origin: j.origin(), Label: j.returns, Inputs: st.withCarried(j), Digest: digest,
		Secrets: found, Links: hostnames.Count(st.ev.Result.Text, j.use.Place), Because: unknown(c, j), Said: said(j),
	}, "")
	st.leaves(j, n)
	st.indexResult(n, digest)
	st.worth(j.returns, found)
}

// worth tells a gateway two things: the label of a result, for clients that understand it; and the
// mark, by which the gateway knows when tools may have to be hidden.
func (st *step) worth(l floodmark.Label, found []floodmark.SecretSpan) {
	if !st.ev.Gateway {
		return
	}
	l = (&floodmark.Source{Label: l, Secrets: found}).Own()
	mark := st.mark
	st.out.Reply.Label, st.out.Reply.Mark = &l, &mark
}

// arrived returns the label of an announced result now that it is here. The call is looked at again
// because an agent may have changed its arguments since.
func (st *step) arrived(c hook.Call, n floodmark.NodeID) floodmark.Label {
	src, _ := st.s.Ledger.Source(n)
	if c.Name == "" || len(c.Args) == 0 && c.Hints == nil {
		return src.Label
	}
	leaves, err := c.Leaves()
	if err != nil {
		return floodmark.Label{} // unreadable arguments: the result is not believed
	}
	ref := st.ref(c.Server, c.Name)
	use, kept := st.left().LookInto(st.r.Catalog.Classify(ref, leaves, c.Hints, st.places()), st.secrets)
	label := st.returns(ref, use, leaves)
	if len(kept) > 0 && len(src.Secrets) == 0 {
		label.Secrecy = floodmark.Secret
	}
	if len(c.Args) == 0 { // its arguments are not known here, only what the server says
		label = label.Join(src.Label)
	}
	return label
}

func (st *step) indexResult(n floodmark.NodeID, d floodmark.Digest) {
	if st.ev.Result.Text != "" {
		st.out.Indexed = append(st.out.Indexed, Indexed{Node: n, Digest: d, Text: st.ev.Result.Text})
	}
}

// ask opens a question, or joins an open one, unless this very call is being
// asked about already.
func (st *step) ask(j *judged) {
	shown := st.shows(j)
	open, asked := st.s.Book.Asked(shown.Tool, shown.ArgsDigest, st.in.At)
	if asked && st.current(open, shown) {
		st.out.Reply.Ticket = open.ID
		return
	}
	held := st.heldUntil()
	if asked && !held.IsZero() && !open.Held.Equal(held) { // to show the changed call would notify people
		st.void(open.ID, "it became quiet, and the call is not the same any more")
		asked = false
	}
	q := approval.Question{
		Action: j.action, Line: st.out.Reply.Line, Sources: st.blamed(report.LoadedFrom(&j.basis), j.decision), Pattern: shown.Pattern,
		Offers: shown.Offers, Asked: st.lastWords(), Two: shown.Two, Push: st.ev.Push, Remote: st.ev.Remote, Whole: shown.Whole,
	}
	shown.Pick, shown.PickEnd, q.Pick = j.subject().Pick(st.prover())
	q = st.worded(q, j)
	if !asked {
		open = approval.Open{}
	}
	open.Shown = open.With(shown)
	t := approval.Ticket{ID: st.in.Ticket, Session: st.ev.Session, Code: st.in.Code, Call: q, Calls: len(open.Shown), Seen: open.Seen()}
	if asked {
		t.ID, t.Expires, t.Held = open.ID, open.Expires, open.Held
		st.keep(floodmark.TicketExtended{Ticket: t.ID, Shown: shown, CodeMAC: st.codeMAC(t.ID)})
	} else {
		t.Expires, t.Held = st.in.At.Add(max(st.settings().TicketTTL, st.ev.Patience)), held
		if !held.IsZero() {
			t.Expires = held.Add(st.settings().TicketTTL)
		}
		st.keep(floodmark.TicketOpened{Ticket: t.ID, CodeMAC: st.codeMAC(t.ID), Shown: []floodmark.Shown{shown}, Expires: t.Expires, Held: held})
	}
	if st.in.At.Before(t.Held) {
		st.out.Reply.Line += " " + st.heldLine(t.Held)
	}
	st.out.Reply.Ticket, st.out.Ask = t.ID, &t
}

// shows returns a call as a question shows it.
func (st *step) shows(j *judged) floodmark.Shown {
	s := floodmark.Shown{
		Tool: j.action.Tool, ArgsDigest: j.action.ArgsDigest,
		Mark: st.mark.Join(artifact.Loaded(j.basis.Loads)), Codes: j.codes(), Node: st.node, Offers: j.subject().Offers(st.offering(j)), Others: j.basis.Others,
		Two: st.takesTwo(j), Boxed: j.decision.Reach == floodmark.Boxed, Hosts: j.basis.Hosts,
	}
	for _, o := range s.Offers {
		if o.Scope == floodmark.GrantPattern {
			s.Pattern = o.Pattern
		}
	}
	s.Whole = approval.Wholes(j.action.Arguments, j.leaves, func(i int, text string) string {
		if argument(j.use, j.leaves[i]).Is == catalog.IsCommand {
			return st.r.secrets.VeilLine(text)
		}
		return st.r.secrets.Veil(text)
	})
	s.Here = st.here(j).Bound()
	return s
}

func (st *step) codeMAC(t floodmark.TicketID) floodmark.Digest {
	return approval.CodeMAC(st.in.Key[:], st.ev.Session, t, st.in.Code)
}

// current reports whether an open question shows the call as it is now, so that an approval would
// cover it.
func (st *step) current(o approval.Open, now floodmark.Shown) bool {
	return slices.ContainsFunc(o.Shown, func(s floodmark.Shown) bool {
		return approval.SameCall(s, now) && s.Mark == now.Mark && s.Two == now.Two && s.Boxed == now.Boxed && slices.Equal(s.Hosts, now.Hosts) && s.Here == now.Here && s.Others == now.Others &&
			slices.Equal(s.Codes, now.Codes) && !st.s.Ledger.NewBelow(s.Node, floodmark.Local, nil)
	})
}

// takesTwo reports whether two people must approve a call.
func (st *step) takesTwo(j *judged) bool {
	return st.settings().AdminTwo && (j.basis.SelfProtected || len(j.action.Effects) == 0 || slices.Contains(j.action.Effects, floodmark.Admin))
}
