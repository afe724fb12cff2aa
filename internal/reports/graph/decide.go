package graph

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// decided adds an action and, unless it was simply allowed, the decision.
func (b *builder) decided(f floodmark.ActionDecided) {
	var n *Node
	switch f.Action.Kind {
	case floodmark.CallModel:
		b.models = true
		n = b.model(Node{Trust: f.Mark.Trust, Iteration: &f.Action.Iteration, Metadata: b.about(f)})
	case floodmark.CallTool:
		n = b.tool(f)
	case floodmark.SendReply:
		n = b.output(f)
	case floodmark.SpawnAgent:
		t := b.turn()
		from := b.proposer("", f.Mark.Trust)
		n = t.add(Node{ID: t.next("call"), Kind: floodmark.NodeToolCall, Trust: f.Mark.Trust, Tool: "sub-agent", Metadata: b.about(f)})
		t.connect(from, n.ID, Triggers)
	default:
		return
	}
	b.decision(n, f)
}

// about returns what is known of an action besides the RFC's fields.
func (b *builder) about(f floodmark.ActionDecided) map[string]string {
	m := map[string]string{"verdict": f.Decision.Word(), "secrecy": f.Mark.Secrecy.String(), "time": stamp(b.at)}
	put := func(key, value string) {
		if value != "" {
			m[key] = value
		}
	}
	put("hidden", strings.Join(f.Decision.Hidden, ", "))
	put("would", f.Decision.Would)
	put("audience", f.Action.Audience)
	put("child", string(f.Action.Child))
	put("call", string(f.Action.Call))
	if f.Action.Kind == floodmark.CallTool {
		words := make([]string, len(f.Action.Effects))
		for i, e := range f.Action.Effects {
			words[i] = e.String()
		}
		put("effects", strings.Join(words, ", "))
		m["trust"] = f.Trust.String()
		put("grant", string(b.grants[f.Action.Call]))
	}
	return m
}

// tool adds a tool call, or returns the existing node if the same call is judged again.
func (b *builder) tool(f floodmark.ActionDecided) *Node {
	t := b.turn()
	hash := ""
	if !f.Action.ArgsDigest.IsZero() {
		hash = f.Action.ArgsDigest.String()
	}
	if n := t.node(b.calls[f.Action.Call]); n != nil && n.ContentHash == hash {
		n.Metadata = b.about(f)
		n.Blocked, n.BlockReason = false, ""
		return n
	}
	from := b.proposer(f.Action.Call, f.Mark.Trust)
	n := t.add(Node{
		ID: t.next("call"), Kind: floodmark.NodeToolCall, Trust: f.Mark.Trust, Tool: f.Action.Tool.String(),
		ContentHash: hash, Metadata: b.about(f), Iteration: t.iteration(from),
	})
	if f.Action.Call != "" {
		b.calls[f.Action.Call] = n.ID
	}
	t.connect(from, n.ID, Triggers)
	for _, a := range f.Action.Arguments {
		if len(a.Spans) > 0 && b.has(a.Spans[0].Node) {
			b.bring(t, a.Spans[0].Node)
			t.connect(n.ID, sourceID(a.Spans[0].Node), DerivesFrom)
		}
	}
	return n
}

// output adds an answer, which derives from the last model call and all tool results of the turn.
func (b *builder) output(f floodmark.ActionDecided) *Node {
	t := b.turn()
	from := b.proposer("", f.Mark.Trust)
	n := t.add(Node{ID: t.next("output"), Kind: floodmark.NodeOutput, Trust: f.Mark.Trust, Metadata: b.about(f)})
	t.output = n.ID
	t.connect(n.ID, from, DerivesFrom)
	for _, other := range t.nodes {
		if other.Kind == floodmark.NodeToolResult {
			t.connect(n.ID, other.ID, DerivesFrom)
		}
	}
	return n
}

// decision adds what we answered. In a dry run nothing was blocked.
func (b *builder) decision(n *Node, f floodmark.ActionDecided) {
	waits := len(f.Decision.Verifiers) > 0
	if f.Decision.Verdict == floodmark.Allow && f.Decision.Would == "" && !waits {
		return
	}
	t := b.turn()
	reason := ""
	m := map[string]string{"verdict": f.Decision.Word(), "time": stamp(b.at)}
	if len(f.Decision.Reasons) > 0 {
		r := f.Decision.Reasons[0]
		reason, m["code"], m["rule"] = r.Text, string(r.Code), r.Rule
	}
	if f.Decision.Would != "" {
		m["would"] = f.Decision.Would
	}
	if waits && f.Decision.Verdict == floodmark.Allow {
		m["verifiers"], reason = strings.Join(f.Decision.Verifiers, ", "), "verifiers must agree first"
	}
	n.Blocked = f.Decision.Verdict != floodmark.Allow || waits
	if n.Blocked {
		n.BlockReason = reason
	}
	d := t.add(Node{ID: t.next("decision"), Kind: floodmark.NodeDecision, Trust: f.Trust, BlockReason: reason, Metadata: m})
	if !f.Action.ArgsDigest.IsZero() {
		b.answers[f.Action.ArgsDigest] = d
	}
	t.connect(n.ID, d.ID, BlockedBy)
	for _, s := range f.Decision.Blame {
		if b.has(s) {
			b.accuse(t, d.ID, s)
		}
	}
}

// accuse records that a source is to blame for a decision. A source of an earlier turn is connected
// through the history of this turn.
func (b *builder) accuse(t *turnBuilder, decision string, s floodmark.NodeID) {
	b.bring(t, s)
	b.graph.blame[decision] = append(b.graph.blame[decision], sourceID(s))
	if b.home[s] != t && b.history(t) {
		t.connect(t.historyID(), sourceID(s), DerivesFrom)
	}
}

// asked adds to a decision who was asked about it, and what the answer was.
func (b *builder) asked(fact floodmark.Fact) {
	switch f := fact.(type) {
	case floodmark.OpinionGiven:
		b.note(f.ArgsDigest, "auditor", f.Verdict.String(), "opinion", f.Text)
	case floodmark.VerifierAnswered:
		b.note(f.ArgsDigest, "verifier "+f.Verifier, f.Verdict.String(), "reason of "+f.Verifier, f.Text)
	case floodmark.TicketOpened:
		for _, s := range f.Shown {
			b.ticket(f.Ticket, s.ArgsDigest)
		}
	case floodmark.TicketExtended:
		b.ticket(f.Ticket, f.Shown.ArgsDigest)
	case floodmark.TicketAnswered:
		for _, args := range b.tickets[f.Ticket] {
			b.note(args, "answer", f.Verdict.String(), "by", f.By, "channel", f.Channel)
		}
	case floodmark.GrantUsed:
		b.grants[f.Call] = f.Ticket
	case floodmark.IncidentSeen:
		b.incident(f)
	case floodmark.ChildSpawned:
		t := b.turn()
		from := b.proposer("", b.ledger.Mark().Trust)
		n := t.add(Node{
			ID: t.next("call"), Kind: floodmark.NodeToolCall, Trust: b.ledger.Mark().Trust, Tool: "sub-agent",
			Metadata: map[string]string{"child": string(f.Child), "time": stamp(b.at)},
		})
		t.connect(from, n.ID, Triggers)
	default: // other facts do not appear in the graph
	}
}

func (b *builder) ticket(id floodmark.TicketID, args floodmark.Digest) {
	b.tickets[id] = append(b.tickets[id], args)
	b.note(args, "ticket", string(id))
}

// note adds pairs of a key and a value to the newest decision on these arguments.
func (b *builder) note(args floodmark.Digest, pairs ...string) {
	d := b.answers[args]
	if d == nil {
		return
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			d.Metadata[pairs[i]] = pairs[i+1]
		}
	}
}

// incident adds a node for an incident.
func (b *builder) incident(f floodmark.IncidentSeen) {
	t := b.turn()
	n := t.add(Node{
		ID: t.next("decision"), Kind: floodmark.NodeDecision, Trust: b.ledger.Mark().Trust, Tool: f.Tool.String(),
		BlockReason: f.Text, Metadata: map[string]string{"incident": f.Kind, "time": stamp(b.at)},
	})
	if id := b.calls[f.Call]; t.node(id) != nil {
		t.connect(n.ID, id, DerivesFrom)
	}
}
