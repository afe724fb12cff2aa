package approval

import (
	"net/url"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/address"
	"github.com/floodmark/floodmark/internal/text/openhost"
)

// «Always here» is an approval for one repository. It is valid in all sessions of the repository
// until it expires or is ended. It covers calls with one digest, so a call that differs in any part
// that goes into the digest is not covered.

// HereFor is how long an approval for a repository is valid.
const HereFor = HostsFor

// A Here holds what decides whether a call may be approved for its repository. The zero Here may
// not be approved.
type Here struct {
	// Repository is the checkout that the session works in, and Project its folder.
	Repository floodmark.Digest
	Project    string
	Tool       floodmark.ToolRef
	// Described says that the catalog describes the tool, Command that the tool takes a command
	// line, and Pays that it moves money. Two says that two people must approve the call.
	Described, Command, Pays, Two bool
	// Defined identifies the server and its definition of the tool; zero if unknown.
	Defined    floodmark.Digest
	Effects    []floodmark.Effect
	Args       []floodmark.Argument
	ArgsDigest floodmark.Digest
	// Pattern contains every argument that matters; empty if that is not possible.
	Pattern string
	// URLs and Paths are the indexes of the arguments that are URLs and paths.
	URLs, Paths []int
	// Address is the first URL in full.
	Address string
	// Codes are the reasons of the decision.
	Codes []floodmark.Code
	// Mark is the session's mark.
	Mark floodmark.Label
}

// Offer returns the approval for this repository that a question may offer, and a digest of
// everything that the approval covers.
func (h Here) Offer() (o floodmark.Offer, covers floodmark.Digest, ok bool) {
	what, covers := h.covers()
	// An approval for the repository is not offered for an address that only foreign content named.
	if covers.IsZero() || slices.ContainsFunc(h.Args, Outside) {
		return floodmark.Offer{}, floodmark.Digest{}, false
	}
	words := "always here: " + what + ", from " + floodmark.OneLine(floodmark.Visible(h.Project), maxShownValue) + ", for 30 days"
	return floodmark.Offer{Words: words, Scope: floodmark.GrantHere, Pattern: what, For: HereFor}, covers, true
}

// Bound returns the digest that binds a question to the repository: the digest of what [Here.Offer]
// covers or, without an offer, the digest of the repository.
func (h Here) Bound() floodmark.Digest {
	if _, covers, ok := h.Offer(); ok {
		return covers
	}
	return h.Repository
}

// By returns the repository's grant that covers the call; empty if none does. The session's mark
// must be no lower than it was when the grant was given, and the call must have no reasons that
// were not shown then.
func (h Here) By(list []hook.Lasting) floodmark.TicketID {
	_, covers := h.covers()
	for _, g := range list {
		fits := !covers.IsZero() && g.Here == covers && len(g.Hosts) == 0
		unseen := func(c floodmark.Code) bool { return !slices.Contains(g.Codes, c) }
		if fits && h.Mark.Trust >= g.Mark.Trust && h.Mark.Secrecy >= g.Mark.Secrecy && !slices.ContainsFunc(h.Codes, unseen) {
			return g.Ticket
		}
	}
	return ""
}

// covers returns what an approval for the repository would allow, in words and as a digest. Both
// are zero if such an approval would not be safe.
func (h Here) covers() (what string, covers floodmark.Digest) {
	var kind string
	switch {
	case h.Repository.IsZero() || h.Two || h.Pays || !h.Harmless():
		return "", floodmark.Digest{}
	case h.Command || !h.Described || h.Pattern == "" || h.Tool.Server != "" && h.Defined.IsZero():
		return "", floodmark.Digest{} // not enough is known of the tool, or it takes a command line
	case slices.Equal(h.Effects, []floodmark.Effect{floodmark.Fetch}):
		kind, what = h.read()
	case slices.Contains(h.Effects, floodmark.Send):
		kind, what = h.send()
	default:
		kind, what = "exactly "+h.ArgsDigest.String(), "exactly this call of "+h.name()
	}
	if kind == "" {
		return "", floodmark.Digest{}
	}
	parts := []string{"always here", h.Repository.String(), h.Tool.Agent, h.Tool.Server, h.Tool.Name, h.Defined.String(), kind}
	for _, e := range h.Effects {
		parts = append(parts, e.String())
	}
	return what, floodmark.DigestOf(strings.Join(parts, "\x00"))
}

// Harmless reports whether an approval for a repository may allow such a call at all:
//   - it runs nothing and changes no agent;
//   - the session has read nothing private that the call could send;
//   - the only reasons against it are that other people's words were read or, for a read, that the
//     owner did not name the address.
func (h Here) Harmless() bool {
	reads := slices.Equal(h.Effects, []floodmark.Effect{floodmark.Fetch})
	for _, c := range h.Codes {
		if c != floodmark.TaintEscalation && (c != floodmark.FlowFetch || !reads) {
			return false
		}
	}
	for _, e := range h.Effects {
		if e == floodmark.Run || e == floodmark.Admin {
			return false
		}
	}
	return len(h.Effects) > 0 && h.Mark.Secrecy > floodmark.Private
}

// Outside reports whether an argument matters and was seen only in content that others wrote.
func Outside(a floodmark.Argument) bool {
	return a.Role != floodmark.Content && a.Whence == floodmark.Seen && a.Trust < floodmark.Shared
}

func (h Here) name() string {
	return floodmark.OneLine(floodmark.Visible(h.Tool.String()), maxShownName)
}

// read returns the approval for every read of a tool at the host of the call's address. There is
// none if an argument other than the address matters, or if the address has more than a plain host
// and path.
func (h Here) read() (kind, what string) {
	u, err := url.Parse(h.Address)
	if err != nil || len(h.URLs) != 1 || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Port() != "" || strings.ContainsAny(h.Address, "*{}[]") {
		return "", ""
	}
	host := strings.ToLower(u.Hostname())
	if place, known := address.Place(host + ":443"); !known || place != host || openhost.Is(host) {
		return "", ""
	}
	for i, a := range h.Args {
		if a.Role != floodmark.Content && i != h.URLs[0] {
			return "", "" // with a method, body or header the call may do more than read
		}
	}
	return "read " + host, "read " + host + " with " + h.name()
}

// send returns the approval for everything that a tool sends to exactly the shown recipients. There
// is none if the call names a file or a URL.
func (h Here) send() (kind, what string) {
	var to []string
	for i, a := range h.Args {
		switch {
		case a.Role == floodmark.Content:
			continue
		case Outside(a) || a.Shown == "" || slices.Contains(h.Paths, i):
			return "", ""
		}
		to = append(to, floodmark.OneLine(floodmark.Visible(a.Shown), maxShownName))
	}
	if len(to) == 0 || len(to) > maxShownList || len(h.URLs) > 0 {
		return "", ""
	}
	return "send " + h.Pattern, "send to " + strings.Join(to, ", ") + " with " + h.name() + ", whatever it says"
}

// Always returns the number of the offer for the whole repository, or 0 if there is none.
func Always(offers []floodmark.Offer) int {
	return 1 + slices.IndexFunc(offers, func(o floodmark.Offer) bool {
		return o.Scope == floodmark.GrantHere || o.Scope == floodmark.GrantHosts
	})
}
