package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// site reports whether an address is one the owner sent the agent to: its host
// was named by him in this turn, and it is that host alone, or a link that
// nobody but that host gave. Whoever writes elsewhere cannot make one.
func (l *licence) site(leaf hook.Leaf) bool {
	host := provenance.URLHost(leaf.Value)
	if host == "" || !plainAddress(leaf.Value) || !l.turn.HasHost(host) {
		return false
	}
	if bareAddress(leaf.Value, host) {
		return true
	}
	if policy.OpenHost(host) {
		return false // a link there may be a stranger's
	}
	spans := addressSpans(l.tr, leaf.Value)
	return len(spans) > 0 && !slices.ContainsFunc(spans, func(sp floodmark.Span) bool {
		src, ok := l.st.s.Ledger.Source(sp.Node)
		return !ok || src.Origin.Place != host
	})
}

// addressSpans returns where an address was seen as a whole, with its scheme or
// without it.
func addressSpans(tr *provenance.Tracer, raw string) []floodmark.Span {
	for _, form := range addressForms(raw) {
		if spans := tr.Whole(form); len(spans) > 0 {
			return spans
		}
	}
	return nil
}

// addressForms are an address with its scheme and without it.
func addressForms(raw string) []string {
	bare := strings.TrimPrefix(strings.TrimPrefix(raw, "https://"), "http://")
	return []string{raw, bare, "https://" + bare, "http://" + bare}
}

// plainAddress reports an address of the web of which every reader sees the same
// host: no user, no port, no backslash, nothing unseen.
func plainAddress(raw string) bool {
	rest, found := strings.CutPrefix(raw, "https://")
	if !found {
		rest = strings.TrimPrefix(raw, "http://")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return !strings.ContainsAny(rest[:end], "@:%[]") && !strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' })
}

// bareAddress reports whether an address says nothing but the host.
func bareAddress(raw, host string) bool {
	_, rest, found := strings.Cut(raw, "://")
	if !found {
		rest = raw
	}
	return strings.EqualFold(strings.TrimSuffix(rest, "/"), host)
}
