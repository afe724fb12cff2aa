package floodmark

// The facts of a busy session, described field by field in the order of their
// types: a field that is added there is added here, and TestPlainIsJSON tells
// who forgets it. The other facts are rare and left to encoding/json.

// write appends a fact, or reports that it has to be written otherwise.
func (c *plain) write(f Fact) bool {
	switch f := f.(type) {
	case ActionDecided:
		c.actionDecided(&f)
	case ContentSeen:
		c.contentSeen(&f)
	case ContentArrived:
		c.contentArrived(&f)
	case ModelAnswered:
		c.modelAnswered(&f)
	case ChildEnded:
		c.childEnded(&f)
	case TicketOpened:
		c.ticketOpened(&f)
	case TicketExtended:
		c.ticketExtended(&f)
	case SessionOpened:
		c.sessionOpened(&f)
	case RulesLoaded:
		c.rulesLoaded(&f)
	case TurnOpened:
		c.turnOpened(&f)
	default:
		return false
	}
	return !c.odd
}

// readPlain reads a fact, or reports that it has to be read otherwise.
func readPlain(kind string, body []byte) (Fact, bool) {
	switch kind {
	case "action-decided":
		return readAs(body, (*plain).actionDecided)
	case "content-seen":
		return readAs(body, (*plain).contentSeen)
	case "content-arrived":
		return readAs(body, (*plain).contentArrived)
	case "model-answered":
		return readAs(body, (*plain).modelAnswered)
	case "child-ended":
		return readAs(body, (*plain).childEnded)
	case "ticket-opened":
		return readAs(body, (*plain).ticketOpened)
	case "ticket-extended":
		return readAs(body, (*plain).ticketExtended)
	case "session-opened":
		return readAs(body, (*plain).sessionOpened)
	case "rules-loaded":
		return readAs(body, (*plain).rulesLoaded)
	case "turn-opened":
		return readAs(body, (*plain).turnOpened)
	}
	return nil, false
}

func readAs[F Fact](body []byte, describe func(*plain, *F)) (Fact, bool) {
	c := plain{in: body, reading: true}
	var f F
	describe(&c, &f)
	if c.odd || c.at != len(body) {
		return nil, false
	}
	return f, true
}

func (c *plain) sessionOpened(f *SessionOpened) {
	c.open('{')
	text(c, "agent", &f.Agent)
	someText(c, "project", &f.Project)
	someText(c, "home", &f.Home)
	c.digest("pushesTo", &f.PushesTo, f.PushesTo.IsZero())
	someText(c, "key", &f.Key)
	someText(c, "commit", &f.Commit)
	c.shut('}')
}

func (c *plain) rulesLoaded(f *RulesLoaded) {
	c.open('{')
	c.digest("policy", &f.Policy, false)
	c.digest("catalog", &f.Catalog, false)
	c.shut('}')
}

func (c *plain) turnOpened(f *TurnOpened) {
	c.open('{')
	number(c, "turn", &f.Turn)
	c.shut('}')
}

func (c *plain) contentSeen(f *ContentSeen) {
	c.open('{')
	c.sourceFields(&f.Source)
	someText(c, "text", &f.Text)
	someText(c, "preview", &f.Preview)
	c.shut('}')
}

func (c *plain) source(s *Source) {
	c.open('{')
	c.sourceFields(s)
	c.shut('}')
}

func (c *plain) sourceFields(s *Source) {
	number(c, "node", &s.Node)
	text(c, "kind", &s.Kind)
	if c.field("origin", false) {
		c.origin(&s.Origin)
	}
	c.label("label", &s.Label, false)
	c.digest("digest", &s.Digest, s.Digest.IsZero())
	list(c, "inputs", &s.Inputs, numberValue[NodeID])
	c.flag("whole", &s.Whole)
	someText(c, "call", &s.Call)
	list(c, "via", &s.Via, (*plain).passage)
	list(c, "secrets", &s.Secrets, (*plain).secretSpan)
	someNumber(c, "links", &s.Links)
	someText(c, "because", &s.Because)
	someText(c, "said", &s.Said)
}

func (c *plain) origin(o *Origin) {
	c.open('{')
	someText(c, "kind", &o.Kind)
	someText(c, "name", &o.Name)
	someText(c, "server", &o.Server)
	someText(c, "place", &o.Place)
	someText(c, "sender", &o.Sender)
	c.flag("isOwner", &o.IsOwner)
	someText(c, "group", &o.Group)
	c.shut('}')
}

func (c *plain) passage(p *Passage) {
	c.open('{')
	if c.field("artifact", false) {
		c.artifact(&p.Artifact)
	}
	text(c, "session", &p.Session)
	c.shut('}')
}

func (c *plain) artifact(r *ArtifactRef) {
	c.open('{')
	text(c, "kind", &r.Kind)
	text(c, "name", &r.Name)
	c.shut('}')
}

func (c *plain) contentArrived(f *ContentArrived) {
	c.open('{')
	number(c, "node", &f.Node)
	c.digest("digest", &f.Digest, f.Digest.IsZero())
	c.label("label", &f.Label, false)
	list(c, "inputs", &f.Inputs, numberValue[NodeID])
	list(c, "secrets", &f.Secrets, (*plain).secretSpan)
	someNumber(c, "links", &f.Links)
	someText(c, "boxTicket", &f.BoxTicket)
	someText(c, "boxEnd", &f.BoxEnd)
	c.flag("boxFailed", &f.BoxFailed)
	someNumber(c, "boxExit", &f.BoxExit)
	list(c, "wanted", &f.Wanted, textValue[string])
	list(c, "notKept", &f.NotKept, textValue[string])
	c.shut('}')
}

func (c *plain) secretSpan(s *SecretSpan) {
	c.open('{')
	text(c, "rule", &s.Rule)
	number(c, "start", &s.Start)
	number(c, "end", &s.End)
	someText(c, "print", &s.Print)
	someNumber(c, "length", &s.Length)
	someNumber(c, "quick", &s.Quick)
	c.shut('}')
}

func (c *plain) modelAnswered(f *ModelAnswered) {
	c.open('{')
	list(c, "calls", &f.Calls, (*plain).proposed)
	c.flag("hosted", &f.Hosted)
	c.shut('}')
}

func (c *plain) proposed(p *Proposed) {
	c.open('{')
	text(c, "call", &p.Call)
	c.tool("tool", &p.Tool, false)
	c.digest("argsDigest", &p.ArgsDigest, false)
	c.shut('}')
}

func (c *plain) childEnded(f *ChildEnded) {
	c.open('{')
	text(c, "child", &f.Child)
	list(c, "sources", &f.Sources, (*plain).source)
	c.shut('}')
}

func (c *plain) ticketOpened(f *TicketOpened) {
	c.open('{')
	text(c, "ticket", &f.Ticket)
	c.digest("codeMac", &f.CodeMAC, false)
	c.odd = c.odd || !c.reading && len(f.Shown) == 0 // it is never left out
	list(c, "shown", &f.Shown, (*plain).shown)
	c.time("expires", &f.Expires, false)
	c.time("held", &f.Held, true)
	c.shut('}')
}

func (c *plain) ticketExtended(f *TicketExtended) {
	c.open('{')
	text(c, "ticket", &f.Ticket)
	if c.field("shown", false) {
		c.shown(&f.Shown)
	}
	c.digest("codeMac", &f.CodeMAC, false)
	c.shut('}')
}

func (c *plain) shown(s *Shown) {
	c.open('{')
	c.tool("tool", &s.Tool, false)
	c.digest("argsDigest", &s.ArgsDigest, false)
	someText(c, "pattern", &s.Pattern)
	c.label("mark", &s.Mark, false)
	list(c, "codes", &s.Codes, textValue[Code])
	number(c, "node", &s.Node)
	list(c, "offers", &s.Offers, (*plain).offer)
	c.digest("others", &s.Others, s.Others.IsZero())
	c.digest("pick", &s.Pick, s.Pick.IsZero())
	c.digest("pickEnd", &s.PickEnd, s.PickEnd.IsZero())
	c.flag("two", &s.Two)
	c.flag("boxed", &s.Boxed)
	list(c, "hosts", &s.Hosts, textValue[string])
	c.digest("here", &s.Here, s.Here.IsZero())
	c.digest("vouch", &s.Vouch, s.Vouch.IsZero())
	list(c, "whole", &s.Whole, (*plain).whole)
	c.shut('}')
}

func (c *plain) whole(w *Whole) {
	c.open('{')
	number(c, "argument", &w.Argument)
	someText(c, "text", &w.Text)
	someNumber(c, "left", &w.Left)
	c.shut('}')
}

func (c *plain) offer(o *Offer) {
	c.open('{')
	text(c, "words", &o.Words)
	text(c, "scope", &o.Scope)
	someText(c, "pattern", &o.Pattern)
	someNumber(c, "for", &o.For)
	c.shut('}')
}
