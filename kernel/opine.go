package kernel

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/secret"
	"github.com/floodmark/floodmark/kernel/lists"
	"github.com/floodmark/floodmark/policy"
)

// auditable reports whether an auditor may resolve the call at all. An attacker's text can reach
// the auditor inside arguments, so the worst calls, and calls that carry a secret, are left to
// people.
func (st *step) auditable(j *judged) bool {
	if !st.settings().AuditorOn || j.ruling.Flow || j.basis.SecretInArgs || len(j.action.Effects) == 0 {
		return false
	}
	trust := min(j.mark.Trust, j.question.Trust)
	for _, e := range j.action.Effects {
		if e == floodmark.Admin || e == floodmark.Run && trust < floodmark.Local {
			return false
		}
	}
	return st.auditCase(j).Fits()
}

// auditCase returns what the auditor is shown: the owner's words and the call.
func (st *step) auditCase(j *judged) audit.Case {
	c := audit.Case{OwnerMessages: slices.Clone(st.s.Owner), OwnerTurns: slices.Clone(st.s.Said), Tool: j.action.Tool, Effects: j.action.Effects}
	for src := range st.s.Ledger.Sources() {
		switch o := src.Origin; {
		case o.Kind == floodmark.FromTool && o.Name != "":
			c.SourceTools = lists.AddNew(c.SourceTools, o.Name)
		case src.Label.Trust < floodmark.Owner:
			c.SourceKinds = lists.AddNew(c.SourceKinds, o.Kind)
		}
	}
	for i, leaf := range j.leaves {
		a := st.auditArgument(j, leaf, j.action.Arguments[i])
		a.Cut = a.Cut || slices.Contains(j.basis.Long, i)
		c.Arguments = append(c.Arguments, a)
	}
	return c
}

// maxAudited is the longest value that is looked through for secrets, so that its beginning can be
// shown. Nothing is shown of a longer value, because a secret might be cut in two and missed.
const maxAudited = 64 << 10

// auditArgument returns one value without what looks like a secret.
func (st *step) auditArgument(j *judged, leaf hook.Leaf, a floodmark.Argument) audit.Argument {
	text := leaf.Value
	chars := utf8.RuneCountInString(text)
	if len(text) > maxAudited || argument(j.use, leaf).Is == catalog.IsSecret || secret.IsName(leaf.Path) {
		text = audit.Redacted(chars)
	} else {
		text = st.r.secrets.Veil(text)
	}
	out := audit.NewArgument(leaf.Path, text, a.Whence == floodmark.Seen && a.Trust < floodmark.Owner)
	out.Chars = chars
	out.File = a.Role == floodmark.Content && slices.Contains(j.action.Effects, floodmark.Write) && !slices.Contains(j.action.Effects, floodmark.Send)
	return out
}

// hides reports whether an auditor is kept from seeing a part of a value that it would have to see:
// a link written as «token: …» must not pass unseen. An argument that is a secret by its profile
// may be hidden.
func (st *step) hides(j *judged, leaf hook.Leaf) bool {
	return argument(j.use, leaf).Is != catalog.IsSecret && leaf.Value != "" && (secret.IsName(leaf.Path) || st.r.secrets.Veil(leaf.Value) != leaf.Value)
}

// CaseOf returns what an auditor would be shown of a call, even if it is not asked:
// for measuring auditors. It reports false if the call cannot be read.
func CaseOf(s *State, r Rules, in Input) (audit.Case, bool) {
	st := newStep(s, r, in)
	j := st.judgeCall(in.Event.Call)
	if j.basis.Unreadable {
		return audit.Case{}, false
	}
	return st.auditCase(j), true
}

// Opine takes the auditor's opinion on a call that was answered with Audit. The zero Opinion means
// that the auditor gave none. The call is judged anew, because the session may have changed
// meanwhile.
func Opine(s *State, r Rules, in Input, o audit.Opinion) (Output, error) {
	st := newStep(s, r, in)
	if err := st.heed(); err != nil {
		return Output{}, err
	}
	st.ensureOpen()
	st.ensureRules()
	st.openTurn()
	j := st.judgeCall(in.Event.Call)
	if j.decision.Verdict == floodmark.Audit {
		f := st.opinionGiven(j, o)
		st.keep(f)
		st.opined(j, f)
	}
	st.finish(j)
	return st.out, nil
}

// opinionGiven returns the fact that an opinion, or none, leads to.
func (st *step) opinionGiven(j *judged, o audit.Opinion) floodmark.OpinionGiven {
	f := floodmark.OpinionGiven{Call: j.action.Call, ArgsDigest: j.action.ArgsDigest, Verdict: floodmark.Confirm, Says: o.Says.String()}
	said := ""
	if o.Reason != "" {
		said = ": " + strconv.Quote(o.Reason)
	}
	switch o.Says {
	case audit.Allow:
		f.Verdict, f.Text = floodmark.Allow, "the auditor finds it consistent with the owner's words"
	case audit.Block:
		f.Text = "the auditor does not find it in the owner's words" + said
	case audit.Unsure:
		f.Text = "the auditor cannot tell from the owner's words" + said
	default:
		f.Text = "the auditor gave no opinion"
		if o.Reason != "" {
			f.Text = "the auditor " + o.Reason
		}
		st.unheard(j, &f)
	}
	return f
}

// unheard lets a call without an opinion through if the policy wants that and would have allowed
// the call without an auditor. So an attacker who keeps the auditor from answering gains nothing.
func (st *step) unheard(j *judged, f *floodmark.OpinionGiven) {
	f.Verdict = floodmark.Confirm
	f.Text, _, _ = strings.Cut(f.Text, withoutOne)
	if st.settings().AuditorFailMode > policy.FailBlock && j.ruling.Unaudited == floodmark.Allow {
		f.Verdict = floodmark.Allow
		f.Text += withoutOne
	}
}

// withoutOne is the text for a call that was allowed without an opinion.
const withoutOne = "; without an auditor it would have been allowed"

// recalled takes a recorded opinion into a decision that is made again. If the auditor was silent,
// the rules of now say what follows.
func (st *step) recalled(j *judged, f floodmark.OpinionGiven) {
	if f.Says == audit.Silent.String() {
		st.unheard(j, &f)
	}
	st.opined(j, f)
}

// opined takes an opinion into the decision.
func (st *step) opined(j *judged, f floodmark.OpinionGiven) {
	j.decision.Verdict = f.Verdict
	reason := floodmark.Reason{Code: floodmark.Audited, Rule: "auditor", Text: f.Text, Verdict: f.Verdict}
	j.decision.Reasons = append([]floodmark.Reason{reason}, j.decision.Reasons...)
	if f.Verdict < floodmark.Allow {
		st.remedy(&j.decision, j.mark.Trust)
	} else {
		j.decision.Remedy, j.decision.Blame = floodmark.Remedy{}, nil
	}
}
