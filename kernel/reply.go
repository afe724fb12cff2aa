package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// beforeReply is the last gate of a turn. To the owner alone the answer goes
// out, with links that would load by themselves made inert and a footer naming
// what it draws on; to anybody else it is judged as a send.
func (st *step) beforeReply() {
	action := floodmark.Action{Kind: floodmark.SendReply, Audience: string(st.ev.Audience), ArgsDigest: digestOf(st.ev.Text)}
	text, changed := st.inert(st.ev.Text)
	if changed {
		st.out.Reply.Text = text
	}
	st.out.Reply.Footer = st.footer()
	if st.ev.Audience == hook.ToOwner {
		st.decide(action, st.mark, st.mark.Trust, floodmark.Decision{Verdict: floodmark.Allow}, floodmark.Basis{})
		st.endTurn()
		return
	}
	j := judged{mark: st.mark, action: action}
	j.action.Tool, j.action.Effects = st.ref("", "reply"), []floodmark.Effect{floodmark.Send}
	tr := st.tracer(st.node)
	j.basis.Network, j.basis.FreeContent = true, true
	j.basis.SecretInArgs = st.secret(tr, st.ev.Text, floodmark.Argument{})
	j.basis.ActiveContent, j.basis.PrivateContent = st.active(tr, st.ev.Text)
	st.ruleReply(&j)
	if j.grant != nil {
		st.keep(floodmark.GrantUsed{Ticket: j.grant.Ticket, Tool: j.action.Tool})
	}
	st.enforce(&j.decision)
	st.decide(j.action, j.mark, j.question.Trust, j.decision, j.basis)
	if j.decision.Verdict == floodmark.Confirm {
		st.out.Reply.Line = st.line(j)
		st.ask(j)
		return // the turn stays open until the answer leaves or the session ends
	}
	if j.decision.Verdict == floodmark.Restrict {
		st.out.Reply.Line = st.line(j)
	}
	st.endTurn()
}

// ruleReply is rule for an answer to others.
func (st *step) ruleReply(j *judged) {
	st.rule(j, st.now())
	if j.decision.Verdict == floodmark.Audit {
		j.decision.Verdict = floodmark.Confirm // there is no call to show an auditor
		st.remedy(&j.decision, j.mark.Trust)
	}
}

// footer names what an answer draws on when some of it comes from outside,
// and what was blocked on the way.
func (st *step) footer() string {
	var parts []string
	if st.mark.Trust < floodmark.Shared {
		if drawn := st.drawn(); drawn != "" {
			parts = append(parts, "informed by "+drawn)
		}
	}
	var blocked []string
	for _, r := range st.s.Refused {
		blocked = append(blocked, visible(r.Tool.String()))
	}
	if slices.Sort(blocked); len(blocked) > 0 {
		parts = append(parts, "blocked: "+strings.Join(slices.Compact(blocked), ", "))
	}
	return strings.Join(parts, "; ")
}

// drawn counts the sources by trust and sort: «2 external e-mails and 1 shared
// memory».
func (st *step) drawn() string {
	type sort struct {
		trust floodmark.Trust
		noun  string
	}
	counts := map[sort]int{}
	var order []sort
	for src := range st.s.Ledger.Sources() {
		trust := st.s.Ledger.Effective(src.Node).Trust
		if !st.s.Ledger.Live(src.Node) || trust > floodmark.Shared || src.Whole {
			continue
		}
		k := sort{trust, noun(src.Origin)}
		if counts[k] == 0 {
			order = append(order, k)
		}
		counts[k]++
	}
	slices.SortStableFunc(order, func(a, b sort) int { return int(a.trust) - int(b.trust) })
	words := make([]string, len(order))
	for i, k := range order {
		n := k.noun
		if counts[k] > 1 {
			n = plural(n)
		}
		words[i] = fmt.Sprintf("%d %s %s", counts[k], k.trust, n)
	}
	if len(words) > 1 {
		return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
	}
	return strings.Join(words, "")
}

// noun is what people call content of an origin.
func noun(o floodmark.Origin) string {
	name := strings.ToLower(o.Name)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
	}
	switch {
	case o.Kind == floodmark.FromSender:
		return "message"
	case o.Kind == floodmark.FromTool && has("mail"):
		return "e-mail"
	case o.Kind == floodmark.FromTool && has("vestige", "memory"):
		return "memory"
	case o.Kind == floodmark.FromTool && has("web", "fetch", "browser", "search", "url"):
		return "web page"
	case o.Kind == floodmark.FromTool && has("calendar"):
		return "calendar entry"
	case o.Kind == floodmark.FromTool && has("read", "file"), o.Kind == floodmark.FromFile:
		return "file"
	case o.Kind == floodmark.FromTool:
		return "result of " + visible(o.Name)
	case o.Kind == floodmark.FromChild:
		return "sub-agent result"
	case o.Kind == floodmark.FromPaste:
		return "pasted text"
	}
	return "source"
}

func plural(n string) string {
	if head, rest, ok := strings.Cut(n, " of "); ok {
		return plural(head) + " of " + rest
	}
	if stem, ok := strings.CutSuffix(n, "y"); ok {
		return stem + "ies"
	}
	return n + "s"
}
