package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/intent"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// regrounding makes the basis of a recorded call anew.
type regrounding struct {
	Guess
	st *step
}

// reclassify asks the catalog again what a recorded call is. If that cannot be told, it returns why.
func (g *regrounding) reclassify(j *judged) string {
	ref, rules := j.action.Tool, g.st.r.Catalog
	if j.basis.Hinted {
		return "the tool's server made claims about the call, which were not kept"
	}
	n := len(j.leaves)
	for n > 0 && j.leaves[n-1].Path == floodmark.CommandAddress {
		n--
	}
	for i, leaf := range j.leaves[:n] {
		if g.lacks(j, i) && rules.LooksAt(ref, leaf.Top) {
			return "what the call is now depends on the value of " + leaf.Path + ", which was not kept"
		}
	}
	j.use = rules.Classify(ref, j.leaves[:n], nil, g.st.places())
	g.st.hosts, g.st.hostsBy, g.st.mirror, g.st.tried = j.basis.Hosts, j.basis.HostsBy, j.basis.Mirror, j.basis.Tried && j.use.Offline
	j.use.Effects = j.use.Settle(j.use.Effects, j.action.Arguments)
	g.st.letOut(j)
	if j.basis.Own && (j.use.Looks.Database != "" || j.use.Looks.Compose) {
		staysHome(&j.use)
	}
	var urls []string
	for _, leaf := range j.leaves[n:] {
		urls = append(urls, leaf.Value)
	}
	if b := &j.basis; b.SelfProtected && !j.use.SelfProtected || b.Instructs && !j.use.Instructs && !j.use.SelfProtected || len(b.Placed) > 0 && len(j.use.Placed) == 0 {
		return "by its names the call is no change of an agent or its settings now, and whether it wrote there through a link was not kept"
	}
	if !slices.Equal(urls, j.use.URLs) {
		return "the command names other addresses now, and where they came from was not kept"
	}
	g.reground(j)
	return ""
}

// lacks reports whether the value of an argument was not kept.
func (g *regrounding) lacks(j *judged, at int) bool {
	return slices.Contains(j.unkept, j.leaves[at].Path)
}

// reground makes a new basis for a call that was reclassified.
func (g *regrounding) reground(j *judged) {
	use, old := &j.use, j.basis
	b := floodmark.Basis{Before: old.Before, Hosts: old.Hosts, HostsBy: old.HostsBy, Mirror: old.Mirror, Tried: g.st.tried, Agent: old.Agent, Kinds: old.Kinds, Long: old.Long, Loads: old.Loads, Moved: old.Moved, SecretInArgs: old.SecretInArgs, Carried: old.Carried, Others: old.Others, Tells: old.Tells, Gates: old.Gates}
	b.Undescribed, b.SelfProtected, b.Instructs, b.Placed = use.Profile == nil, use.SelfProtected, use.Instructs, use.Placed
	b.Network, b.Own, b.SecretPath = use.Network, use.Own || use.Looks.Own && !old.SecretInArgs && old.Own, use.PathKind == catalog.Secret
	b.Tidies, b.Pushed = use.Tidies && old.Tidies, use.Pushes && old.Pushed
	b.Inside = old.Inside && (use.Instructs || len(use.Placed) > 0)
	b.Boxable = old.Boxable && g.st.boxHolds(use, j.leaves)
	b.Plants = old.Plants
	b.Findings = g.st.r.Policy.Findings().Still(use.Found, old.Found())
	b.Returns, b.Location = use.Returns, use.LocationOf(j.leaves)
	if len(use.Contents) > 0 { // as what was found there then
		b.Returns.Secrecy = min(b.Returns.Secrecy, old.Returns.Secrecy)
	}
	b.NoText = textless(*use, j.leaves)
	j.basis = b
	was := j.action.Effects
	effects := use.Effects
	if len(use.Hooks)+len(use.Repositories) > 0 && slices.Contains(was, floodmark.Run) { // a hook may be among what it would have loaded
		effects = artifact.RunsHooks(effects, old.Loads)
	}
	j.action.Effects = effectsAt(effects, &b, g.st.authority(j.action).Mark.Trust)
	same := true // the same arguments are content
	for i := range j.action.Arguments {
		a, about := &j.action.Arguments[i], argument(*use, j.leaves[i])
		same = same && (a.Role == floodmark.Content) == (about.Role == floodmark.Content)
		a.Role = about.Role
		g.restate(j, i, about)
		g.redirect(j, i, about, &old)
	}
	g.recontent(j, &old, same)
	same = same && slices.Equal(was, j.action.Effects) && slices.Equal(old.Destinations, j.basis.Destinations)
	j.basis.Licensed = g.relicense(j, &old, same)
	if slices.Equal(j.action.Effects, []floodmark.Effect{floodmark.Fetch}) { // a link that was pointed at still is
		j.basis.Grounds = old.Grounds
	}
}

// restate looks again whether the owner stated a value: what a number means
// depends on what the argument is.
func (g *regrounding) restate(j *judged, i int, about catalog.Arg) {
	a, leaf := &j.action.Arguments[i], j.leaves[i]
	if g.lacks(j, i) || about.Role == floodmark.Content {
		return
	}
	stated := g.st.s.stated.Has(leaf.Value, leaf.Kind, intent.RoleName(about, leaf))
	switch {
	case stated == (a.Whence == floodmark.Stated):
	case stated:
		a.Whence, a.Trust = floodmark.Stated, floodmark.Owner
	case len(a.Spans) > 0:
		a.Whence, a.Trust = floodmark.Seen, g.st.s.Ledger.Effective(a.Spans[0].Node).Trust
	default:
		a.Whence, a.Trust = floodmark.Nowhere, floodmark.Untrusted
	}
}

// redirect notes where the call goes now, as carries does.
func (g *regrounding) redirect(j *judged, i int, about catalog.Arg, old *floodmark.Basis) {
	b := &j.basis
	if about.Role != floodmark.Content {
		if g.lacks(j, i) {
			b.Cut = append(b.Cut, i)
		}
		if about.Needs != floodmark.Owner {
			b.Needs = append(b.Needs, floodmark.Need{Argument: i, Trust: about.Needs})
		}
	}
	if about.Is == catalog.IsPath {
		b.Paths = append(b.Paths, i)
	}
	switch {
	case about.Is == catalog.IsURL:
		b.Destinations = append(b.Destinations, i)
		at := slices.IndexFunc(old.URLs, func(u floodmark.Address) bool { return u.Argument == i })
		if at >= 0 {
			b.URLs = append(b.URLs, old.URLs[at])
			return
		}
		u := floodmark.Address{Argument: i, Host: tokens.URLHost(j.leaves[i].Value)}
		u.FromHost = g.Doubts("an argument is an address now, and whether all of it came from its host was not kept", false)
		b.URLs = append(b.URLs, u)
	case about.Is == catalog.IsDestination, about.Role == floodmark.Undeclared:
		b.Destinations = append(b.Destinations, i)
		b.Own = b.Own && (owners(old, j.action.Arguments, i) || about.Is != catalog.IsDestination || !alters(j.action.Effects))
	}
}

// recontent looks at the free text of a call. Where the same arguments are
// content as before, what was found in them is known.
func (g *regrounding) recontent(j *judged, old *floodmark.Basis, same bool) {
	b := &j.basis
	for i, a := range j.action.Arguments {
		leaf := j.leaves[i]
		if a.Role != floodmark.Content || leaf.Kind != hook.String || leaf.Value == "" && !g.lacks(j, i) {
			continue
		}
		b.FreeContent = true
		if same {
			continue
		}
		active := old.ActiveContent
		if !g.lacks(j, i) {
			active, _ = g.st.active(g.st.tracer(g.st.node), leaf.Value)
		}
		b.ActiveContent = b.ActiveContent || active
		b.PrivateContent = g.Doubts("an argument is free text now, and whether it holds something private was not kept", true)
	}
	if same && b.FreeContent {
		b.ActiveContent, b.PrivateContent = old.ActiveContent, old.PrivateContent
	}
}

// relicense looks again whether the owner's words cover the call. What vouched
// for a value then still does. Whether something would vouch for it now was not
// kept: that is a doubt only if everything else would be covered.
func (g *regrounding) relicense(j *judged, old *floodmark.Basis, same bool) bool {
	known := slices.Clone(old.Grounds)
	assumed := ""
	for i, a := range j.action.Arguments {
		if a.Role == floodmark.Content || a.Whence == floodmark.Stated && !g.lacks(j, i) {
			continue
		}
		if a.Whence == floodmark.Stated {
			return g.Doubts("whether your words ask for this depends on the value of "+a.Path+", which was not kept", false)
		}
		vouched := slices.ContainsFunc(known, func(v floodmark.Ground) bool { return v.Argument == i })
		if !vouched && !old.Licensed && intent.Vouchable(argument(j.use, j.leaves[i])) {
			known, assumed = append(known, intent.Assumed(i)), a.Path
		}
	}
	grounds, licensed := g.st.intent().Covered(j.call(), nil, known)
	j.basis.Grounds = append(j.basis.Grounds, grounds...)
	if licensed && assumed != "" {
		j.basis.Grounds = old.Grounds
		if same {
			return false // as it was then: the call is what it was
		}
		return g.Doubts("whether something you named vouches for "+assumed+" was not kept", false)
	}
	return licensed
}
