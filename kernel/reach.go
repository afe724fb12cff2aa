package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"net/url"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// privateLength is from how many characters a number or id tells something: a
// shorter one is found in any text by chance.
const privateLength = 6

// maxContentTokens bounds the tokens looked up in the free text of one call.
const maxContentTokens = 2048

// reach is what the flow rules look at: what leaves, and where to.
func (st *step) reach(tr *provenance.Tracer, use catalog.Use, leaves []hook.Leaf, args []floodmark.Argument) policy.Reach {
	r := policy.Reach{Network: use.Network, Own: use.Own, URLArg: -1, ContentLicensed: true}
	for i, leaf := range leaves {
		about := use.Arg(leaf.Top)
		switch {
		case about.Is == "url":
			r.Destinations = append(r.Destinations, i)
			if r.URLArg < 0 {
				r.URLArg = i
				st.fetchParts(&r, leaf.Value, args[i])
			}
		case about.Is == "destination", about.Role == floodmark.Undeclared:
			r.Destinations = append(r.Destinations, i)
		}
		if about.Role == floodmark.Content && leaf.Kind == hook.String && leaf.Value != "" {
			r.FreeContent = true
			active, private := st.active(tr, leaf.Value)
			r.ActiveContent = r.ActiveContent || active
			r.ContentLicensed = r.ContentLicensed && !private
		}
		r.SecretInArgs = r.SecretInArgs || st.secret(tr, leaf.Value, args[i])
	}
	return r
}

// fetchParts says of a URL whether the owner or the policy names its host, and
// whether the rest of it was stated or came from that same host.
func (st *step) fetchParts(r *policy.Reach, raw string, a floodmark.Argument) {
	if a.Whence == floodmark.Stated {
		r.HostStated, r.RestFromHost = true, true
		return
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return
	}
	host := strings.ToLower(u.Hostname())
	r.HostStated = st.s.stated.HasHost(host)
	r.HostListed = st.r.Policy.ListsHost(host)
	if (u.Path == "" || u.Path == "/") && u.RawQuery == "" && u.Fragment == "" && u.User == nil {
		r.RestFromHost = true
		return
	}
	r.RestFromHost = slices.ContainsFunc(a.Spans, func(sp floodmark.Span) bool {
		src, ok := st.s.Ledger.Source(sp.Node)
		return ok && src.Origin.Place == host
	})
}

// active reports whether free text carries something a reader may act on or a
// program may load (a link, an address, an account) that the owner did not
// write, and whether it carries an identifier seen in private content.
func (st *step) active(tr *provenance.Tracer, text string) (active, private bool) {
	n := 0
	for tok := range provenance.Tokens(text) {
		if n++; n > maxContentTokens {
			return true, true // too long to look through: not inert
		}
		acts := tok.Kind == provenance.URL || tok.Kind == provenance.Address || tok.Kind == provenance.Account
		if !acts && (tok.Kind != provenance.ID && tok.Kind != provenance.Number || len(tok.Text) < privateLength) {
			continue
		}
		a := tr.Trace(hook.Leaf{Value: text[tok.Start:tok.End]}, floodmark.Content, "")
		if a.Whence == floodmark.Stated {
			continue
		}
		active = active || acts
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

// argsDigest identifies the exact arguments however their keys were ordered.
func argsDigest(leaves []hook.Leaf) floodmark.Digest {
	byPath := func(a, b hook.Leaf) int { return strings.Compare(a.Path, b.Path) }
	sorted := leaves
	if !slices.IsSortedFunc(leaves, byPath) {
		sorted = slices.Clone(leaves)
		slices.SortStableFunc(sorted, byPath)
	}
	size := 0
	for _, l := range sorted {
		size += 8 + len(l.Path) + 8 + len(l.Value) + 1
	}
	b := make([]byte, 0, size)
	for _, l := range sorted {
		for _, part := range [...]string{l.Path, l.Value} {
			b = binary.BigEndian.AppendUint64(b, uint64(len(part)))
			b = append(b, part...)
		}
		b = append(b, byte(l.Kind))
	}
	return sha256.Sum256(b)
}
