package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/intent"
	"github.com/floodmark/floodmark/internal/meaning"
	"github.com/floodmark/floodmark/internal/redact"
	"github.com/floodmark/floodmark/internal/tokens"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/report"
)

// secretLength is the least length of a part of a value that is looked up as a
// secret: shorter ones are in any text.
const secretLength = 8

// maxSecrets bounds the secrets that are remembered of one content. Of more, all
// of it counts as one.
const maxSecrets = 64

// found returns the secrets in a content, ready to be written down.
func (st *step) found(text string) []floodmark.SecretSpan {
	spans := st.r.secrets.Find(text)
	if len(spans) > maxSecrets {
		last := spans[len(spans)-1]
		return []floodmark.SecretSpan{{Rule: "many", Start: spans[0].Start, End: last.End}}
	}
	p := st.printer()
	var list []floodmark.SecretSpan
	for _, s := range spans {
		list = append(list, p.Span(s, text[s.Start:s.End]))
	}
	for _, s := range st.kept(text) {
		same := func(o floodmark.SecretSpan) bool { return s.Start < o.End && o.Start < s.End }
		if !slices.ContainsFunc(list, same) {
			list = append(list, s)
		}
	}
	return list
}

func (st *step) printer() redact.Printer {
	return redact.NewPrinter(provenance.RingKey{Name: st.in.KeyName, Key: st.in.Key}, st.in.Others)
}

// secret reports whether a value carries something seen in secret content: as
// it is, inside a longer token such as a URL, or in a plain encoding.
//
// What goes home is none: home is the server of the owner's own that is called,
// and a value that it told goes nowhere new.
func (st *step) secret(tr *provenance.Tracer, value string, whole floodmark.Argument, home string) bool {
	if st.mark.Secrecy > floodmark.Secret {
		return false
	}
	if whole.Whence == floodmark.Seen && !whole.Pieced && st.toldBy(whole, home) {
		return false
	}
	if whole.Whence == floodmark.Seen && st.allSecret(whole) {
		return true
	}
	n := 0
	for tok := range tokens.Tokens(value) {
		if n++; n > maxContentTokens {
			return true // too long to look through
		}
		if tok.Kind == tokens.Word || tok.Kind == tokens.Name {
			if len(tok.Text) < 2*secretLength {
				continue
			}
		}
		if slices.ContainsFunc(redact.Forms(value[tok.Start:tok.End], secretLength), func(part string) bool { return st.secretPart(tr, part) }) {
			return true
		}
	}
	return false
}

func (st *step) secretPart(tr *provenance.Tracer, part string) bool {
	a := tr.Trace(hook.Leaf{Value: part}, floodmark.Content, "")
	return a.Whence == floodmark.Seen && st.allSecret(a)
}

// allSecret reports whether a value was seen in content that is secret as a
// whole. Where single secrets were found, only they are.
func (st *step) allSecret(a floodmark.Argument) bool {
	return slices.ContainsFunc(a.Spans, func(sp floodmark.Span) bool {
		return st.s.Ledger.Effective(sp.Node).Secrecy <= floodmark.Secret && st.declared(sp.Node, map[floodmark.NodeID]bool{})
	})
}

// declared reports whether a node, or something it was made from, is secret for
// another reason than what was found in it.
func (st *step) declared(n floodmark.NodeID, looked map[floodmark.NodeID]bool) bool {
	src, ok := st.s.Ledger.Source(n)
	if !ok || src.Label.Secrecy <= floodmark.Secret || slices.ContainsFunc(src.Secrets, st.unrecognised) {
		return true
	}
	looked[n] = true
	inputs := src.Inputs
	if src.Whole {
		inputs = nil
		for i := range n {
			inputs = append(inputs, i)
		}
	}
	return slices.ContainsFunc(inputs, func(in floodmark.NodeID) bool { return !looked[in] && st.declared(in, looked) })
}

func unprinted(s floodmark.SecretSpan) bool { return s.Print == "" }

// unrecognised reports whether a secret would not be known again here: it has no
// print, or one under a key that is not here.
func (st *step) unrecognised(s floodmark.SecretSpan) bool {
	if unprinted(s) {
		return true
	}
	under := redact.PrintedUnder(s)
	return under != st.in.KeyName && !slices.ContainsFunc(st.in.Others, func(k provenance.RingKey) bool { return k.Name == under })
}

// secretsIn notes the secrets in what a call or an answer would take along: those
// that were found in content, in any reading, and those that show by themselves
// who made them.
func (st *step) secretsIn(b *floodmark.Basis, texts []string) {
	add := func(c floodmark.Carried) {
		b.SecretInArgs = true
		if !slices.Contains(b.Carried, c) && len(b.Carried) < maxNamed {
			b.Carried = append(b.Carried, c)
		}
	}
	if nodes, secrets := st.secretsSeen(); len(secrets) > 0 {
		p := st.printer()
		bares := []string{redact.Squeezed(strings.Join(texts, ""))} // a secret may be in pieces
		for _, text := range texts {
			bares = append(bares, redact.Readings(text)...)
		}
		for _, bare := range bares {
			for _, i := range p.Holds(bare, secrets) {
				s := secrets[i]
				add(floodmark.Carried{Rule: s.Rule, Seen: true, Node: nodes[i], Start: s.Start, End: s.End})
			}
		}
	}
	for _, s := range st.r.secrets.Find(strings.Join(texts, "\n")) {
		known := slices.ContainsFunc(b.Carried, func(c floodmark.Carried) bool { return c.Rule == s.Rule })
		if s.Rule != redact.Generic && !known {
			add(floodmark.Carried{Rule: s.Rule})
		}
	}
}

func values(leaves []hook.Leaf) []string {
	list := make([]string, len(leaves))
	for i, leaf := range leaves {
		list[i] = leaf.Value
	}
	return list
}

// maxNamed bounds the secrets a decision names.
const maxNamed = 8

// guard notes the secrets in content that comes in. What the owner wrote is kept
// without them.
func (st *step) guard(f *floodmark.ContentSeen, text string) {
	if text == "" {
		text = f.Text
	}
	if text == "" || len(f.Secrets) > 0 {
		return
	}
	f.Secrets = st.found(text)
	if f.Text != "" && len(f.Secrets) > 0 {
		f.Text = redact.Without(st.r.secrets, f.Text)
	}
}

// secretsSeen are the secrets that were found in this session, and where. A source with one is secret.
func (st *step) secretsSeen() (nodes []floodmark.NodeID, secrets []floodmark.SecretSpan) {
	for _, n := range st.s.Ledger.Secret() {
		src, _ := st.s.Ledger.Source(n)
		for _, s := range src.Secrets {
			if s.Print != "" {
				nodes, secrets = append(nodes, src.Node), append(secrets, s)
			}
		}
	}
	return nodes, secrets
}

// nameSecrets says in the reason against a call which secrets it carries.
func (st *step) nameSecrets(j *judged) {
	if len(j.basis.Carried) == 0 {
		return
	}
	reasons := slices.Clone(j.ruling.Reasons)
	for i, r := range reasons {
		if r.Code == floodmark.FlowSecret && r.Verdict == floodmark.Restrict {
			reasons[i].Text += ": " + st.carriedWords(j.basis.Carried)
		}
	}
	j.ruling.Reasons = reasons
}

// carriedWords names secrets by rule and place, never by what they are.
func (st *step) carriedWords(list []floodmark.Carried) string {
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = c.Rule
		if src, ok := st.s.Ledger.Source(c.Node); ok && c.Seen && c.End > 0 {
			words[i] += fmt.Sprintf(" at %d-%d of %s", c.Start, c.End, meaning.Source(src, st.s.Ledger.Effective(c.Node).Trust))
		}
	}
	return strings.Join(words, ", ")
}

// home returns the server that a call stays with: one of the owner's own, which
// keeps what it is told to itself. A call that reaches others has none.
func (st *step) home(j *judged) string {
	if !j.use.Own || slices.Contains(j.action.Effects, floodmark.Send) || slices.Contains(j.action.Effects, floodmark.Run) {
		return ""
	}
	return j.action.Tool.Server
}

// toldBy reports whether a value was seen only in results of the tools of one
// server of the owner's.
func (st *step) toldBy(a floodmark.Argument, server string) bool {
	return server != "" && len(a.Spans) > 0 && !slices.ContainsFunc(a.Spans, func(sp floodmark.Span) bool {
		src, ok := st.s.Ledger.Source(sp.Node)
		return !ok || src.Origin.Server != server || !intent.OwnTool(st.r.Catalog, st.ev.Agent, src)
	})
}

// veiled returns text without the credentials in it.
func (st *step) veiled(text string) string { return st.r.veils().Text(st.r.secrets, text) }

// veiledLine is the same for a command line, in which no command is hidden.
func (st *step) veiledLine(text string) string { return st.r.veils().Line(st.r.secrets, text) }

// What an undescribed tool returns has the zero label: it counts as secret. This file keeps
// that apart from secrets that were found or declared. The call of such a tool, or one that
// could carry its result away, is never allowed for it; a person is asked where a secret
// would be refused, and told what is missing.

// unknown returns [floodmark.Undescribed] if the result of a call will count as secret only
// because its tool is not described.
func unknown(c hook.Call, j *judged) floodmark.Code {
	said := c.Hints != nil && c.Hints.Secrecy == floodmark.Secret.String()
	if j == nil || j.use.Profile != nil || j.use.PathKind == catalog.Secret || len(j.kept) > 0 || said {
		return ""
	}
	return floodmark.Undescribed
}

// judgedOf classifies a call again as its result tells it; nil if that cannot be read.
func (st *step) judgedOf(c hook.Call) *judged {
	leaves, err := c.Leaves()
	if err != nil {
		return nil
	}
	j := st.classified(c, leaves)
	return &j
}

// undescribed names the tools whose results are the only reason for which a call touches
// anything that counts as secret; none if there is any other.
func (st *step) undescribed(b *floodmark.Basis) (tools []string) {
	other := b.SecretPath || len(b.Carried) > 0 || slices.ContainsFunc(b.Loads, func(l floodmark.Load) bool { return l.Label.Secrecy <= floodmark.Secret })
	if other || st.s.Ledger.Lowest().Secrecy > floodmark.Secret {
		return nil
	}
	for _, n := range st.s.Ledger.Secret() {
		src, _ := st.s.Ledger.Source(n)
		if !st.s.Ledger.Live(src.Node) {
			continue
		}
		if src.Because != floodmark.Undescribed || len(src.Secrets) > 0 {
			return nil
		}
		tools = addNew(tools, floodmark.ToolRef{Server: src.Origin.Server, Name: src.Origin.Name}.String())
	}
	return tools
}

// nameUndescribed says in the reasons against a call which tools are not described: those
// whose results count as secret, and the one that is called.
func nameUndescribed(j *judged) {
	reasons := slices.Clone(j.ruling.Reasons)
	for i, r := range reasons {
		if r.Code == floodmark.Undescribed {
			reasons[i].Text += " (" + report.Visible(strings.Join(j.question.Reach.Undescribed, ", ")) + ")"
		}
	}
	if j.basis.Undescribed && len(reasons) > 0 && reasons[0].Code == floodmark.TaintEscalation {
		reasons[0].Text = report.Visible(j.action.Tool.String()) + " is not described, so it counts as a program that may do anything, and " + reasons[0].Text
	}
	j.ruling.Reasons = reasons
}

// describing says what the owner can do where undescribed tools are the reason that a call is held.
func (j *judged) describing() string {
	var tools []string
	for _, r := range j.decision.Reasons {
		if r.Code == floodmark.Undescribed {
			tools = slices.Clone(j.question.Reach.Undescribed)
		}
	}
	if j.basis.Undescribed && j.action.Kind == floodmark.CallTool {
		tools = addNew(tools, j.action.Tool.String())
	}
	return meaning.Describe(tools)
}
