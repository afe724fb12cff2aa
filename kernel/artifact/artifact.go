// Package artifact knows what sessions left on disk, in memories and at servers that are shared.
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
