// Package checkout says how a working tree of a repository is labelled as a source, and which
// digest an owner endorses to endorse it.
package checkout

import (
	"encoding/hex"

	"github.com/floodmark/floodmark"
)

// A Checkout is a working tree of a repository, as far as its files tell.
type Checkout struct {
	// Root is the folder of the working tree.
	Root string
	// Own says that all commits that were examined are by one of the owner's identities.
	Own bool
	// Team says that the owner declared the repository as their team's, and that the team has the
	// commits of this checkout. Its code runs like the owner's own, and its content is read as
	// Shared.
	Team bool
	// Commit is the newest commit by another person. Remote is where the repository was cloned
	// from, for display.
	Commit, Remote string
}

// Digest returns the digest of a repository at a commit, which an owner endorses.
func (c Checkout) Digest() floodmark.Digest {
	return floodmark.DigestOf("checkout\x00" + c.Remote + "\x00" + c.Commit)
}

// Source returns a checkout as a source.
func (c Checkout) Source() floodmark.Source {
	name := "repository"
	if c.Remote != "" {
		name += " " + c.Remote
	}
	if c.Commit != "" {
		name += " at " + c.Commit[:min(len(c.Commit), 12)]
	}
	worth := floodmark.External
	if c.Team {
		name, worth = "the team's "+name, floodmark.Shared
	}
	return floodmark.Source{
		Kind: floodmark.NodeInput, Digest: c.Digest(),
		Label:  floodmark.Label{Trust: worth, Secrecy: floodmark.Public},
		Origin: floodmark.Origin{Kind: floodmark.FromCheckout, Name: name, Place: c.Root},
	}
}

// IsID reports whether s is the full name of a git object.
func IsID(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && (len(s) == 40 || len(s) == 64)
}
