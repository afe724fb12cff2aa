package floodmark

// A Basis is what a decision followed from beyond its fact, so that the same action can be judged
// again under another policy. It holds kinds of findings, never values: no argument, no text and
// nothing that was read is in it, except the hosts that would have been reached. A fact of an older
// journal has none, and cannot be judged again.
//
// The rules for changing facts hold here too.
type Basis struct {
	// Before is how many facts of the same event precede this one: the decision used the session as
	// it was before the first of them.
	Before int `json:"before,omitempty"`
	// Agent is the asking agent, where neither the action nor its session names it.
	Agent string `json:"agent,omitempty"`
	// Others is the digest of what a call that runs something would load: what sessions below Local
	// wrote there, and the files on its line as they are on disk; zero if unknown.
	Others Digest `json:"others,omitzero"`
	// Unreadable says that the arguments could not be examined one by one.
	Unreadable bool `json:"unreadable,omitempty"`

	// What the catalog says of the call. Undescribed: it does not describe the tool. Hinted: the
	// server's own claims were applied. Instructs: the written file instructs an agent, which alone
	// makes the call admin.
	Undescribed   bool `json:"undescribed,omitempty"`
	Hinted        bool `json:"hinted,omitempty"`
	SelfProtected bool `json:"selfProtected,omitempty"`
	Instructs     bool `json:"instructs,omitempty"`
	// Inside: it is admin only by the files it writes, and all of these are in the project, which
	// holds no settings of the owner's.
	Inside bool `json:"inside,omitempty"`
	// Placed are its further effects below Local, because of where it writes.
	Placed     []Effect `json:"placed,omitempty"`
	Network    bool     `json:"network,omitempty"`
	Own        bool     `json:"own,omitempty"`
	SecretPath bool     `json:"secretPath,omitempty"`
	// Interactive is from older journals, which do not list what was found. See [Basis.Found].
	Interactive bool `json:"interactive,omitempty"`
	// Bound is from older journals. It has no effect any more.
	Bound bool `json:"bound,omitempty"`
	// Tidies: it changes nothing except by deleting files that this session wrote.
	Tidies bool `json:"tidies,omitempty"`
	// Pushed: all it sends is a push to the project's origin, which the owner asked for.
	Pushed bool `json:"pushed,omitempty"`
	// Strange and Wipes are from older journals, too.
	Strange bool `json:"strange,omitempty"`
	Wipes   bool `json:"wipes,omitempty"`
	// Plants is an address that it writes into a file and that only foreign text named.
	Plants string `json:"plants,omitempty"`
	// Boxable: the door can run this command in a box, and all its known effects are possible
	// there.
	Boxable bool `json:"boxable,omitempty"`
	// Hosts are those that its box would let it reach; HostsBy is the question in which
	// the owner granted them for good, if he did, or without hosts the call itself.
	Hosts   []string `json:"hosts,omitempty"`
	HostsBy TicketID `json:"hostsBy,omitempty"`
	// Mirror: its box is given the packages that the project has pinned, so that nothing
	// is fetched for it.
	Mirror bool `json:"mirror,omitempty"`
	// Tried: it is tried in a box without a network, where it may not need what it would fetch.
	Tried bool `json:"tried,omitempty"`
	// Returns is the label of the result before the policy decides about its place; Location is how
	// that place counts, empty if it does not.
	Returns  Label  `json:"returns,omitzero"`
	Location string `json:"location,omitempty"`
	// Moved are the folders in which it may leave its shell, if these differ from before; empty for
	// an unknown one.
	Moved []string `json:"moved,omitempty"`
	// Loads are what it would run or load that is trusted less than the owner's own work, the least
	// trusted first: the call is judged below them.
	Loads []Load `json:"loads,omitempty"`

	// Kinds are the kinds of the values, one for each argument; none means that all are non-empty
	// strings. Cut are the arguments, except content, whose short form is not the whole value.
	// Needs are those that need a trust other than the owner's. Long are those whose value cannot
	// be shown to an auditor as a whole: it is too long, or may hold a secret.
	Kinds []ValueKind `json:"kinds,omitempty"`
	Cut   []int       `json:"cut,omitempty"`
	Long  []int       `json:"long,omitempty"`
	Needs []Need      `json:"needs,omitempty"`

	// Where it goes: the arguments that are destinations, those that are paths, and the addresses
	// among them.
	Destinations []int     `json:"destinations,omitempty"`
	Paths        []int     `json:"paths,omitempty"`
	URLs         []Address `json:"urls,omitempty"`
	// Tells is how many bits the choice of the addresses and of what goes with them could carry;
	// what the owner stated carries none.
	Tells int `json:"tells,omitempty"`

	// What it carries: a secret, free text, text with active content, and text with something
	// private that the owner did not write.
	SecretInArgs   bool `json:"secretInArgs,omitempty"`
	FreeContent    bool `json:"freeContent,omitempty"`
	ActiveContent  bool `json:"activeContent,omitempty"`
	PrivateContent bool `json:"privateContent,omitempty"`
	// NoText: none of the arguments can hold a text.
	NoText bool `json:"noText,omitempty"`
	// Carried are the secrets recognised in it.
	Carried []Carried `json:"carried,omitempty"`

	// Grounds are the arguments that the owner did not type but that count as theirs, each with the
	// reason.
	Grounds []Ground `json:"grounds,omitempty"`

	// Findings are what else was found in it and is not settled by the owner's words, each once.
	Findings []Finding `json:"findings,omitempty"`

	// Licensed says that the owner's own words name everything that matters and ask for this, even
	// where the policy ignores that.
	Licensed bool `json:"licensed,omitempty"`

	// Gates are the verifiers required by the program's settings, besides those of the policy.
	Gates []string `json:"gates,omitempty"`
	// Check is from older journals. It has no effect any more.
	Check *Check `json:"check,omitempty"`
}

// A Check is a test, build or check of the project in older journals.
type Check struct {
	Name      string `json:"name"`
	Arguments []int  `json:"arguments,omitempty"`
	Others    Digest `json:"others"`
}

// A Carried is a secret in the arguments of a call: its rule, and where it was read if it was Seen.
type Carried struct {
	Rule  string `json:"rule"`
	Seen  bool   `json:"seen,omitempty"`
	Node  NodeID `json:"node,omitempty"`
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
}

// A Need is the trust one argument needs, by its index.
type Need struct {
	Argument int   `json:"argument"`
	Trust    Trust `json:"trust"`
}

// A Ground says why an argument that the owner did not type counts as theirs: the word is one of
// the kernel's, such as «when» or «record».
type Ground struct {
	Argument int    `json:"argument"`
	By       string `json:"by"`
}

// An Address is an argument that is a URL: its index, the host it reaches, and whether all else in
// the call was stated or came from that same host. Named: the owner's own work names the host, or
// it is this machine, or a documentation host that gets only a path.
type Address struct {
	Argument int    `json:"argument"`
	Host     string `json:"host,omitempty"`
	FromHost bool   `json:"fromHost,omitempty"`
	Named    bool   `json:"named,omitempty"`
}

// A ValueKind says what kind of value an argument was.
type ValueKind string

// The kinds of values. An empty string is NoText.
const (
	TextValue   ValueKind = "text"
	NoText      ValueKind = "empty"
	NumberValue ValueKind = "number"
	BoolValue   ValueKind = "bool"
	NullValue   ValueKind = "null"
)

// Kind returns the kind of an argument's value.
func (b *Basis) Kind(i int) ValueKind {
	if i < len(b.Kinds) {
		return b.Kinds[i]
	}
	return TextValue
}
