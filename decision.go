package floodmark

// A Verdict is the one-word answer to an [Action].
// Smaller is safer: the zero value is [Restrict].
type Verdict uint8

// The four verdicts, from the strictest to the most permissive.
const (
	Restrict Verdict = iota // no, and no question is asked
	Confirm                 // not until a person approves
	Audit                   // not until the auditor agrees; without one: Confirm
	Allow                   // yes
)

func verdictWords() words { return words{"restrict", "confirm", "audit", "allow"} }

func (v Verdict) String() string { return verdictWords().word(int(v)) }

// ParseVerdict reads a verdict's word. With an error it returns [Restrict].
func ParseVerdict(word string) (Verdict, error) {
	n, err := verdictWords().index("verdict", word)
	return Verdict(n), err
}

// MarshalText writes the verdict's word, the only form that leaves the process.
func (v Verdict) MarshalText() ([]byte, error) { return verdictWords().marshal(int(v)) }

// UnmarshalText reads a verdict's word and refuses every other text.
func (v *Verdict) UnmarshalText(b []byte) (err error) {
	*v, err = ParseVerdict(string(b))
	return err
}

// A Reach says how far an allowed call gets.
// Smaller is safer: the zero value is [Boxed].
type Reach uint8

// The two reaches.
const (
	Boxed Reach = iota // only inside a box whose greatest possible effect is known
	Free               // as the agent would run it
)

func reachWords() words { return words{"boxed", "free"} }

func (r Reach) String() string { return reachWords().word(int(r)) }

// ParseReach reads a reach's word. With an error it returns [Boxed].
func ParseReach(word string) (Reach, error) {
	n, err := reachWords().index("reach", word)
	return Reach(n), err
}

// MarshalText writes the reach's word, the only form that leaves the process.
func (r Reach) MarshalText() ([]byte, error) { return reachWords().marshal(int(r)) }

// UnmarshalText reads a reach's word and refuses every other text.
func (r *Reach) UnmarshalText(b []byte) (err error) {
	*r, err = ParseReach(string(b))
	return err
}

// IsZero lets encoders omit Free, which is the reach of every decision recorded before boxes
// existed.
func (r Reach) IsZero() bool { return r == Free }

// A Code names why a decision is as it is, for programs.
type Code string

// The reason codes.
const (
	TaintEscalation Code = "taint-escalation" // the context holds content trusted too little
	RuleMatched     Code = "rule"             // a rule of the policy applied
	ToolOverride    Code = "tool-override"    // the policy names this tool
	SelfProtection  Code = "self-protection"  // the call touches the monitor or an agent's hooks
	Interactive     Code = "interactive"      // the call takes further commands, which we would not see
	FlowSecret      Code = "flow-secret"      // secrets could leave
	FlowPrivate     Code = "flow-private"     // private data could leave
	Undescribed     Code = "undescribed"      // like flow-secret, but only results of undescribed tools count as secret
	FlowFetch       Code = "flow-fetch"       // a network read could carry data out, or was steered
	ActiveContent   Code = "active-content"   // the text sent carries a link or address from outside
	OwnerStated     Code = "owner-stated"     // the owner named every argument that matters
	Granted         Code = "grant"            // the owner approved it before
	Denied          Code = "denied"           // the owner refused it before
	Audited         Code = "audit"            // the auditor gave an opinion
	Verified        Code = "verifier"         // an external gate answered, or did not
	Iterations      Code = "max-iterations"   // the loop ran too long
	DryRun          Code = "dry-run"          // decided, not enforced
	Paused          Code = "paused"           // the owner paused: decided, not enforced
	Unjudged        Code = "unjudged"         // something was missing, so we restrict
	Contained       Code = "contained"        // the call runs in a box, so no question is needed
	BoxHost         Code = "box-host"         // the call runs in a box that lets it reach a host
	OutsideBox      Code = "outside-box"      // the call would run outside a box, although a box is possible
	PushShown       Code = "push-shown"       // a push must be shown to a person first, and this push cannot be shown
)

// A Reason is one rule's contribution to a [Decision].
type Reason struct {
	Code Code `json:"code"`
	// Rule is the rule in the policy: «table.send.external», «rules.no-exec».
	Rule string `json:"rule,omitempty"`
	// Text explains it to a person.
	Text string `json:"text"`
	// Verdict is the verdict of this reason alone.
	Verdict Verdict `json:"verdict"`
}

// A Remedy says what can be done instead of the refused call.
type Remedy struct {
	Agent  string `json:"agent,omitempty"`
	Person string `json:"person,omitempty"`
}

// Contain is the word with which a policy says (Allow, Boxed).
const Contain = "contain"

// A Decision is the whole answer to an [Action]. The zero Decision restricts.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	// Reach is how far the call gets once it is allowed. An approval by a person or an auditor
	// changes the verdict, not the reach. Only Boxed is written: a fact without a reach means Free.
	Reach Reach `json:"reach,omitzero"`
	// Hidden are the tools the model must not be offered.
	Hidden []string `json:"hidden,omitempty"`
	// Reasons explain the verdict, the deciding one first.
	Reasons []Reason `json:"reasons,omitempty"`
	// Blame are the sources that lowered the mark, oldest first.
	Blame []NodeID `json:"blame,omitempty"`
	// Remedy is set unless the verdict is Allow.
	Remedy Remedy `json:"remedy,omitzero"`
	// Verifiers must all agree before the call proceeds, even an allowed one. Those that have
	// agreed are removed.
	Verifiers []string `json:"verifiers,omitempty"`
	// Would is the verdict that would be enforced, set only if nothing is enforced.
	Would string `json:"would,omitempty"`
}

// Word returns the decision in one word: the word of its verdict, or «contain» if the call is
// allowed only in a box.
func (d Decision) Word() string {
	if d.Contained() {
		return Contain
	}
	return d.Verdict.String()
}

// Contained reports whether the call is allowed to run, but only in a box.
func (d Decision) Contained() bool { return d.Verdict == Allow && d.Reach == Boxed }
