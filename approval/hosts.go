package approval

import (
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/address"
	"github.com/floodmark/floodmark/internal/text/openhost"
)

// A box has no network. The hosts that its command tried to reach are recorded, and a person can
// let the command reach exactly these hosts from its box: once, or in the project for a time.

// HostsFor is how long hosts are granted to a project.
const HostsFor = 30 * 24 * time.Hour

// maxHosts is how many hosts one call may reach.
const maxHosts = 4

// places returns the hosts among some names that a box may be allowed to reach.
func places(names []string) (list []string) {
	for _, n := range names {
		if _, ok := address.Place(n); ok && !slices.Contains(list, n) && len(list) < maxHosts {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// Reaches returns the hosts that the box of a call should let it reach: those granted for the
// project, in this or another session, and those it tried to reach when it just failed. By is the
// grant if it covers all of them.
func (b *Book) Reaches(t floodmark.ToolRef, args floodmark.Digest, at time.Time, others []hook.Lasting, repository floodmark.Digest) (hosts []string, by floodmark.TicketID) {
	for _, g := range slices.Concat(others, b.Lasting(at)) {
		if g.Tool == t && g.Args == args && len(g.Hosts) > 0 && g.Here == repository {
			hosts, by = places(g.Hosts), g.Ticket
		}
	}
	if !b.FailedInBox(t, args) {
		return hosts, by
	}
	wanted := places(b.Boxed.Wanted)
	if len(wanted) == 0 {
		return nil, "" // it failed for another reason
	}
	if all := places(append(wanted, hosts...)); !slices.Equal(all, hosts) {
		return all, ""
	}
	return hosts, by // they were granted after it failed
}

// Lasting returns the grants for the whole project that are valid at a time. A grant that was given
// after that time is not valid, so setting a clock back does not extend a grant.
func (b *Book) Lasting(at time.Time) (list []hook.Lasting) {
	for _, g := range b.Hosts {
		if at.Before(g.Until) && !at.Add(HereFor).Before(g.Until) {
			list = append(list, hook.Lasting{
				Ticket: g.Ticket, Tool: g.Shown.Tool, Args: g.Shown.ArgsDigest, Hosts: g.Shown.Hosts,
				Here: g.Shown.Here, Mark: g.Shown.Mark, Codes: g.Shown.Codes,
			})
		}
	}
	return list
}

// Holds reports whether the book contains a grant of a question.
func (b *Book) Holds(t floodmark.TicketID) bool {
	return slices.ContainsFunc(slices.Concat(b.Grants, b.Hosts), func(g Grant) bool { return g.Ticket == t })
}

// WantsHosts returns why a person is asked about a call that would reach hosts from its box. The
// names of the hosts come from the command.
func WantsHosts(hosts []string) floodmark.Reason {
	return floodmark.Reason{
		Code: floodmark.BoxHost, Verdict: floodmark.Confirm,
		Text: "it failed in its box and wants to reach " + strings.Join(hosts, ", ") + ": it named that itself. It would run in a box that lets it reach this and nothing else",
	}
}

// HostOffers returns the offers of a question about hosts. Lasting says that the hosts may be
// granted for more than this call. They never are if anyone can publish at one of them, because
// anyone could then read what was sent.
func HostOffers(hosts []string, lasting bool) []floodmark.Offer {
	list := []floodmark.Offer{{Words: "this call, once, in a box that reaches " + strings.Join(hosts, ", "), Scope: floodmark.GrantOnce}}
	open := func(place string) bool {
		host, _ := address.Place(place)
		return openhost.Is(host)
	}
	if lasting && !slices.ContainsFunc(hosts, open) {
		list = append(list, floodmark.Offer{Words: "the same always in this project, for 30 days", Scope: floodmark.GrantHosts})
	}
	return append(list, floodmark.Offer{Words: "this call, once, outside the box", Scope: floodmark.GrantOutside})
}

// OnlyOnce reports whether a question offered only a single call, apart from the repository. It is
// enough to look at the last offer, because wider offers come later.
func OnlyOnce(s floodmark.Shown) bool {
	last := slices.DeleteFunc(slices.Clone(s.Offers), func(o floodmark.Offer) bool { return o.Scope == floodmark.GrantHere })
	last = last[max(0, len(last)-1):]
	return len(last) > 0 && (last[0].Scope == floodmark.GrantOnce || last[0].Scope == floodmark.GrantOutside)
}

// Approves reports whether a command applies to a call.
func (c Command) Approves(s floodmark.Shown) bool { return c.Tool == All || c.Tool == s.Tool.String() }

// Offered reports whether every call that a command approves has the chosen offer.
func (c Command) Offered(shown []floodmark.Shown) bool {
	return c.Offer >= 0 && !slices.ContainsFunc(shown, func(s floodmark.Shown) bool {
		return c.Approves(s) && (c.Offer > len(s.Offers) || c.Always && Always(s.Offers) == 0)
	})
}

// InBox describes a box in one line, on a card and to a verifier.
func InBox(hosts []string) string {
	if len(hosts) > 0 {
		return "Runs in a box: only this project, and of the network only " + strings.Join(hosts, ", ") + "."
	}
	return "Runs in a box: no network, only this project."
}

// BoxWords tells a person where a call runs; empty if it can never run in a box.
func BoxWords(d *floodmark.Decision, hosts []string) string {
	if d.Reach == floodmark.Boxed {
		return InBox(hosts)
	}
	at := slices.IndexFunc(d.Reasons, func(r floodmark.Reason) bool { return r.Code == floodmark.OutsideBox })
	if at < 0 {
		return ""
	}
	return d.Reasons[at].Text + "."
}
