package policy

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/text/openhost"
	"github.com/floodmark/floodmark/policy/policyfile"
)

// places are the hosts and paths the user speaks about.
type places struct {
	workspace []pathPattern
	paths     []placeTrust[pathPattern]
	hosts     []placeTrust[openhost.Pattern]
}

type placeTrust[P any] struct {
	pattern P
	trust   floodmark.Trust
}

// PlaceLabel returns l, the label of content that was read, changed by the place that it was read
// from. home is what «~» means in that session. Without home, patterns with «~» match nothing. It
// is only for content whose trust depends on its place. The answer of a tool that writes a file is
// not such content.
func (p *Policy) PlaceLabel(l floodmark.Label, place string, kind catalog.PathKind, projectKnown bool, home ...string) floodmark.Label {
	if p == nil || p.base == nil || !l.Valid() {
		return floodmark.Label{}
	}
	if kind == catalog.NoPath {
		if t, ok := p.places.host(place); ok {
			l.Trust = t
		}
		return l
	}
	if l.Trust < floodmark.Local && kind != catalog.Foreign {
		return l // the tool gave it less trust than a place of the owner's has
	}
	l.Trust = min(l.Trust, p.pathTrust(place, kind, projectKnown, home))
	return l
}

// ProjectLocal reports whether files in the project are the owner's own.
func (p *Policy) ProjectLocal() bool { return p != nil && p.projectLocal }

// pathTrust returns the trust of a path. A folder for other people's content is at
// most External, even inside a workspace.
func (p *Policy) pathTrust(place string, kind catalog.PathKind, projectKnown bool, home []string) floodmark.Trust {
	segs := splitPath(place)
	for _, s := range p.places.paths {
		if s.pattern.matches(segs, home) && (kind != catalog.Foreign || s.trust <= floodmark.External) {
			return s.trust
		}
	}
	switch {
	case kind == catalog.Foreign:
		return floodmark.External
	case kind == catalog.InProject && projectKnown && p.projectLocal:
		return floodmark.Local
	}
	for _, w := range p.places.workspace {
		if w.matches(segs, home) {
			return floodmark.Local
		}
	}
	return floodmark.External
}

// HostTrust returns the standing trust the policy gives a host, if the policy names the host.
func (p *Policy) HostTrust(host string) (floodmark.Trust, bool) {
	if p == nil || p.base == nil {
		return floodmark.Untrusted, false
	}
	return p.places.host(host)
}

// ListsHost reports whether the policy gives the host a standing trust of at least
// Shared, so that requests do not go to an unknown host.
func (p *Policy) ListsHost(host string) bool {
	if p == nil || p.base == nil {
		return false
	}
	t, ok := p.places.host(host)
	return ok && t >= floodmark.Shared
}

func (ps *places) host(place string) (floodmark.Trust, bool) {
	host := hostOf(place)
	for _, h := range ps.hosts {
		if h.pattern.Matches(host) {
			return h.trust, true
		}
	}
	return floodmark.Untrusted, false
}

// hostOf returns the host of a place that may be a whole URL.
func hostOf(place string) string {
	if _, rest, ok := strings.Cut(place, "://"); ok {
		place = rest
	}
	place, _, _ = strings.Cut(place, "/")
	if i := strings.LastIndexByte(place, '@'); i >= 0 {
		place = place[i+1:]
	}
	if host, port, ok := strings.Cut(place, ":"); ok && !strings.Contains(port, ":") {
		place = host
	}
	return strings.ToLower(strings.TrimSuffix(place, "."))
}

// readPlaces reads workspace and sources.
func readPlaces(r *policyfile.Reader, root *yaml.Node) places {
	var ps places
	for _, n := range policyfile.Items(policyfile.Value(root, "workspace")) {
		if p, ok := readPath(r, n); ok {
			ps.workspace = append(ps.workspace, p)
		}
	}
	for _, n := range policyfile.Items(policyfile.Value(root, "sources")) {
		host, path := policyfile.Value(n, "host"), policyfile.Value(n, "path")
		t, _ := floodmark.ParseTrust(policyfile.Value(n, "trust").Value)
		switch {
		case (host == nil) == (path == nil):
			r.Fault(n, "wrong-value", "a source is a host or a path", "write one of them: {host: docs.example.com, trust: shared}")
		case path != nil:
			if p, ok := readPath(r, path); ok {
				ps.paths = append(ps.paths, placeTrust[pathPattern]{p, t})
			}
		default:
			if h, ok := readHost(r, host, t); ok {
				ps.hosts = append(ps.hosts, placeTrust[openhost.Pattern]{h, t})
			}
		}
	}
	return ps
}

// readPath reads a path pattern. A pattern for a whole disk or home is refused.
func readPath(r *policyfile.Reader, n *yaml.Node) (pathPattern, bool) {
	p, ok := parsePath(n.Value)
	switch {
	case !ok:
		r.Fault(n, "wrong-value", fmt.Sprintf("%s is not a path pattern", policyfile.Quote(n)), "begin with / or ~/; a * stands for a part of a name, ** for any folders, .. is not used")
		return pathPattern{}, false
	case p.tooWide():
		r.Fault(n, "too-wide", fmt.Sprintf("%s covers everything", policyfile.Quote(n)), "name the folders that hold your own work, as in ~/work/**")
		return pathPattern{}, false
	}
	return p, true
}

// readHost reads a host pattern. Trust in a host where strangers write is refused,
// because it would be trust in strangers.
func readHost(r *policyfile.Reader, n *yaml.Node, t floodmark.Trust) (openhost.Pattern, bool) {
	h, ok := openhost.ParsePattern(n.Value)
	where, open := h.Open()
	switch {
	case !ok:
		r.Fault(n, "wrong-value", fmt.Sprintf("%s is not a host", policyfile.Quote(n)), "write a name such as docs.example.com or *.example.com, without https:// and without a path")
	case h.Public() && t > floodmark.Untrusted:
		r.Fault(n, "too-wide", fmt.Sprintf("anyone can register a name below %s", h.Domain), "name the domain that is yours, as in *.example."+h.Domain)
	case open && t >= floodmark.Shared:
		r.Fault(n, "strangers-write", fmt.Sprintf("strangers can write on %s", where), "it cannot be trusted as a whole; endorse single pages instead")
	default:
		return h, true
	}
	return openhost.Pattern{}, false
}
