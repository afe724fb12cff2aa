package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/intent"
	"github.com/floodmark/floodmark/internal/text/language"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// ground fills in the basis of a decision about a call, which is written down. Unlike rule, it
// needs all values of the call.
func (st *step) ground(j *judged, tr *provenance.Tracer, ctx Context) {
	use, b := &j.use, &j.basis
	b.Undescribed, b.SelfProtected, b.Instructs, b.Placed = use.Profile == nil, use.SelfProtected, use.Instructs, use.Placed
	b.Network, b.Own, b.SecretPath = use.Network, use.Own || use.Looks.Own, use.PathKind == catalog.Secret || len(j.kept) > 0
	b.Tidies, b.Pushed = st.left().Tidies(use), st.pushed(use)
	b.Findings = st.r.Policy.Findings().Unsettled(use.Found, st.s.Project, st.said)
	b.Inside = st.left().Inside(j.onDisk())
	b.Boxable = st.boxable(use, j.leaves[:len(j.leaves)-len(use.URLs)]) && !st.failedInBox(&j.action)
	j.action.Effects = effectsAt(j.action.Effects, b, ctx.Mark.Trust)
	b.Returns, b.Location = use.Returns, use.LocationOf(j.leaves)
	st.values(j)
	owner, call := st.intent(), j.call()
	b.Grounds, b.Licensed = owner.Covered(call, tr, nil)
	b.Grounds = append(b.Grounds, owner.Follows(call, tr)...)
	st.carries(j, tr)
	b.Plants = st.plants(j, tr)
}

// asksOwn changes a use that asks only a service of the owner's: a query to a database at a host
// for which the owner keeps a login at home, while no secret was read; or docker for services that
// a file of the project describes. A look at a cluster is none once a secret was read, because the
// model chose the names that the cluster is told.
func (st *step) asksOwn(use *catalog.Use, leaves []hook.Leaf, mark floodmark.Label) {
	use.Looks.Own = use.Looks.Own && (!use.Looks.Cluster || mark.Secrecy > floodmark.Secret)
	own := use.Looks.Database != "" && mark.Secrecy > floodmark.Secret && st.in.Disk != nil && use.Looks.KeptIn(st.in.Disk.Databases(st.s.Home)) ||
		use.Looks.Compose && len(st.s.Stands) == 0 && st.in.Disk != nil && st.in.Disk.Composes(st.s.Project)
	if own && !slices.ContainsFunc(leaves, func(l hook.Leaf) bool { return len(st.secrets().Find(l.Value)) > 0 }) {
		staysHome(use)
	}
}

// staysHome marks a use as a mere question to a service of the owner's.
func staysHome(use *catalog.Use) {
	use.Looks.Own, use.URLs, use.Effects = true, nil, except(use.Effects, floodmark.Change)
}

// values notes what sort of values there are, never the values.
func (st *step) values(j *judged) {
	b := &j.basis
	plain := true
	for i, leaf := range j.leaves {
		plain = plain && leaf.Kind == hook.String && leaf.Value != ""
		if len(leaf.Value) > audit.MaxArgumentBytes || st.settings().AuditorOn && st.hides(j, leaf) {
			b.Long = append(b.Long, i)
		}
		a := &j.action.Arguments[i]
		if a.Role == floodmark.Content {
			continue
		}
		if a.Shown != leaf.Value {
			b.Cut = append(b.Cut, i)
		}
		if n := argument(j.use, leaf).Needs; n != floodmark.Owner {
			b.Needs = append(b.Needs, floodmark.Need{Argument: i, Trust: n})
		}
	}
	if plain {
		return
	}
	b.Kinds = make([]floodmark.ValueKind, len(j.leaves))
	for i, leaf := range j.leaves {
		b.Kinds[i] = leaf.ValueKind()
	}
}

// needs returns the trust that the argument at a place needs.
func needs(b *floodmark.Basis, at int) floodmark.Trust {
	for _, n := range b.Needs {
		if n.Argument == at {
			return n.Trust
		}
	}
	return floodmark.Owner
}

// said reports whether the owner named something: as a whole value in its role or, if it has a
// character that ordinary words lack, as a word of a message. A package may be called «test».
func (st *step) said(name, role string) bool {
	return st.s.stated.Has(name, hook.String, role) || strings.ContainsAny(name, "-_./@0123456789") && st.s.stated.HasWord(name)
}

// pushed reports whether a call is a push that the owner asked for in this turn. They need not name
// an address, because the push goes where the project came from. All of this must be true:
//
//   - the line pushes one branch there and does nothing else that leaves;
//   - what decides where a push goes is as it was when the session began;
//   - the checkout is the owner's, or the team's, or one the owner vouched for;
//   - no source less trusted than the owner's own work had a hand in what is in
//     the checkout or was committed there;
//   - nothing in the checkout was made of what is private or secret.
func (st *step) pushed(use *catalog.Use) bool {
	if !use.Pushes || st.in.Disk == nil || st.s.Project == "" || st.s.PushesTo.IsZero() {
		return false
	}
	if st.in.Disk.Pushes(st.s.Project, use.Branch) != st.s.PushesTo || !st.intent().Asks("push", "pushen", "pushe") {
		return false
	}
	return st.left().Sound(st.s.Project)
}

// beginsAt returns what decides where a push from the project goes when a session begins, and the
// commit that is checked out then.
func (st *step) beginsAt(project string) (pushesTo floodmark.Digest, commit string) {
	if st.in.Disk == nil || project == "" {
		return floodmark.Digest{}, ""
	}
	return st.in.Disk.Pushes(project, ""), st.in.Disk.Head(project)
}

func (st *step) ref(server, name string) floodmark.ToolRef {
	return floodmark.ToolRef{Agent: st.ev.Agent, Server: server, Name: name}
}

func (st *step) places() catalog.Places {
	return catalog.Places{Project: st.s.Project, Home: st.s.Home}
}

func (st *step) settings() policy.Settings { return st.r.Policy.Settings(st.ev.Agent) }

// tracer returns a tracer that looks for values only in the nodes before a given one.
func (st *step) tracer(nodes floodmark.NodeID) *provenance.Tracer {
	tr := &provenance.Tracer{Key: st.in.Key, Also: st.in.Also, Index: st.in.Index, Stated: &st.s.stated, Ledger: &st.s.Ledger}
	if tr.Index != nil && nodes < floodmark.NodeID(st.s.Ledger.Len()) {
		tr.Index = earlier{index: tr.Index, nodes: nodes}
	}
	return tr
}

// earlier is an index as it was when there were fewer nodes.
type earlier struct {
	index provenance.Index
	nodes floodmark.NodeID
}

// Find leaves out the spans of later nodes.
func (e earlier) Find(h provenance.Hash, from floodmark.NodeID, most int) []floodmark.Span {
	spans := e.index.Find(h, from, most)
	later, _ := slices.BinarySearchFunc(spans, e.nodes, func(s floodmark.Span, n floodmark.NodeID) int { return int(s.Node - n) })
	return spans[:later]
}

// returns returns the label that a call's result brings, by what is read and where.
func (st *step) returns(ref floodmark.ToolRef, use catalog.Use, leaves []hook.Leaf) floodmark.Label {
	return st.r.Returns(st.ev.Agent, ref, use, leaves, st.places())
}

// Returns returns the label that the result of a call would bring an agent, by what is read and
// where.
func (r Rules) Returns(agent string, ref floodmark.ToolRef, use catalog.Use, leaves []hook.Leaf, at catalog.Places) floodmark.Label {
	return r.placed(agent, ref, use.Returns, use.LocationOf(leaves), use.Place, at)
}

// placed returns the label of a result after the policy's rules on its place and its tool.
func (st *step) placed(ref floodmark.ToolRef, l floodmark.Label, location, place string) floodmark.Label {
	return st.r.placed(st.ev.Agent, ref, l, location, place, st.places())
}

func (r Rules) placed(agent string, ref floodmark.ToolRef, l floodmark.Label, location, place string, at catalog.Places) floodmark.Label {
	if strings.HasPrefix(location, catalog.OfProgram) && !r.Policy.ProjectLocal() {
		l = floodmark.Label{Secrecy: min(l.Secrecy, floodmark.Private)} // what it read is not known
	} else if kind, ok := catalog.PlaceKind(location); ok {
		l = r.Policy.PlaceLabel(l, place, kind, at.Project != "", at.Home)
	}
	if r.Policy.Caution(ref) {
		l.Trust = floodmark.Untrusted
	}
	return l
}

// callID returns the name of a call. If its agent gave none, it is made from the tool and
// arguments.
func callID(c hook.Call) floodmark.CallID {
	if c.ID != "" {
		return c.ID
	}
	return floodmark.CallID("args:" + floodmark.DigestOf(c.Server+"\x00"+c.Name+"\x00"+string(c.Args)).Short())
}

// Readings remember how the owner's words were read and what rules said of sources, so that neither
// is done again for every call. Doing it again would give the same. They belong to one session and
// to the caller that judges it; the zero Readings are empty.
type Readings struct {
	said   intent.Readings
	counts policy.Counts // what rules over sources answered so far under policy
	policy *policy.Policy
	// shown is what a card repeats of the message shownOf, read with the words shownBy.
	shown, shownOf string
	shownBy        *language.Lexicon
}

// Size returns about how much memory they take.
func (rs *Readings) Size() int64 {
	if rs == nil {
		return 0
	}
	return rs.counts.Size() + rs.said.Size() + int64(len(rs.shown)+len(rs.shownOf))
}

// sources returns the session's live sources, as rules see them.
func (st *step) sources() policy.Sources {
	s, rs := policy.Sources{Ledger: &st.s.Ledger}, st.in.Readings
	if rs != nil {
		if rs.policy != st.r.Policy {
			rs.policy, rs.counts = st.r.Policy, policy.Counts{}
		}
		s.Counts = &rs.counts
	}
	return s
}

// intent returns what the owner asked for in this session.
func (st *step) intent() *intent.Session {
	s := &intent.Session{
		Agent: st.ev.Agent, Catalog: st.r.Catalog, Words: st.r.words, Ledger: &st.s.Ledger,
		Said: st.s.Owner, Turn: st.s.TurnBegan, LastTurn: st.s.LastTurnBegan,
	}
	if !st.s.InTurn && st.s.Parent == "" { // the call opens a turn, in which the owner has said nothing yet
		s.Turn, s.LastTurn = len(st.s.Owner), st.s.TurnBegan
	}
	if st.in.Readings != nil {
		s.Read = &st.in.Readings.said
	}
	return s
}

// call returns what the owner's words are compared with.
func (j *judged) call() *intent.Call {
	c := &intent.Call{Tool: j.action.Tool, Effects: j.action.Effects, Arguments: j.action.Arguments, Use: &j.use, Leaves: j.leaves}
	c.About = make([]catalog.Arg, len(j.leaves))
	for i, leaf := range j.leaves {
		c.About[i] = argument(j.use, leaf)
	}
	return c
}

// raise lowers the effects of a call that deletes only what this session wrote, and raises the
// trust at which a push is judged if the owner asked for it.
func (st *step) raise(q *policy.Question, b *floodmark.Basis) {
	if b.Tidies { // a call that may overwrite a file may as well remove it
		q.Effects = slices.Clone(q.Effects)
		for i, e := range q.Effects {
			if e == floodmark.Change {
				q.Effects[i] = floodmark.Write
			}
		}
	}
	if b.Pushed && st.settings().Relax {
		q.Raised = append(q.Raised, policy.Raised{Effect: floodmark.Send, Trust: floodmark.Owner})
	}
}

// CallID names a call, also one that its agent gave no name.
func CallID(c hook.Call) floodmark.CallID { return callID(c) }
