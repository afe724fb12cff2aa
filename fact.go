package floodmark

import "time"

// A Fact is something that happened and will never be changed. Facts are the
// only input of session state and the only thing a journal keeps.
//
// Rules for changing facts, because old journals must replay for ever:
//   - a field or a kind is never renamed, reused or given a new meaning;
//   - a new field is optional, and its zero value means what its absence meant;
//   - no floats, no maps, no wall clock: the entry carries the time. A time
//     inside a fact is a deadline that was promised.
//
//sumtype:decl
type Fact interface {
	factKind() string
}

// SessionOpened starts a session.
type SessionOpened struct {
	Agent string `json:"agent"`
	// Project and Home resolve relative paths and ~ in this session.
	Project string `json:"project,omitempty"`
	Home    string `json:"home,omitempty"`
	// PushesTo is the digest of all settings that decide where a push from the project goes.
	PushesTo Digest `json:"pushesTo,omitzero"`
	// Key names the tenant's key that the session was created with and keeps. It is empty for the
	// tenant's first key.
	Key string `json:"key,omitempty"`
	// Commit is the commit checked out in the project; empty if unknown.
	Commit string `json:"commit,omitempty"`
}

// SessionForked starts a session on behalf of another, whose sources and
// stated words it inherits. A child adds no stated words of its own.
type SessionForked struct {
	Agent   string    `json:"agent"`
	Project string    `json:"project,omitempty"`
	Home    string    `json:"home,omitempty"`
	Parent  SessionID `json:"parent"`
	// Root is the session that the parent descends from; empty if the parent itself is not a
	// branch.
	Root    SessionID `json:"root,omitempty"`
	Sources []Source  `json:"sources,omitempty"`
	Stated  []string  `json:"stated,omitempty"`
	// Asked is how many of the texts in Stated are older than the turn in which the child began.
	// They still state values, but what they ask for does not apply to the child.
	Asked    int        `json:"asked,omitempty"`
	Endorsed []Endorsed `json:"endorsed,omitempty"`
	// Spelled is how much private data the parent's requests could have revealed, in bits.
	Spelled int `json:"spelled,omitempty"`
	// Halved is how often the bits that may still be revealed were divided between a parent and a
	// child. Each division doubles what a revealed bit costs.
	Halved int `json:"halved,omitempty"`
	// Key is the parent's key, as in [SessionOpened].
	Key string `json:"key,omitempty"`
}

// SessionClosed ends a session. It may be resumed; its mark stays.
type SessionClosed struct{}

// RulesLoaded names the policy and catalog of the following decisions.
type RulesLoaded struct {
	Policy  Digest `json:"policy"`
	Catalog Digest `json:"catalog"`
}

// ContextCleared says that a person emptied the agent's context.
type ContextCleared struct{}

// TurnOpened starts a turn.
type TurnOpened struct {
	Turn int `json:"turn"`
}

// TurnClosed ends a turn and every grant given for it.
type TurnClosed struct {
	Turn int `json:"turn"`
}

// IterationOpened counts one round of the agent's loop.
type IterationOpened struct {
	Iteration int `json:"iteration"`
}

// LoopTold is what an agent reported of its own loop. No decision depends on it.
type LoopTold struct {
	Point     string `json:"point"`
	Iteration int    `json:"iteration,omitempty"`
	Loop
	// Warned says that the reply contained a warning for the model. If the event had a system
	// prompt, the warning was added to it.
	Warned bool `json:"warned,omitempty"`
}

// A Source is content that entered the agent's context.
type Source struct {
	Node   NodeID   `json:"node"`
	Kind   NodeKind `json:"kind"`
	Origin Origin   `json:"origin"`
	// Label is the source's own label. The labels of its inputs lower it further.
	Label  Label    `json:"label"`
	Digest Digest   `json:"digest,omitzero"`
	Inputs []NodeID `json:"inputs,omitempty"`
	// Whole says that the content was made from everything seen before it, like a summary. It has
	// the same effect as listing all older nodes in Inputs.
	Whole bool `json:"whole,omitempty"`
	// Call is the dispatched call whose result this will be. It is set while the result has not
	// arrived. The source already lowers the mark in this time.
	Call CallID `json:"call,omitempty"`
	// Via are the artifacts through which the content came from other sessions, oldest first. It is
	// empty for content that this session read itself.
	Via []Passage `json:"via,omitempty"`
	// Secrets are the parts of the content that look like a secret. If there are any, the source is
	// treated as secret, whatever its label says.
	Secrets []SecretSpan `json:"secrets,omitempty"`
	// Links is how often the content names the host that it came from, an upper bound on the links
	// to that host that the agent can choose among.
	Links int `json:"links,omitempty"`
	// Because is [Undescribed] if the label is so low only because the catalog does not describe
	// the tool that returned the content. Empty in older journals.
	Because Code `json:"because,omitempty"`
	// Said is the beginning of the command line that read it, for display only.
	Said string `json:"said,omitempty"`
}

// Own returns the source's own label, lowered by the secrets found in it.
func (s *Source) Own() Label {
	if len(s.Secrets) > 0 {
		return s.Label.Join(Label{Trust: System, Secrecy: Secret})
	}
	return s.Label
}

// IsMessage reports whether the source is a message to the agent, and not something that came with
// a message, such as a file, a quote or a repository.
func (s *Source) IsMessage() bool {
	switch s.Origin.Kind {
	case FromSender, FromPaste, FromSystem, FromParent, FromModel, FromUnknown:
		return s.Kind == NodeInput
	default:
		return false
	}
}

// SaidByOthers reports whether the source is a message from another sender than the owner, or a
// message or history of a group.
func (s *Source) SaidByOthers() bool {
	o := s.Origin
	return s.Kind == NodeInput && o.Kind == FromSender && (!o.IsOwner || o.Group != "") ||
		s.Kind == NodeHistory && o.Kind == FromHistory && o.Group != ""
}

// A SecretSpan is a secret that was found in content: the rule that found it, and where it starts
// and ends. The secret itself is not kept. Print recognises the secret if it appears again, but
// only with the tenant's key.
type SecretSpan struct {
	Rule  string `json:"rule"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	// Print is the keyed hash of its letters and digits. It begins with the name of the key and a
	// colon, unless the key is the tenant's first. Without a Print, all of the content is treated
	// as the secret.
	Print string `json:"print,omitempty"`
	// Length is the number of its letters and digits.
	Length int `json:"length,omitempty"`
	// Quick is a few bits of a cheaper hash. Print is computed only at places where Quick matches.
	Quick int `json:"quick,omitempty"`
}

// ContentSeen says that content entered the agent's context, or is about to.
type ContentSeen struct {
	Source
	// Text is kept only for the owner's own messages: the auditor needs them.
	Text string `json:"text,omitempty"`
	// Preview is kept only if configured, and may be redacted.
	Preview string `json:"preview,omitempty"`
}

// ContentArrived says what an announced result turned out to be. Its label is joined with the
// announced label, so it can only lower that.
type ContentArrived struct {
	Node   NodeID   `json:"node"`
	Digest Digest   `json:"digest,omitzero"`
	Label  Label    `json:"label"`
	Inputs []NodeID `json:"inputs,omitempty"`
	// Secrets and Links are what was found in it, as in a [Source].
	Secrets []SecretSpan `json:"secrets,omitempty"`
	Links   int          `json:"links,omitempty"`
	// BoxTicket names the spent ticket with which the command ran in a box.
	BoxTicket string `json:"boxTicket,omitempty"`
	// BoxEnd is the result of the box; empty if unknown and in older entries.
	BoxEnd BoxState `json:"boxEnd,omitempty"`
	// BoxFailed says that the command failed in the box, or may have failed silently because it
	// could not reach a host.
	BoxFailed bool `json:"boxFailed,omitempty"`
	// BoxExit is the command's exit status, or 128 plus the number of the signal that ended it.
	BoxExit int `json:"boxExit,omitempty"`
	// Wanted are hosts that the command tried to reach. In older entries it also lists paths that
	// were not kept.
	Wanted []string `json:"wanted,omitempty"`
	// NotKept are paths that the command wrote in the box and that were not copied to the project.
	NotKept []string `json:"notKept,omitempty"`
}

// A BoxState is the result of a call that was to run in a box.
type BoxState string

// The states.
const (
	BoxEnded   BoxState = "ended"
	BoxRunsOn  BoxState = "runs-on" // it went on in the background after the agent got its result
	BoxRefused BoxState = "refused" // no box could be made, so nothing ran
)

// ModelAnswered lists the calls that one model response proposed. They are judged at the mark of
// the session when that response came, because it fixed their arguments.
type ModelAnswered struct {
	Calls []Proposed `json:"calls,omitempty"`
	// Hosted says that tools ran inside the response. The results of those tools lower the mark at
	// which the calls are judged.
	Hosted bool `json:"hosted,omitempty"`
}

// A Proposed is one call of a model response, exactly as it was proposed.
type Proposed struct {
	Call       CallID  `json:"call"`
	Tool       ToolRef `json:"tool"`
	ArgsDigest Digest  `json:"argsDigest"`
}

// ActionDecided is what an agent wanted and what we answered.
type ActionDecided struct {
	Action Action `json:"action"`
	// Mark is the session's mark at the decision.
	Mark Label `json:"mark"`
	// Trust is the mark's trust after examining the arguments.
	Trust    Trust    `json:"trust"`
	Decision Decision `json:"decision"`
	// Basis is what else the decision depended on, for judging it again.
	Basis *Basis `json:"basis,omitempty"`
}

// OpinionGiven is the auditor's answer about a call.
type OpinionGiven struct {
	Call       CallID `json:"call,omitempty"`
	ArgsDigest Digest `json:"argsDigest"`
	// Verdict is the resulting verdict.
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text,omitempty"`
	// Says is the auditor's answer itself: allow, block, unsure or silent. It is empty in older
	// entries.
	Says string `json:"says,omitempty"`
}

// VerifierAnswered is the answer of an external gate about a call, or why there was none. It
// precedes the decision that follows from it.
type VerifierAnswered struct {
	Verifier string `json:"verifier"`
	// Request is the name of the request at the gate; empty if no request was sent.
	Request    string `json:"request,omitempty"`
	Call       CallID `json:"call,omitempty"`
	ArgsDigest Digest `json:"argsDigest"`
	// Verdict is Allow or Restrict. If the gate gave no answer, its failMode decides.
	Verdict Verdict `json:"verdict"`
	// Failure says why there was no answer; empty if the gate answered.
	Failure string `json:"failure,omitempty"`
	// Text is the gate's reason, or the error: one line, at most 500 characters.
	Text string `json:"text,omitempty"`
}

// ChildSpawned says that a sub-agent's session began.
type ChildSpawned struct {
	Child SessionID `json:"child"`
}

// ChildEnded says that a sub-agent returned its result, a source with the child's own sources as
// inputs.
type ChildEnded struct {
	Child   SessionID `json:"child"`
	Sources []Source  `json:"sources,omitempty"`
}

// Endorsed says that the owner endorsed content with exactly this digest.
type Endorsed struct {
	Digest Digest `json:"digest"`
	Trust  Trust  `json:"trust"`
	By     string `json:"by,omitempty"`
	// Session is the session in which the owner said so, if not this one.
	Session SessionID `json:"session,omitempty"`
}

// Withdrawn says that the owner withdrew an endorsement.
type Withdrawn struct {
	Digest Digest `json:"digest"`
	By     string `json:"by,omitempty"`
	// Session is the session in which the owner said so, if not this one.
	Session SessionID `json:"session,omitempty"`
}

// IncidentSeen records something that should be impossible while the monitor checks every call,
// such as a call that ran without a decision.
type IncidentSeen struct {
	Kind string  `json:"kind"`
	Call CallID  `json:"call,omitempty"`
	Tool ToolRef `json:"tool,omitzero"`
	Text string  `json:"text,omitempty"`
}

// TicketOpened says that a person was asked about a call. The code that the person must type is
// never recorded. CodeMAC verifies it.
type TicketOpened struct {
	Ticket  TicketID  `json:"ticket"`
	CodeMAC Digest    `json:"codeMac"`
	Shown   []Shown   `json:"shown"`
	Expires time.Time `json:"expires"`
	// Held is when quiet hours end, if the question was opened during them. Only then are people
	// notified of it.
	Held time.Time `json:"held,omitzero"`
}

// A Shown is one call as shown in a question, with all a grant is bound to.
type Shown struct {
	Tool       ToolRef `json:"tool"`
	ArgsDigest Digest  `json:"argsDigest"`
	// Pattern describes the wider grant the question offered, if any.
	Pattern string `json:"pattern,omitempty"`
	Mark    Label  `json:"mark"`
	Codes   []Code `json:"codes,omitempty"`
	Node    NodeID `json:"node"` // the first node that came after the question
	// Offers are the approvals the question offered, the narrowest first. An older question has
	// none: it offered this call, and Pattern if that is set.
	Offers []Offer `json:"offers,omitempty"`
	// Others is the digest of what a call that runs something would have loaded, as in [Basis].
	Others Digest `json:"others,omitzero"`
	// Pick is set if the approver must also enter the destination of the call. It verifies a chosen
	// value without revealing it.
	Pick Digest `json:"pick,omitzero"`
	// PickEnd verifies the end of that value, which is enough if the approver types it. It does not
	// reveal the value.
	PickEnd Digest `json:"pickEnd,omitzero"`
	// Two is set if two people must approve the call.
	Two bool `json:"two,omitempty"`
	// Boxed is set if the call was to run in a box. An approval then allows it only in a box,
	// unless the person chose the offer to run it outside.
	Boxed bool `json:"boxed,omitempty"`
	// Hosts are the hosts that its box would let the call reach, such as «api.example:443».
	Hosts []string `json:"hosts,omitempty"`
	// Here is a digest of two things: the repository in which the question was asked, and all that
	// an approval for that repository would cover. For an approval of hosts it is the digest of the
	// repository alone.
	Here Digest `json:"here,omitzero"`
	// Vouch is set in a question about content: whether the owner endorses this content, as they
	// wrote in a conversation.
	Vouch Digest `json:"vouch,omitzero"`
	// Whole are the values of the call that are longer than their short form or that contain
	// invisible characters. A question shows these values in full.
	Whole []Whole `json:"whole,omitempty"`
}

// A Whole is the value of one argument without its secrets.
type Whole struct {
	Argument int    `json:"argument"`
	Text     string `json:"text,omitempty"`
	// Left is how many characters at the end of the value were not recorded.
	Left int `json:"left,omitempty"`
}

// An Offer is one approval that a question offers. A grant is never wider than
// an offer that was shown.
type Offer struct {
	// Words describe to a person what it allows.
	Words string     `json:"words"`
	Scope GrantScope `json:"scope"`
	// Pattern is what a GrantPattern matches, exactly.
	Pattern string `json:"pattern,omitempty"`
	// For is how long the approval is valid. If it is zero, the approval ends with the use or the
	// turn, as Scope says.
	For time.Duration `json:"for,omitempty"`
}

// TicketExtended says that one more call was shown under an open question.
type TicketExtended struct {
	Ticket TicketID `json:"ticket"`
	Shown  Shown    `json:"shown"`
	// CodeMAC verifies a new code. The old code was sent without this call, so it is not valid any
	// more.
	CodeMAC Digest `json:"codeMac"`
}

// TicketRefused says that a typed code was wrong; enough of these void the ticket.
type TicketRefused struct {
	Ticket TicketID `json:"ticket,omitempty"`
	Why    string   `json:"why"`
	// Channel is where the code was typed.
	Channel string `json:"channel,omitempty"`
	// Until is set after too many wrong codes from Channel: codes from it are refused until then.
	Until time.Time `json:"until,omitzero"`
}

// TicketAnswered is a person's answer. The first answer wins.
type TicketAnswered struct {
	Ticket  TicketID `json:"ticket"`
	Verdict Verdict  `json:"verdict"`
	By      string   `json:"by,omitempty"`
	Channel string   `json:"channel,omitempty"`
}

// CallFollowed says that a gateway reported a call that the agent's own hook had already reported:
// the earlier decision is for the same call.
type CallFollowed struct {
	Call CallID `json:"call"`
	// Gateway is the gateway's id of the call.
	Gateway CallID  `json:"gateway"`
	Tool    ToolRef `json:"tool"`
	// Shared is the tool server, if several sessions share it.
	Shared string `json:"shared,omitempty"`
}

// TicketCounted says that one of the two people whom a question needs has approved it. It allows
// nothing yet.
type TicketCounted struct {
	Ticket TicketID `json:"ticket"`
	// Person is the person's name in the policy. By and Channel say how the person was
	// authenticated.
	Person  string `json:"person"`
	By      string `json:"by,omitempty"`
	Channel string `json:"channel,omitempty"`
}

// GrantGiven says that the owner approved calls like the shown one.
type GrantGiven struct {
	Ticket TicketID   `json:"ticket"`
	Scope  GrantScope `json:"scope"`
	Shown  Shown      `json:"shown"`
	// Turn is the turn it was given for.
	Turn int `json:"turn"`
	// Until is zero for a grant that ends with its turn.
	Until time.Time `json:"until,omitzero"`
	// Draft says that the grant was given while the owner only observed. It ends with that period.
	Draft bool `json:"draft,omitempty"`
}

// GrantUsed says that a grant allowed a call.
type GrantUsed struct {
	Ticket TicketID `json:"ticket"`
	Call   CallID   `json:"call,omitempty"`
	Tool   ToolRef  `json:"tool"`
	// Args identify the exact arguments; zero in old journals.
	Args Digest `json:"args,omitzero"`
}

// GrantEnded says that a grant was revoked or used up.
type GrantEnded struct {
	Ticket TicketID `json:"ticket"`
	Why    string   `json:"why"`
}

// TicketID names one question to a person.
type TicketID string

// A GrantScope says how far a grant reaches.
type GrantScope string

// The scopes of a grant, from the narrowest.
const (
	GrantOnce    GrantScope = "once"    // the shown call, one time
	GrantOutside GrantScope = "outside" // the shown call, one time, outside of its box
	GrantTurn    GrantScope = "turn"    // identical calls until the turn ends
	GrantMinutes GrantScope = "minutes" // identical calls until a time
	GrantHosts   GrantScope = "hosts"   // the shown call, in a box with the shown hosts, in any session of the project, until a time
	GrantHere    GrantScope = "here"    // what the shown words cover, in any session of the repository, until a time
	GrantPattern GrantScope = "pattern" // calls that match the printed pattern, until a time
	GrantTool    GrantScope = "tool"    // any call of the tool: only with approvals.toolWide
)
