package floodmark

// An ArtifactKind names what sort of thing a session left behind. It is a word
// on the wire.
type ArtifactKind string

// The kinds of artifacts.
const (
	FileArtifact   ArtifactKind = "file"   // one file, by its clean path
	TreeArtifact   ArtifactKind = "tree"   // everything below a folder
	FolderArtifact ArtifactKind = "folder" // which artifacts lie below a folder
	MemoryArtifact ArtifactKind = "memory" // what a tool server remembers
	TextArtifact   ArtifactKind = "text"   // a text that was handed on, by its digest
	ServerArtifact ArtifactKind = "server" // what sessions gave a tool server that they use together
	VouchArtifact  ArtifactKind = "vouch"  // the owner's last word on a content, by its digest
)

// An ArtifactRef names an artifact of one tenant.
type ArtifactRef struct {
	Kind ArtifactKind `json:"kind"`
	Name string       `json:"name"`
}

func (r ArtifactRef) String() string { return string(r.Kind) + " " + r.Name }

// An ArtifactVersion is one session's word on an artifact. A newer one of the
// same session has a larger Seq.
type ArtifactVersion struct {
	Session SessionID `json:"session"`
	Seq     uint64    `json:"seq"`
}

// An Artifact is what one session says of what it left behind. It is kept
// beside the journal and never counts as a fact: the facts that caused it do.
// A field is only added, and its absence means the safest.
type Artifact struct {
	Ref ArtifactRef `json:"ref"`
	// Digest is of the whole content, if it is known.
	Digest Digest `json:"digest,omitzero"`
	// Whole says that nothing older is left in it.
	Whole bool `json:"whole,omitempty"`
	// Spares says that what git keeps in a folder of its own below was not
	// written with it.
	Spares bool `json:"spares,omitempty"`
	// Inert stands in what older versions kept. Nothing follows from it any more.
	Inert bool `json:"inert,omitempty"`
	// Sources are what it was made from, flat: each with its own label, none
	// with inputs.
	Sources []Source `json:"sources,omitempty"`
	// Over are words on the folders it lies in that it replaces.
	Over []ArtifactVersion `json:"over,omitempty"`
	// Below are artifacts below a folder.
	Below []ArtifactRef `json:"below,omitempty"`
	// Vouch is the owner's word on a content.
	Vouch *Vouch `json:"vouch,omitempty"`
}

// A Vouch is the owner's word on a content: that he vouches for it or, without
// trust above External, that he does not any more.
type Vouch struct {
	Trust Trust  `json:"trust"`
	By    string `json:"by,omitempty"`
	// At orders what was said in different sessions, in nanoseconds since 1970.
	At int64 `json:"at"`
}

// A Passage is one artifact through which content came from another session.
type Passage struct {
	Artifact ArtifactRef `json:"artifact"`
	Session  SessionID   `json:"session"`
}

// A Load is something a call would run or load.
type Load struct {
	Artifact ArtifactRef `json:"artifact"`
	Label    Label       `json:"label"`
	// Sources are the least believed it was made from, for a person to read.
	Sources []Source `json:"sources,omitempty"`
}

// ArtifactRead says that content came in through what a session left behind:
// its sources are sources of this session, too. They are new here, numbered on.
type ArtifactRead struct {
	Artifact ArtifactRef `json:"artifact"`
	Sources  []Source    `json:"sources,omitempty"`
}

// ArtifactWritten says that a call was let through that leaves something
// behind: made from the live sources older than Nodes.
type ArtifactWritten struct {
	Artifact ArtifactRef `json:"artifact"`
	Call     CallID      `json:"call,omitempty"`
	Digest   Digest      `json:"digest,omitzero"`
	Nodes    NodeID      `json:"nodes,omitempty"`
	// Whole says that nothing older is left in it once the call is done, Over
	// which words on its folders it then replaces.
	Whole bool              `json:"whole,omitempty"`
	Over  []ArtifactVersion `json:"over,omitempty"`
	// Inert stands in older journals. Nothing follows from it any more.
	Inert bool `json:"inert,omitempty"`
	// Spares says that the words of others it takes over left out what git keeps for itself:
	// see [Artifact.Spares].
	Spares bool `json:"spares,omitempty"`
	// Run says that a run may have written it, or was found to have: its own
	// output, which no words of the call name.
	Run bool `json:"run,omitempty"`
}

// ArtifactSettled says that a call which wrote an artifact as a whole is done.
type ArtifactSettled struct {
	Artifact ArtifactRef `json:"artifact"`
	Call     CallID      `json:"call,omitempty"`
}

// ArtifactsKept says which words on artifacts were written beside the journal
// together with this entry, and which are gone since, by the keys they are kept
// under. Words lie outside of the chain of hashes: by this fact a lost one is
// noticed.
type ArtifactsKept struct {
	Left []Digest       `json:"left,omitempty"`
	Gone []ArtifactGone `json:"gone,omitempty"`
}

// FilesCleaned says that the owner has files removed that sessions left behind. It is
// written before the removal and, with Done, after it for those that are gone: nothing
// is said of them any more.
type FilesCleaned struct {
	Files []CleanedFile `json:"files"`
	By    string        `json:"by,omitempty"`
	Done  bool          `json:"done,omitempty"`
}

// A CleanedFile is a file by its path, with the digest of what was in it. Without a
// digest it was too large to be read, or is a folder that is gone with all in it.
type CleanedFile struct {
	Path   string `json:"path"`
	Digest Digest `json:"digest,omitzero"`
}

// FileVouch stands for a content in one file: what an owner vouches for who was shown
// the file. The same content elsewhere, or another content there, is something else.
// The path is one that catalog.FoldPath made.
func FileVouch(path string, content Digest) Digest {
	if content.IsZero() {
		return Digest{}
	}
	return DigestOf("file\x00" + path + "\x00" + content.String())
}

// An ArtifactGone is a session's word up to a version, which another has taken in
// or which holds no longer.
type ArtifactGone struct {
	Key     Digest          `json:"key"`
	Version ArtifactVersion `json:"version"`
}
