package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/intent"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/kernel/lists"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// A judged is one call with all that was found out about it.
type judged struct {
	action   floodmark.Action
	use      catalog.Use
	leaves   []hook.Leaf
	basis    floodmark.Basis
	mark     floodmark.Label
	question policy.Question
	ruling   policy.Ruling
	decision floodmark.Decision
	returns  floodmark.Label // the label that the result will have
	kept     []floodmark.SecretSpan
	inputs   []floodmark.NodeID // the sources its arguments were seen in
	around   []artifact.Kept    // records of what it may load from outside of the project
	pattern  string             // what a wider approval would cover
	grant    *approval.Grant    // the approval that let it through, if it needed one

	// Both are for a recorded call: unkept are the leaves that were not kept, and assume says what
	// is assumed of a rule that looks at them.
	unkept []string
	assume func(rule string) bool
}

// judgeCall judges a call. If grants let its box reach hosts, the call is judged once more as one
// that reaches them. That judgement is taken unless the policy refuses it, or would ask about a
// call that may run in its box without hosts.
func (st *step) judgeCall(c hook.Call) *judged {
	j := st.unplugged(c, st.judge(c, nil))
	boxed := j.decision.Contained()
	failed := j.decision.Verdict == floodmark.Confirm && st.failedInBox(&j.action)
	if !st.ev.Holes || !boxed && !failed || !slices.Contains(j.action.Effects, floodmark.Run) || slices.ContainsFunc(j.action.Effects, goesOut) {
		return j
	}
	if st.hosts, st.hostsBy = st.s.Book.Reaches(j.action.Tool, j.action.ArgsDigest, st.in.At, st.ev.Granted, st.ev.Repository); len(st.hosts) == 0 {
		return j
	}
	out := st.judge(c, nil)
	st.hosts = nil
	if out.ruling.Verdict == floodmark.Restrict || boxed && out.decision.Verdict != floodmark.Allow {
		return j
	}
	st.out.Reply.Tried = slices.Contains(out.action.Effects, floodmark.Fetch)
	return out
}

// judge finds out what a call is, where its arguments came from, and what the policy says of it. If
// in is nil, the call is judged in the context in which the model proposed it.
func (st *step) judge(c hook.Call, in *Context) *judged {
	ref := st.ref(c.Server, c.Name)
	j := &judged{mark: st.mark, action: floodmark.Action{Kind: floodmark.CallTool, Call: callID(c), Tool: ref}}
	leaves, err := c.Leaves()
	if err != nil {
		j.action.ArgsDigest = floodmark.DigestOf(string(c.Args))
		st.unreadable(j)
		return j
	}
	j.action.ArgsDigest = hook.DigestOf(leaves)
	j.action.Iteration = st.s.ForCall(slices.Contains(st.s.Proposed, proposed(j.action)))
	ctx := st.authority(j.action)
	if in != nil {
		ctx = *in
	}
	j.use, j.kept = st.left().LookInto(st.r.Catalog.Classify(ref, leaves, c.Hints, st.places()), st.secrets)
	st.letOut(j)
	st.asksOwn(&j.use, leaves, ctx.Mark)
	for _, address := range j.use.URLs {
		leaves = append(leaves, hook.Leaf{Path: floodmark.CommandAddress, Top: floodmark.CommandAddress, Value: address})
	}
	j.leaves = leaves
	j.basis.Moved = st.left().Shell(j.onDisk(), c.Hints, ctx.Mark)
	tr := st.tracer(ctx.Nodes)
	j.action.Effects = j.use.Effects
	st.left().Behind(j.onDisk())
	j.action.Effects = j.use.Effects
	j.action.Arguments, j.inputs = st.arguments(tr, j.use, leaves)
	j.action.Effects = j.use.Settle(j.action.Effects, j.action.Arguments)
	st.ground(j, tr, ctx)
	st.loads(j, ctx.Mark)
	st.ev.Push = st.ev.Push.In(j.use.PushesToo).Searched(st.secrets().HoldsKept)
	j.basis.SecretInArgs = j.basis.SecretInArgs || st.ev.Push != nil && st.ev.Push.Holds != ""
	j.basis.Others = st.ev.Push.With(j.basis.Others)
	j.basis.Hinted = c.Hints != nil
	j.basis.Gates = st.r.Gates.For(ref.Agent, ref, j.action.Effects)
	j.returns = st.placed(ref, j.basis.Returns, j.basis.Location, j.use.Place)
	st.rule(j, ctx)
	return j
}

// rule decides an action by its basis and a context. Live and recorded calls both come through
// here, so the same facts give the same answer.
func (st *step) rule(j *judged, ctx Context) {
	b := &j.basis
	ctx = st.below(b, ctx)
	j.mark = ctx.Mark
	j.action.Effects = effectsAt(j.action.Effects, b, ctx.Mark.Trust)
	j.question = policy.Question{
		Agent: j.action.Tool.Agent, Tool: j.action.Tool, Effects: j.action.Effects, SelfProtected: b.SelfProtected, Findings: b.Found(),
		Mark: ctx.Mark, Trust: ctx.Mark.Trust, Levels: ctx.Levels,
		Args: j.action.Arguments, Leaves: j.leaves, Unkept: j.unkept, Assume: j.assume,
		Iteration: j.action.Iteration, Turn: st.turn(), Sources: st.sources(),
		Reach: st.reached(b, j.action.Arguments), Unseen: st.s.Unseen,
	}
	j.question.Boxable = b.Boxable && doneInside(j.action.Effects)
	st.raise(&j.question, b)
	if b.SecretPath && b.Network {
		// A secret file that is sent need not have been read before.
		j.question.Mark.Secrecy, j.question.Reach.SecretInArgs, j.question.Reach.SecretFile = floodmark.Secret, true, slices.Contains(j.action.Effects, floodmark.Send)
		j.question.Reach.Undescribed = nil
	}
	st.authorise(j)
	if j.ruling = st.r.Policy.Decide(&j.question); len(b.Hosts) > 0 {
		j.ruling.Reach = floodmark.Boxed
	}
	j.ruling.Reasons = st.secrets().NameCarried(j.ruling.Reasons, j.basis.Carried)
	nameUndescribed(j)
	j.pattern = j.subject().Wider(j.question.Reach.URLArg)
	st.conclude(j)
}

// effectsAt returns the effects of a call in a context of some trust. At Owner, a file that
// instructs an agent is a file like any other. From Local on, the effects that a call has only
// because of where it writes are left out.
func effectsAt(effects []floodmark.Effect, b *floodmark.Basis, trust floodmark.Trust) []floodmark.Effect {
	if len(b.Placed) > 0 {
		effects = slices.DeleteFunc(slices.Clone(effects), func(e floodmark.Effect) bool { return slices.Contains(b.Placed, e) })
		if trust < floodmark.Local {
			effects = append(effects, b.Placed...)
		}
	}
	rest := except(effects, floodmark.Admin)
	switch {
	case !b.Instructs || b.SelfProtected || trust >= floodmark.Owner && len(rest) == 0:
		return effects
	case trust >= floodmark.Owner:
		return rest
	default:
		return lists.AddNew(slices.Clip(effects), floodmark.Admin)
	}
}

func except(effects []floodmark.Effect, gone floodmark.Effect) []floodmark.Effect {
	return slices.DeleteFunc(slices.Clone(effects), func(e floodmark.Effect) bool { return e == gone })
}

// unreadable restricts a call whose arguments cannot be looked at one by one.
func (st *step) unreadable(j *judged) {
	j.basis.Unreadable = true
	j.decision = floodmark.Decision{
		Verdict: floodmark.Restrict, Reach: floodmark.Free,
		Reasons: []floodmark.Reason{{Code: floodmark.Unjudged, Text: "its arguments cannot be read"}},
		Remedy: floodmark.Remedy{
			Agent:  "Send the arguments as one JSON object without repeated keys.",
			Person: "There is nothing for you to do: the agent has to write it again.",
		},
	}
	j.question.Trust = floodmark.Untrusted
}

// arguments returns where every value came from, and the sources that values were seen in.
func (st *step) arguments(tr *provenance.Tracer, use catalog.Use, leaves []hook.Leaf) ([]floodmark.Argument, []floodmark.NodeID) {
	if len(leaves) == 0 {
		return nil, nil
	}
	args := make([]floodmark.Argument, len(leaves))
	var inputs []floodmark.NodeID
	for i, leaf := range leaves {
		about := argument(use, leaf)
		args[i] = tr.Trace(leaf, about.Role, intent.RoleName(about, leaf))
		args[i].Shown = st.r.secrets.Shown(about, leaf)
		if args[i].Whence == floodmark.Seen && len(args[i].Spans) > 0 && !once(about, leaf, args[i]) {
			inputs = lists.AddNew(inputs, args[i].Spans[0].Node)
		}
	}
	slices.Sort(inputs)
	return args, inputs
}

// maxCode bounds a code for one use.
const maxCode = 8

// once reports whether a value is a code that was sent for one use and is given back unchanged. The
// message with the code is then no source of the call's result.
func once(about catalog.Arg, leaf hook.Leaf, a floodmark.Argument) bool {
	return about.Is == catalog.IsCode && !a.Pieced && len(leaf.Value) <= maxCode && leaf.Value != "" && strings.Trim(leaf.Value, "0123456789") == ""
}

// argument returns what is known about a value of a call.
func argument(use catalog.Use, leaf hook.Leaf) catalog.Arg {
	if leaf.Top == floodmark.CommandAddress {
		return catalog.Arg{Role: floodmark.Critical, Is: catalog.IsURL, Needs: floodmark.Owner}
	}
	return use.Arg(leaf.Top)
}

// authorise lowers the trust of a call to that of each argument that is not free text, was seen,
// and is believed less than it needs. It raises the trust if the owner's words cover the call and
// the setting Relax is on.
func (st *step) authorise(j *judged) {
	q := &j.question
	for i, a := range q.Args {
		if a.Role != floodmark.Content && a.Whence == floodmark.Seen && a.Trust < needs(&j.basis, i) {
			q.Trust = min(q.Trust, a.Trust)
		}
	}
	if j.basis.Licensed && st.settings().Relax {
		q.Trust, q.Relaxed = max(q.Trust, floodmark.Owner), true
	}
}

// conclude turns the policy's ruling into the decision. Where no auditor may answer, a person is
// asked. A person's earlier approval allows the call if it still covers what is asked.
func (st *step) conclude(j *judged) {
	d := floodmark.Decision{Verdict: j.ruling.Verdict, Reach: j.ruling.Reach, Reasons: j.ruling.Reasons, Verifiers: gates(j)}
	if d.Verdict == floodmark.Audit && !st.auditable(j) {
		d.Verdict = floodmark.Confirm
	}
	if len(j.basis.Hosts) > 0 {
		d.Verdict, d.Reasons = min(d.Verdict, floodmark.Confirm), append([]floodmark.Reason{approval.WantsHosts(j.basis.Hosts)}, d.Reasons...)
	} else if st.failedInBox(&j.action) && (j.ruling.Outside || d.Verdict < floodmark.Allow) {
		d.Verdict, d.Reasons = min(d.Verdict, floodmark.Confirm), append([]floodmark.Reason{st.s.Book.Boxed.Reason(st.ev.Holes)}, d.Reasons...)
	} else if st.ev.Boxes && j.ruling.Outside {
		d.Reasons = append(slices.Clip(d.Reasons), floodmark.Reason{Code: floodmark.OutsideBox, Verdict: floodmark.Confirm, Text: "it needs more than a box gives (the network, a login or other files), so it would run outside of one"})
	}
	if st.s.Stopped {
		d.Verdict = floodmark.Restrict
		d.Reasons = append([]floodmark.Reason{{Code: floodmark.Iterations, Text: "the turn was ended"}}, d.Reasons...)
	} else if over := st.r.Policy.TooLong(&j.question); over != nil && st.s.Heard { // else the client reports no turns
		d.Verdict, j.ruling.BlockTurn = floodmark.Restrict, true
		d.Reasons = append([]floodmark.Reason{*over}, d.Reasons...)
	}
	if st.s.Book.Denied(j.action.Tool, j.action.ArgsDigest, d.Verdict == floodmark.Allow && d.Reach == floodmark.Boxed) {
		d.Verdict = floodmark.Restrict
		d.Reasons = append([]floodmark.Reason{{Code: floodmark.Denied, Text: "the owner refused this call"}}, d.Reasons...)
	}
	if d.Verdict == floodmark.Confirm || d.Verdict == floodmark.Audit {
		if len(j.basis.Hosts) == 0 && len(st.ev.Granted) > 0 {
			j.basis.HostsBy = st.here(j).By(st.ev.Granted)
		}
		if g, ok := st.s.Book.Covers(st.wanted(j)); ok || j.granted() && st.ev.Push == nil {
			if !ok {
				g.Ticket = j.basis.HostsBy
			}
			j.grant, st.out.Reply.Shown = &g, st.ev.Push.With(floodmark.Digest{})
			if d.Verdict = floodmark.Allow; g.Scope == floodmark.GrantOutside {
				d.Reach = floodmark.Free // no other approval frees a call from its box
			}
			d.Reasons = append([]floodmark.Reason{{
				Code: floodmark.Granted, Rule: string(g.Ticket), Text: "the owner approved it", Verdict: floodmark.Allow,
			}}, d.Reasons...)
		}
	}
	j.decision = d
	if d.Verdict == floodmark.Confirm || d.Verdict == floodmark.Audit {
		if s, ok := st.standing(j); ok {
			j.grant = stood(&d, s)
			j.decision = d
		}
	}
	if d.Verdict < floodmark.Allow {
		st.remedy(&j.decision, min(j.mark.Trust, j.question.Trust))
		j.decision.Remedy.Person += j.describing()
	}
	st.ev.Push.Apart(&j.decision)
}

func (st *step) wanted(j *judged) approval.Wanted {
	return approval.Wanted{
		Tool: j.action.Tool, ArgsDigest: j.action.ArgsDigest, Pattern: j.pattern, Others: j.basis.Others,
		Mark: st.mark.Join(artifact.Loaded(j.basis.Loads)), Codes: j.codes(), At: st.in.At, Turn: st.turn(), Observing: st.pause.Observe,
		Boxed: j.ruling.Reach == floodmark.Boxed, Exact: st.ev.Push != nil || j.use.Profile.Commits(), Hosts: j.basis.Hosts, Loads: artifact.Loaded(j.basis.Loads).Trust,
		// An approval does not cover a call once content below Local came in that the person had
		// not seen. Content at Local, such as the owner's own files, does not end it, because
		// otherwise the output of each approved call would.
		NewBelow: func(since floodmark.NodeID, drawn, exact bool) bool {
			return st.s.Ledger.NewBelow(since, floodmark.Local, func(n floodmark.NodeID) bool {
				src, _ := st.s.Ledger.Source(n)
				return drawn && src.SaidByOthers() && !slices.Contains(j.inputs, n) || exact && st.madeOf(src, since)
			})
		},
	}
}

// madeOf reports whether a result has low trust only because of inputs that came before a node and
// are still in the context. Such a result brings nothing that a person had not seen.
func (st *step) madeOf(src floodmark.Source, before floodmark.NodeID) bool {
	return src.Own().Trust >= floodmark.Local && !src.Whole && !slices.ContainsFunc(src.Inputs, func(n floodmark.NodeID) bool {
		return n >= before || !st.s.Ledger.Live(n)
	})
}

// codes returns the codes of the reasons against the call.
func (j *judged) codes() []floodmark.Code { return j.subject().Codes() }

// decided returns the call as it is told to people.
func (j *judged) decided() *floodmark.ActionDecided {
	return &floodmark.ActionDecided{Action: j.action, Mark: j.mark, Decision: j.decision, Basis: &j.basis}
}

func (j *judged) origin() floodmark.Origin {
	t := j.action.Tool
	return floodmark.Origin{Kind: floodmark.FromTool, Name: t.Name, Server: t.Server, Place: j.use.Place}
}
