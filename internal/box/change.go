package box

// A Change is one thing that a command did to the project.
type Change struct {
	Path string `json:"path"` // within the project
	Kind Kind   `json:"kind"`
	// Refused says why it is not moved in; empty: it is.
	Refused string `json:"refused,omitempty"`
	// SHA256 is the hash of a file, once [Spec.Digest] has read it.
	SHA256 string `json:"sha256,omitempty"`
	// fresh says of a folder that what was in it before is gone.
	fresh bool
}

// A Kind is what a change leaves at its path.
type Kind string

// The kinds of changes.
const (
	File   Kind = "file"
	Folder Kind = "folder"
	Link   Kind = "link"
	Gone   Kind = "gone"
	Other  Kind = "other" // never moved in
)
