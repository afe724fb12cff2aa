// Package checkout says what a working tree of a repository is worth, and what an owner
// vouches for who vouches for it.
package checkout

import (
	"encoding/hex"

	"github.com/floodmark/floodmark"
)

// A Checkout is a working tree of a repository, as far as its files tell.
type Checkout struct {
	// Root is its folder.
	Root string
	// Own says that every commit that counts is by one of the owner's
	// identities. Nothing else is known to be the owner's.
	Own bool
	// Team says that it is the owner's team's, by the owner's word, at what the team
	// has. It runs as the owner's own does; what is read of it is shared.
	Team bool
	// Commit is the newest commit by another author, Remote where it was cloned
	// from, for a person to read.
	Commit, Remote string
}

// Digest stands for a repository at a commit: what an owner vouches for.
func (c Checkout) Digest() floodmark.Digest {
	return floodmark.DigestOf("checkout\x00" + c.Remote + "\x00" + c.Commit)
}

// Source is a checkout as a source.
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

// IsID reports the full name of an object of git.
func IsID(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && (len(s) == 40 || len(s) == 64)
}
