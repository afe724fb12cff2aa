// Package artifact knows what sessions left behind: in files and folders, in the memories of tools,
// at servers that sessions share, in texts that one session hands to another. It finds out which of
// these a call reads, loads and writes, and which sources the session gets by that. It opens no
// file and keeps no record itself: a [Store] and a [Disk] answer it, and what changes is returned
// to the kernel as values.
package artifact

import "github.com/floodmark/floodmark"

// A Store looks up what sessions left behind, by key and on demand.
type Store interface {
	// Find returns every session's record of these artifacts.
	Find(refs []floodmark.ArtifactRef) []Kept
}

// A Kept is one session's record of an artifact.
type Kept struct {
	Version floodmark.ArtifactVersion
	floodmark.Artifact
}

// A Gone names a record that another one has taken in, or that is out of date.
type Gone struct {
	Ref     floodmark.ArtifactRef
	Version floodmark.ArtifactVersion
}
