package kernel

import (
	"cmp"
	"math/bits"
	"net/url"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/intent"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/secret"
	"github.com/floodmark/floodmark/internal/text/address"
	"github.com/floodmark/floodmark/internal/text/inert"
	"github.com/floodmark/floodmark/internal/text/openhost"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// privateLength is the least length of a number or id that tells something: a
// shorter one is found in any text by chance.
const privateLength = 6

// maxContentTokens bounds the tokens looked up in the free text of one call.
const maxContentTokens = 2048

// carries fills in what the flow rules look at: what leaves, and where to.
func (st *step) carries(j *judged, tr *provenance.Tracer) {
	b, args := &j.basis, j.action.Arguments
	b.NoText = textless(j.use, j.leaves)
	for i, leaf := range j.leaves {
		about := argument(j.use, leaf)
		if about.Is == catalog.IsPath {
			b.Paths = append(b.Paths, i)
		}
		switch {
		case about.Is == catalog.IsURL:
			b.URLs = append(b.URLs, floodmark.Address{Argument: i})
			b.Destinations = append(b.Destinations, i)
		case about.Is == catalog.IsDestination, about.Role == floodmark.Undeclared:
			b.Destinations = append(b.Destinations, i)
			// Filing something where the owner did not say is reaching
			// outside, even on the owner's own service.
			b.Own = b.Own && (owners(b, args, i) || about.Is != catalog.IsDestination || !alters(j.action.Effects))
		}
		if about.Role == floodmark.Content && leaf.Kind == hook.String && leaf.Value != "" && !intent.Filled(b, i) {
			b.FreeContent = true
			active, private := st.active(tr, leaf.Value)
			b.ActiveContent = b.ActiveContent || active
			b.PrivateContent = b.PrivateContent || private
		}
		b.SecretInArgs = b.SecretInArgs || st.secret(tr, leaf.Value, args[i], st.home(j))
	}
	b.Carried = st.secrets().Carried(values(j.leaves))
	b.SecretInArgs = b.SecretInArgs || len(b.Carried) > 0
	b.Own = b.Own && (j.use.Own || !b.SecretInArgs && !b.SecretPath)
	for i := range b.URLs {
		u := &b.URLs[i]
		value := j.leaves[u.Argument].Value
		u.Host = tokens.URLHost(value)
		u.FromHost = (args[u.Argument].Whence == floodmark.Stated || st.fromHost(tr, u.Host, value)) &&
			st.restFromHost(tr, u.Host, u.Argument, j)
		u.Named = address.Loopback(u.Host) || st.r.Catalog.Documents(value) || st.names(tr, u.Host)
	}
	other := func(u floodmark.Address) bool { return !u.FromHost }
	if len(b.URLs) > 0 && !slices.ContainsFunc(b.URLs, other) && !slices.Contains(j.action.Effects, floodmark.Send) {
		b.Tells = st.tells(tr, j) // other calls are judged by what they carry
	}
}

// uncounted is how many bits a choice among uncounted links tells: one content counts no more
// links. selectorBits is how many a choice among the values that a profile lists tells. maxTells
// bounds the bits of one call, and maxHalved bounds how often they are doubled.
const (
	uncounted    = 22
	selectorBits = 6
	maxTells     = 1 << 12
	maxHalved    = 12
)

// tells returns how many bits a request can leak: by which of the seen links it follows, and by
// what the agent composed. What the owner stated, and the local path where a result is saved, leak
// nothing.
func (st *step) tells(tr *provenance.Tracer, j *judged) (n int) {
	seen := st.s.Ledger.Links()
	for i, leaf := range j.leaves {
		about, host := argument(j.use, leaf), tokens.URLHost(leaf.Value)
		switch {
		case j.action.Arguments[i].Whence == floodmark.Stated, usual(about, leaf), about.Is == catalog.IsPath && slices.Contains(j.action.Effects, floodmark.Write), j.use.Looks.Plain && leaf.Top != floodmark.CommandAddress:
		case about.Is == catalog.IsURL && intent.SeenAt(&st.s.Ledger, host, intent.AddressSpans(tr, leaf.Value)):
			n += cmp.Or(bits.Len(uint(seen)), uncounted)
		case slices.Contains(j.use.Selectors, leaf.Top):
			n += selectorBits
		case leaf.Kind == hook.Bool, leaf.Kind == hook.Null, about.Is == catalog.IsURL && address.OnlyHost(leaf.Value, host) && !st.r.Policy.ListsHost("any."+host):
			n++
		case leaf.Kind == hook.Number:
			n += 4 * len(leaf.Value)
		default:
			n += 8 * len(leaf.Value)
		}
	}
	return min(n, maxTells)
}

// usual reports whether a flag has its usual value. Choosing that value tells nothing; choosing
// another does.
func usual(about catalog.Arg, leaf hook.Leaf) bool {
	return about.Usual != "" && leaf.Value == about.Usual && leaf.Kind == hook.String && leaf.Path == leaf.Top
}

// names reports whether a host was first seen in something that the owner wrote and an agent's tool
// only read. What a command prints is left out, because it may be words of the command line.
func (st *step) names(tr *provenance.Tracer, host string) bool {
	spans := tr.Whole(host)
	if host == "" || len(spans) == 0 || st.s.Ledger.Effective(spans[0].Node).Trust <= floodmark.External {
		return false
	}
	src, _ := st.s.Ledger.Source(spans[0].Node)
	p, known := st.r.Catalog.Lookup(st.ref(src.Origin.Server, src.Origin.Name))
	return src.Kind != floodmark.NodeToolResult || known && p.OnlyReads()
}

// reached returns what the flow rules are told. If a call has several URLs, each answer is the
// worst one: whether the owner or the policy names the host, and whether everything else was stated
// or came from that host.
func (st *step) reached(b *floodmark.Basis, args []floodmark.Argument) policy.Reach {
	r := policy.Reach{
		Network: b.Network, Own: b.Own, Destinations: b.Destinations, Paths: b.Paths, URLArg: -1,
		Plants: b.Plants, SecretInArgs: b.SecretInArgs, FreeContent: b.FreeContent, ActiveContent: b.ActiveContent, ContentLicensed: !b.PrivateContent,
	}
	r.NoText, r.Tells, r.Told = b.NoText, b.Tells<<st.s.share(), st.s.Spelled
	if b.Licensed {
		for _, g := range b.Grounds {
			r.Vouched = append(r.Vouched, g.Argument)
		}
	}
	r.Undescribed = st.secrets().Undescribed(b)
	if len(b.URLs) == 0 {
		return r
	}
	r.URLArg = b.URLs[0].Argument
	r.PointedAt = len(b.URLs) == 1 && intent.PointedAt(b, r.URLArg)
	r.HostStated, r.HostListed, r.HostNamed, r.RestFromHost, r.Site = true, true, true, true, true
	for _, u := range b.URLs {
		a := args[u.Argument]
		if worst := args[r.URLArg]; a.Whence < worst.Whence || a.Whence == worst.Whence && a.Trust < worst.Trust {
			r.URLArg = u.Argument
		}
		r.HostStated = r.HostStated && (a.Whence == floodmark.Stated || u.Host != "" && st.s.stated.HasHost(u.Host))
		r.HostListed = r.HostListed && u.Host != "" && st.r.Policy.ListsHost(u.Host)
		r.HostNamed = r.HostNamed && u.Named
		r.RestFromHost = r.RestFromHost && u.FromHost
		r.Site = r.Site && r.HostStated && u.FromHost && !openhost.Is(u.Host)
	}
	return r
}

// owners reports whether an argument is the owner's: they typed it, or what they
// typed vouches for it in a call that they asked for.
func owners(b *floodmark.Basis, args []floodmark.Argument, i int) bool {
	return args[i].Whence == floodmark.Stated ||
		b.Licensed && slices.ContainsFunc(b.Grounds, func(g floodmark.Ground) bool { return g.Argument == i })
}

// alters reports whether a call does more than read.
func alters(effects []floodmark.Effect) bool {
	return slices.ContainsFunc(effects, func(e floodmark.Effect) bool { return e < floodmark.Fetch })
}

// fromHost reports whether a URL has nothing besides its host, or the whole of it was seen in a
// result of that same host.
func (st *step) fromHost(tr *provenance.Tracer, host, raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || host == "" {
		return false
	}
	if (u.Path == "" || u.Path == "/") && u.RawQuery == "" && u.Fragment == "" && u.User == nil {
		return true
	}
	return intent.SeenAt(&st.s.Ledger, host, intent.AddressSpans(tr, raw))
}

// restFromHost reports whether every value beside the URL was stated, came
// from that host, or is too small to carry anything.
func (st *step) restFromHost(tr *provenance.Tracer, host string, at int, j *judged) bool {
	args := j.action.Arguments
	for i, leaf := range j.leaves {
		if argument(j.use, leaf).Is == catalog.IsPath && slices.Contains(j.action.Effects, floodmark.Write) || j.use.Looks.Plain && leaf.Top != floodmark.CommandAddress {
			continue // no host is told where a result is saved here; a plain look tells only its addresses
		}
		small := usual(argument(j.use, leaf), leaf) || slices.Contains(j.use.Selectors, leaf.Top) || leaf.Kind == hook.Bool || leaf.Kind == hook.Null || leaf.Kind == hook.Number && len(leaf.Value) <= intent.SmallNumber
		if i == at || small || args[i].Whence == floodmark.Stated {
			continue
		}
		if !intent.SeenAt(&st.s.Ledger, host, tr.Whole(leaf.Value)) {
			return false
		}
	}
	return true
}

// active reports whether free text carries something a reader may act on or a
// program may load (a link, an address, an account) that the owner did not
// write, and whether it carries an identifier seen in private content.
func (st *step) active(tr *provenance.Tracer, text string) (active, private bool) {
	n, open := 0, st.s.Ledger.Lowest().Secrecy > floodmark.Private // nothing was seen in private content
	active = inert.Acts(text)
	for tok := range tokens.Tokens(text) {
		if n++; n > maxContentTokens {
			return true, true // too long to look through: not inert
		}
		acts := (!active || !open && !private) && (tok.Kind == tokens.URL || tok.Kind == tokens.Address || tok.Kind == tokens.Account ||
			tok.Kind == tokens.Path && address.LikeHost(tok.Text) || tokens.BareHost(tok.Text))
		if !acts && (open || private || tok.Kind != tokens.ID && tok.Kind != tokens.Number || len(tok.Text) < privateLength) {
			continue
		}
		value := text[tok.Start:tok.End]
		a := tr.Trace(hook.Leaf{Value: value}, floodmark.Content, "")
		if a.Whence == floodmark.Stated {
			continue
		}
		active = active || acts && !st.intent().PointsAt(tr, value, a, true)
		private = private || a.Whence == floodmark.Seen && st.guarded(a, floodmark.Private)
	}
	return active, private
}

// guarded reports whether a value was seen in content at most as open as limit.
func (st *step) guarded(a floodmark.Argument, limit floodmark.Secrecy) bool {
	return slices.ContainsFunc(a.Spans, func(sp floodmark.Span) bool {
		return st.s.Ledger.Effective(sp.Node).Secrecy <= limit
	})
}

// ArgsDigest identifies the arguments of a call as its decision does.
func ArgsDigest(c hook.Call) floodmark.Digest {
	leaves, err := c.Leaves()
	if err != nil {
		return floodmark.DigestOf(string(c.Args))
	}
	return hook.DigestOf(leaves)
}

// textless reports whether a call puts something somewhere and none of its
// arguments could hold a text, a command or a patch: an attachment that is saved
// in a folder.
func textless(use catalog.Use, leaves []hook.Leaf) bool {
	path := false
	for _, leaf := range leaves {
		about := argument(use, leaf)
		if about.Role != floodmark.Critical {
			return false
		}
		switch about.Is {
		case catalog.IsPath:
			path = true
		case catalog.IsID, catalog.IsURL, catalog.IsName, catalog.IsFlag:
		default:
			return false
		}
	}
	return path && use.Profile != nil
}

// secrets returns what knows the secrets of the session.
func (st *step) secrets() *secret.Session {
	return &secret.Session{
		Rules: st.r.secrets, Ledger: &st.s.Ledger, Kept: func() []floodmark.SecretSpan { return st.left().Hoarded(st.secrets) },
		Key: provenance.RingKey{Name: st.in.KeyName, Key: st.in.Key}, Others: st.in.Others,
	}
}

// secret reports whether a value carries something seen in secret content. A value that was seen
// only in results of the server home carries no secret, because home is also where it goes now.
func (st *step) secret(tr *provenance.Tracer, value string, whole floodmark.Argument, home string) bool {
	if st.mark.Secrecy > floodmark.Secret || whole.Whence == floodmark.Seen && !whole.Pieced && st.toldBy(whole, home) {
		return false
	}
	return st.secrets().FromSecret(tr, value, whole)
}

func values(leaves []hook.Leaf) []string {
	list := make([]string, len(leaves))
	for i, leaf := range leaves {
		list[i] = leaf.Value
	}
	return list
}

// home returns the server of a call that reaches only that server, if it is the owner's own and
// passes on nothing that it gets. It is empty for other calls.
func (st *step) home(j *judged) string {
	if !j.use.Own || slices.Contains(j.action.Effects, floodmark.Send) || slices.Contains(j.action.Effects, floodmark.Run) {
		return ""
	}
	return j.action.Tool.Server
}

// toldBy reports whether a value was seen only in results of the tools of one
// server of the owner's.
func (st *step) toldBy(a floodmark.Argument, server string) bool {
	return server != "" && len(a.Spans) > 0 && !slices.ContainsFunc(a.Spans, func(sp floodmark.Span) bool {
		src, ok := st.s.Ledger.Source(sp.Node)
		return !ok || src.Origin.Server != server || !intent.OwnTool(st.r.Catalog, st.ev.Agent, src)
	})
}
