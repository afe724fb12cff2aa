package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/rules/lull"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/report"
)

// beforeReply is the last gate of a turn. To the owner alone the answer goes
// out, with links that would load by themselves made inert and a footer naming
// what it draws on; to any other audience it is judged as a send.
func (st *step) beforeReply() {
	action := floodmark.Action{Kind: floodmark.SendReply, Audience: string(st.ev.Audience), ArgsDigest: digestOf(st.ev.Text)}
	text, changed := st.inert(st.ev.Text)
	if changed {
		st.out.Reply.Text = text
	}
	drawn := st.draws()
	st.out.Reply.Footer = st.footer(drawn)
	if st.ev.Audience == hook.ToOwner {
		action.Arguments = drawn.arguments
		st.decide(action, st.mark, st.mark.Trust, floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}, floodmark.Basis{})
		st.endTurn()
		return
	}
	j := judged{mark: st.mark, action: action}
	j.action.Tool, j.action.Effects = st.ref("", "reply"), []floodmark.Effect{floodmark.Send}
	tr := st.tracer(st.node)
	j.basis.Network, j.basis.FreeContent = true, true
	j.basis.SecretInArgs = st.secret(tr, st.ev.Text, floodmark.Argument{}, "")
	j.basis.Carried = st.secrets().Carried([]string{st.ev.Text})
	j.basis.SecretInArgs = j.basis.SecretInArgs || len(j.basis.Carried) > 0
	j.basis.ActiveContent, j.basis.PrivateContent = st.active(tr, st.ev.Text)
	st.ruleReply(&j)
	if j.grant != nil {
		st.keep(floodmark.GrantUsed{Ticket: j.grant.Ticket, Tool: j.action.Tool})
	}
	st.enforce(&j.decision, &j)
	st.quiet(&j)
	st.decide(j.action, j.mark, j.question.Trust, j.decision, j.basis)
	if j.decision.Verdict == floodmark.Confirm {
		st.out.Reply.Line = report.Line(&st.s.Ledger, j.decided())
		st.ask(&j)
		return // the turn stays open until the answer leaves or the session ends
	}
	if j.decision.Verdict == floodmark.Restrict {
		st.out.Reply.Line = report.Line(&st.s.Ledger, j.decided())
	}
	st.endTurn()
}

// ruleReply is rule for an answer to others.
func (st *step) ruleReply(j *judged) {
	st.rule(j, st.now())
	j.decision.Verifiers = nil // gates are asked only about calls of tools
	if j.decision.Verdict == floodmark.Audit {
		j.decision.Verdict = floodmark.Confirm // there is no call to show an auditor
		st.remedy(&j.decision, j.mark.Trust)
	}
}

// footer names what an answer draws on when some of it comes from outside,
// and what was blocked on the way.
func (st *step) footer(d drawing) string {
	var parts []string
	if d.on != "" {
		parts = append(parts, "informed by "+d.on)
	}
	if d.piece != "" {
		parts = append(parts, d.piece)
	}
	var blocked []string
	for _, r := range st.s.Refused {
		blocked = append(blocked, report.Visible(r.Tool.String()))
	}
	if slices.Sort(blocked); len(blocked) > 0 {
		parts = append(parts, "blocked: "+strings.Join(slices.Compact(blocked), ", ")+", see «floodmark why»")
	}
	if st.pause != (floodmark.Pause{}) {
		parts = append(parts, lull.Notice(st.pause))
	}
	return strings.Join(parts, "; ")
}

// A drawing is what an answer shows of content believed less than Shared.
type drawing struct {
	on        string // the sources; empty if the answer draws on none
	piece     string // what it repeats, and of which source; empty if nothing
	arguments []floodmark.Argument
}

// fewRuns is how many short pieces of foreign content an answer may repeat before it is taken to
// draw on that content: two may be chance, or the title of what the owner asked about.
const fewRuns = 2

// longRun is how many words in a row cannot be chance. The index holds windows of five words at
// every fourth one: nine are two windows.
const longRun = 9

// draws returns what an answer shows of content trusted below Shared. An answer draws on such
// content if it repeats nine words in a row (of twelve copied ones nine are always found) or more
// than a few shorter pieces, or if it names something that was first seen in untrusted content. If
// that cannot be told, because the answer is too short or too long or nothing is known of what was
// seen, the answer is taken to draw on it.
func (st *step) draws() drawing {
	if st.mark.Trust >= floodmark.Shared {
		return drawing{}
	}
	d := drawing{on: st.drawn()}
	runs, words, ok := st.tracer(st.node).Repeats(st.ev.Text, floodmark.External)
	if d.on == "" || !ok || words < provenance.Untraceable {
		return d
	}
	var shown *provenance.Repeat
	short := 0
	for i := range runs {
		r := &runs[i]
		if !r.Name {
			short++
		}
		telling := !r.Name && r.Words >= longRun || r.Name && r.Trust == floodmark.Untrusted
		if telling && (shown == nil || r.Words > shown.Words) {
			shown = r
		}
	}
	if shown == nil && short > fewRuns {
		shown = &runs[slices.IndexFunc(runs, func(r provenance.Repeat) bool { return !r.Name })]
	}
	if shown == nil {
		return drawing{}
	}
	d.piece = st.repeats(*shown)
	d.arguments = []floodmark.Argument{{
		Path: "text", Role: floodmark.Content, Whence: floodmark.Seen, Trust: shown.Trust,
		Spans: []floodmark.Span{shown.Span}, Pieced: true,
	}}
	return d
}

// repeats returns which words were seen where: «repeats "…" of a web page at 634».
func (st *step) repeats(r provenance.Repeat) string {
	verb := "repeats"
	if r.Name {
		verb = "names"
	}
	src, _ := st.s.Ledger.Source(r.Span.Node)
	words := report.Visible(strings.Join(strings.Fields(st.ev.Text[r.From:r.To]), " "))
	return fmt.Sprintf("%s «%s» of the %s at %d", verb, words, approval.Noun(src.Origin), r.Span.Offset)
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
		k := sort{trust, approval.Noun(src.Origin)}
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
			n = approval.Plural(n)
		}
		words[i] = fmt.Sprintf("%d %s %s", counts[k], k.trust, n)
	}
	if len(words) > 1 {
		return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
	}
	return strings.Join(words, "")
}
