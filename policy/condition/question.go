package condition

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// A Question is everything a decision about one step may depend on. The zero
// Question describes the most guarded effect in the least believed context.
type Question struct {
	Agent string
	Tool  floodmark.ToolRef
	// Effects are what the call does; none means [floodmark.Admin]. If the question is
	// whether to hide a tool, they are all that a call of it could do.
	Effects []floodmark.Effect
	// SelfProtected says that the call touches the monitor or an agent's hooks.
	SelfProtected bool
	// Findings are what else was found in the call, each once.
	Findings []floodmark.Finding
	// Boxable says that the door runs this call in a box if told to, and that all it is
	// known to do can be done there: it names nothing that it would send, fetch or administer.
	Boxable bool
	// Mark is the mark of the context that proposed the call. Rules and flows
	// use it.
	Mark floodmark.Label
	// Trust is the mark's trust, lowered by tighten and raised by relax. Table
	// and overrides use it.
	Trust floodmark.Trust
	// Relaxed says that Trust was raised because the owner stated every
	// argument that matters.
	Relaxed bool
	// Raised are effects that the table judges at a higher trust, because
	// something else than the conversation decides about them.
	Raised []Raised
	// Levels are the trust levels present in the context.
	Levels provenance.Levels
	// Args and Leaves are the call's values, with where they came from and as
	// they are.
	Args   []floodmark.Argument
	Leaves []hook.Leaf
	// Unkept is set when a recorded call is judged again: it names the leaves
	// whose values were not kept. Assume then says of a rule that looks at one
	// of them whether it applies.
	Unkept []string
	Assume func(rule string) bool
	// Iteration is the round of the loop, from 0; Turn the turn, from 1.
	Iteration, Turn int
	// Sources are what is in the context. Only rules that mention sources ask for them.
	Sources Sources
	Reach   Reach
	// Unseen says that a call ran in this session without being allowed.
	Unseen bool

	about *about // the source that is asked about inside sources.exists and the like
}

// A Raised is an effect with the trust it is judged at.
type Raised struct {
	Effect floodmark.Effect
	Trust  floodmark.Trust
}

// TrustFor returns the trust an effect is judged at: trust, or what Raised says if that is more, but
// at most Owner. Effects that run code or change the agent are not raised.
func (q *Question) TrustFor(e floodmark.Effect, trust floodmark.Trust) floodmark.Trust {
	for _, r := range q.Raised {
		if r.Effect == e && e != floodmark.Admin && e != floodmark.Run {
			trust = max(trust, min(r.Trust, floodmark.Owner))
		}
	}
	return trust
}

// AsksFor reports whether the owner asked for an effect.
func (q *Question) AsksFor(e floodmark.Effect) bool {
	return q.TrustFor(e, floodmark.Untrusted) >= floodmark.Owner
}

// Reach is what the flow rules look at: what could leave, and to where.
type Reach struct {
	// Network says that the call leaves the machine, or could.
	Network bool
	// Own says that the service is the owner's own: reading there, or filing
	// something there, is not reaching outside.
	Own bool
	// Destinations are the indexes into Args that say where it goes.
	Destinations []int
	// Vouched are the indexes into Args of values the owner did not type and
	// that count as theirs: something they named vouches for them.
	Vouched []int
	// Paths are the indexes into Args that are paths.
	Paths []int
	// Plants is an address that it writes into a file and that only text from outside named.
	Plants string
	// SecretInArgs says that a secret, or an encoding of it, is in the arguments.
	SecretInArgs bool
	// Undescribed names tools without a description, if their results are the only reason
	// that anything here counts as secret. It is empty if something else is secret.
	Undescribed []string
	// SecretFile says that a file with secrets would be sent, whose content is not
	// in the owner's words.
	SecretFile bool
	// ActiveContent says that a content argument carries a URL, address,
	// account, command or code that was seen only below Owner.
	ActiveContent bool
	// FreeContent says that there are content arguments with text. NoText says
	// that none of the arguments could hold one.
	FreeContent, NoText bool
	// ContentLicensed says that the content carries nothing private, or only
	// what the owner's words ask for. It matters for relaxed calls only.
	ContentLicensed bool
	// URLArg is the index into Args of the URL that is read, or -1.
	URLArg int
	// PointedAt says that the URL is a link the owner asked to follow, exactly as
	// it was posted where they said.
	PointedAt bool
	// HostStated says that the owner typed the host that is reached. HostListed
	// says that the policy lists the host.
	HostStated, HostListed bool
	// HostNamed says that the owner's own work names the host, or that the host is
	// this machine, or one for documentation that is sent nothing but a path.
	HostNamed bool
	// Tells is how many bits the choice of this request can tell. Told is how many
	// bits earlier requests could tell since private data was read.
	Tells, Told int
	// RestFromHost says that every other part of the arguments was stated or
	// came from a result of that same host.
	RestFromHost bool
	// Site says that the owner sent the agent to the host in this conversation,
	// that the whole request is theirs or the host's own, and that strangers do not
	// publish there.
	Site bool
}
