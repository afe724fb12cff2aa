package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/provenance"
)

// A Disk says what lies at a path. Whoever can look answers; the kernel writes
// down what it was told, so that nobody has to look again.
type Disk interface {
	// Around returns the checkout a clean path lies in.
	Around(path string) (Checkout, bool)
	// Resolve returns where a clean path leads once links are followed; what is
	// not there, or cannot be looked at, leads to itself.
	Resolve(path string) string
	// Pushes stands for all that decides where a push from the checkout around
	// a path goes; zero if that is not known, or if a branch is named and known
	// not to be the one that is checked out.
	Pushes(path, branch string) floodmark.Digest
}

// resolved are paths with their links followed.
func (st *step) resolved(paths []string) []string {
	if st.in.Disk == nil {
		return paths
	}
	out := make([]string, len(paths))
	for i, p := range paths {
		if out[i] = p; !strings.ContainsAny(p, "*?[") {
			out[i] = st.in.Disk.Resolve(p)
		}
	}
	return out
}

// A Checkout is a working tree of a repository, as far as its files tell.
type Checkout struct {
	// Root is its folder.
	Root string
	// Own says that every commit that counts is by one of the owner's
	// identities. Nothing else is known to be the owner's.
	Own bool
	// Commit is the newest commit by somebody else, Remote where it was cloned
	// from, for a person to read.
	Commit, Remote string
}

// Digest stands for a repository at a commit: what an owner vouches for.
func (c Checkout) Digest() floodmark.Digest {
	return floodmark.DigestOf("checkout\x00" + c.Remote + "\x00" + c.Commit)
}

// source is a checkout as a source.
func (c Checkout) source() floodmark.Source {
	name := "repository"
	if c.Remote != "" {
		name += " " + c.Remote
	}
	if c.Commit != "" {
		name += " at " + c.Commit[:min(len(c.Commit), 12)]
	}
	return floodmark.Source{
		Kind: floodmark.NodeInput, Digest: c.Digest(),
		Label:  floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Public},
		Origin: floodmark.Origin{Kind: floodmark.FromCheckout, Name: name, Place: c.Root},
	}
}

// foreign returns the checkout of others a path lies in, unless the policy
// lists the path as the owner's own.
func (st *step) foreign(p string) (Checkout, bool) {
	if st.in.Disk == nil || p == "" {
		return Checkout{}, false
	}
	p = strings.TrimSuffix(p, "/**")
	c, ok := st.in.Disk.Around(p)
	if !ok || c.Own || c.Commit == "" {
		return Checkout{}, false
	}
	l := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public}
	if st.r.Policy.PlaceLabel(l, p, catalog.Elsewhere, false, st.s.Home).Trust >= floodmark.Local {
		return Checkout{}, false // a listed workspace
	}
	return c, true
}

// checkout brings the repository of others that a path is read from into the
// session, once, and returns its node.
func (st *step) checkout(p string) []floodmark.NodeID {
	c, ok := st.foreign(p)
	if !ok {
		return nil
	}
	src := c.source()
	if n, ok := st.s.Ledger.Find(src.Digest); ok {
		return []floodmark.NodeID{n}
	}
	for _, f := range st.out.Facts {
		if seen, ok := f.(floodmark.ContentSeen); ok && seen.Digest == src.Digest {
			return []floodmark.NodeID{seen.Node}
		}
	}
	for _, f := range st.heard(st.words([]floodmark.Digest{src.Digest}), st.endorsements()) {
		st.keep(f)
	}
	n := st.node
	label := src.Label
	for _, e := range st.endorsements() {
		if e.Digest == src.Digest {
			label.Trust = max(label.Trust, min(e.Trust, floodmark.Local))
		}
	}
	src.Node = n
	st.bringSeen(src, label)
	return []floodmark.NodeID{n}
}

// bringSeen keeps a source whose label the owner may have raised already.
func (st *step) bringSeen(src floodmark.Source, worth floodmark.Label) {
	if st.brought == nil {
		st.brought = map[floodmark.NodeID]floodmark.Label{}
	}
	st.brought[src.Node] = worth
	st.node++
	st.mark, st.more = st.mark.Join(worth), st.more|provenance.LevelsOf(worth.Trust)
	st.keep(floodmark.ContentSeen{Source: src})
}

// A worthy is a source with what it is worth now.
type worthy struct {
	source floodmark.Source
	worth  floodmark.Trust
}

// repository is the repository of others that code would be loaded from, unless
// the owner vouched for it at this commit.
func (st *step) repository(p string) []worthy {
	c, ok := st.foreign(p)
	if !ok {
		return nil
	}
	src := c.source()
	if st.vouched([]floodmark.Digest{src.Digest})[src.Digest].Trust > floodmark.External {
		return nil
	}
	if slices.ContainsFunc(st.endorsements(), func(e floodmark.Endorsed) bool { return e.Digest == src.Digest }) {
		return nil
	}
	return []worthy{{src, floodmark.External}}
}
