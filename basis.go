package floodmark

// A Basis holds what a decision depended on besides the other fields of its fact, so that the same
// action can be judged again under another policy. It holds findings, never the text of arguments
// or of content that was read. The only values in it are names: of hosts, addresses, folders and
// artifacts. A fact of an older journal has no basis and cannot be judged again.
//
// The rules for changing a [Fact] apply here too.
type Basis struct {
	// Before is how many facts of the same event precede this one. The decision used the state of
	// the session before all of them.
	Before int `json:"before,omitempty"`
	// Agent is the asking agent, if neither the action nor its session names it.
	Agent string `json:"agent,omitempty"`
	// Others is set for a call that runs something. It is the digest of the files that the call
	// would load: those that sessions with a mark below Local wrote, and those that its command
	// line names, as they are on disk. It is zero if unknown.
	Others Digest `json:"others,omitzero"`
	// Unreadable says that the arguments could not be examined one by one.
	Unreadable bool `json:"unreadable,omitempty"`

	// The following fields are what the catalog says of the call.

	// Undescribed: the catalog does not describe the tool.
	Undescribed bool `json:"undescribed,omitempty"`
	// Hinted: the tool server's own claims were applied.
	Hinted bool `json:"hinted,omitempty"`
	// SelfProtected: the call touches the monitor, its store or an agent's hooks.
	SelfProtected bool `json:"selfProtected,omitempty"`
	// Instructs: the call is admin only because the file it writes instructs an agent.
	Instructs bool `json:"instructs,omitempty"`
	// Inside: the call is admin only because of the files it writes. All these files are in the
	// project, which contains no settings of the owner.
	Inside bool `json:"inside,omitempty"`
	// Placed are further effects of the call, which come from where it writes. They count only if
	// the session's trust is below Local.
	Placed []Effect `json:"placed,omitempty"`
	// Network: the call leaves the machine, or could.
	Network bool `json:"network,omitempty"`
	// Own: the call uses only the owner's own service.
	Own bool `json:"own,omitempty"`
	// SecretPath: the call names a path where secrets are kept.
	SecretPath bool `json:"secretPath,omitempty"`
	// Interactive is from older journals, which do not list what was found. See [Basis.Found].
	Interactive bool `json:"interactive,omitempty"`
	// Bound is from older journals. It has no effect any more.
	Bound bool `json:"bound,omitempty"`
	// Tidies: the call changes nothing, except that it deletes files that this session wrote.
	Tidies bool `json:"tidies,omitempty"`
	// Pushed: all that the call sends is a push to the project's origin, for which the owner asked.
	Pushed bool `json:"pushed,omitempty"`
	// Strange and Wipes are from older journals, like Interactive.
	Strange bool `json:"strange,omitempty"`
	Wipes   bool `json:"wipes,omitempty"`
	// Plants is an address that the call writes into a file and that only foreign text named.
	Plants string `json:"plants,omitempty"`
	// Boxable: the agent's adapter can run this command in a box, and all its known effects are
	// possible there.
	Boxable bool `json:"boxable,omitempty"`
	// Hosts are the hosts that its box would let the call reach.
	Hosts []string `json:"hosts,omitempty"`
	// HostsBy is the question in which the owner granted these hosts for good. Without hosts it is
	// the question in which the owner granted the call itself for good.
	HostsBy TicketID `json:"hostsBy,omitempty"`
	// Mirror: the box gets the packages that the project's lock files pin, so that the call fetches
	// nothing.
	Mirror bool `json:"mirror,omitempty"`
	// Tried: the call is tried in a box without a network, because it may work without what it
	// would fetch.
	Tried bool `json:"tried,omitempty"`
	// Returns is the label of the result before the policy's rules for its location are applied.
	Returns Label `json:"returns,omitzero"`
	// Location is the kind of place that the result comes from, such as a host or a folder outside
	// the project. It is empty if the place does not affect the label.
	Location string `json:"location,omitempty"`
	// Moved are the folders in which the call may leave its shell, if they differ from before. An
	// unknown folder is an empty string.
	Moved []string `json:"moved,omitempty"`
	// Loads are the artifacts the call would run or load that are trusted less than the owner's own
	// work, the least trusted first. Their labels lower the mark at which the call is judged.
	Loads []Load `json:"loads,omitempty"`

	// Kinds are the kinds of the values, one for each argument. If it is empty, all values are
	// non-empty strings.
	Kinds []ValueKind `json:"kinds,omitempty"`
	// Cut are the arguments whose short form is not the whole value. Content is not listed.
	Cut []int `json:"cut,omitempty"`
	// Long are the arguments whose value cannot be shown to an auditor as a whole, because it is
	// too long or may contain a secret.
	Long []int `json:"long,omitempty"`
	// Needs are the arguments that need another trust than Owner, the usual one. Content is not
	// among them.
	Needs []Need `json:"needs,omitempty"`

	// Destinations are the arguments that are destinations.
	Destinations []int `json:"destinations,omitempty"`
	// Paths are the arguments that are paths.
	Paths []int `json:"paths,omitempty"`
	// URLs are the arguments that are URLs.
	URLs []Address `json:"urls,omitempty"`
	// Tells is how many bits of information the call could send out by the choice of its addresses
	// and of the other values. Values that the owner stated are not counted.
	Tells int `json:"tells,omitempty"`

	// SecretInArgs: the arguments contain a secret.
	SecretInArgs bool `json:"secretInArgs,omitempty"`
	// FreeContent: the arguments contain free text.
	FreeContent bool `json:"freeContent,omitempty"`
	// ActiveContent: the arguments contain text with active content, such as a link from outside.
	ActiveContent bool `json:"activeContent,omitempty"`
	// PrivateContent: the arguments contain text with something private that the owner did not
	// write.
	PrivateContent bool `json:"privateContent,omitempty"`
	// NoText: none of the arguments can hold a text.
	NoText bool `json:"noText,omitempty"`
	// Carried are the secrets recognised in the arguments.
	Carried []Carried `json:"carried,omitempty"`

	// Grounds are the arguments that the owner did not type but that are treated as the owner's,
	// each with the reason.
	Grounds []Ground `json:"grounds,omitempty"`

	// Findings are what else was found in the call and is not settled by the owner's words, each once.
	Findings []Finding `json:"findings,omitempty"`

	// Licensed says that the owner's own words name every argument that matters and ask for this
	// call. It is recorded even if the policy ignores it.
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

// A Carried is a secret in the arguments of a call: the rule that recognised it and, if Seen, the
// place where the session read it.
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

// A Ground says why an argument that the owner did not type is treated as the owner's. By is one of
// the kernel's words, such as «when» or «record».
type Ground struct {
	Argument int    `json:"argument"`
	By       string `json:"by"`
}

// An Address is an argument that is a URL.
type Address struct {
	// Argument is the index of the argument.
	Argument int    `json:"argument"`
	Host     string `json:"host,omitempty"`
	// FromHost says that the owner stated each value of the call, or that it came from this host.
	FromHost bool `json:"fromHost,omitempty"`
	// Named says that the owner's own work names the host, that the host is this machine, or that
	// it is a documentation host and the request contains only a path.
	Named bool `json:"named,omitempty"`
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
