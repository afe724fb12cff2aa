package approval

import (
	"net/url"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/address"
	"github.com/floodmark/floodmark/internal/openhost"
)

// «Always here» is an approval for one repository: it holds in all its sessions until it expires or
// is ended. What it covers is one digest, made from the call alone, so a call that differs in any
// named part is not covered.

// HereFor is how long an approval for a repository holds.
const HereFor = HostsFor

// A Here is what decides whether a call may be approved for its repository. The zero Here never
// may.
type Here struct {
	// Repository is the checkout that the session works in, and Project its folder.
	Repository floodmark.Digest
	Project    string
	Tool       floodmark.ToolRef
	// Described says that the catalog knows the tool, Command that it takes a command line,
	// Pays that it moves money, Two that its approval takes two people.
	Described, Command, Pays, Two bool
	// Defined stands for the server and its definition of the tool; zero if unknown.
	Defined    floodmark.Digest
	Effects    []floodmark.Effect
	Args       []floodmark.Argument
	ArgsDigest floodmark.Digest
	// Pattern spells every argument that matters; empty if that cannot be done. URLs and Paths are
	// the indexes of such arguments, and Address is the first URL in full.
	Pattern     string
	URLs, Paths []int
	Address     string
	// Codes are the reasons against the call, and Mark what was read before it.
	Codes []floodmark.Code
	Mark  floodmark.Label
}

// Offer returns the approval for the repository that a question may offer, and the digest of all
// that it covers.
func (h Here) Offer() (o floodmark.Offer, covers floodmark.Digest, ok bool) {
	what, covers := h.covers()
	// An address from foreign content does not become a permanent host, although a page of a
	// granted host may lead to the next one.
	if covers.IsZero() || slices.ContainsFunc(h.Args, Outside) {
		return floodmark.Offer{}, floodmark.Digest{}, false
	}
	words := "always here: " + what + ", from " + floodmark.OneLine(floodmark.Visible(h.Project), maxShownValue) + ", for 30 days"
	return floodmark.Offer{Words: words, Scope: floodmark.GrantHere, Pattern: what, For: HereFor}, covers, true
}

// Bound is the digest that binds a question to the repository.
func (h Here) Bound() floodmark.Digest {
	if _, covers, ok := h.Offer(); ok {
		return covers
	}
	return h.Repository
}

// By returns the repository's grant that covers the call; empty if none does. Later reads must be
// trusted no less than those before the grant, and none may be private.
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

// covers says in words what an approval for the repository would allow, and its digest; zero if
// none is safe.
func (h Here) covers() (what string, covers floodmark.Digest) {
	var kind string
	switch {
	case h.Repository.IsZero() || h.Two || h.Pays || !h.Harmless():
		return "", floodmark.Digest{}
	case h.Command || !h.Described || h.Pattern == "" || h.Tool.Server != "" && h.Defined.IsZero():
		return "", floodmark.Digest{} // a bare name, or a line that may say anything or push
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

// Harmless reports a call that an approval for a repository may let through at all: it runs nothing
// and changes no agent, no private content was read that it could send, and the only objections are
// other people's words or an address the owner did not name. A read is covered by its host,
// anything else by itself.
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

// Outside reports an argument that matters and was seen only in content that others wrote.
func Outside(a floodmark.Argument) bool {
	return a.Role != floodmark.Content && a.Whence == floodmark.Seen && a.Trust < floodmark.Shared
}

func (h Here) name() string {
	return floodmark.OneLine(floodmark.Visible(h.Tool.String()), maxShownName)
}

// read covers every read of a tool at a host, if the address is the only argument that says where
// and its path carries no query.
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
			return "", "" // a method, a body, a header: it may do more than read
		}
	}
	return "read " + host, "read " + host + " with " + h.name()
}

// send covers what a tool sends to exactly the recipients that were shown, if it attaches no file.
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

// Always is the number of the offer that holds for the whole repository; 0 if a question has none.
func Always(offers []floodmark.Offer) int {
	return 1 + slices.IndexFunc(offers, func(o floodmark.Offer) bool {
		return o.Scope == floodmark.GrantHere || o.Scope == floodmark.GrantHosts
	})
}
