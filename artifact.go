package floodmark

// An ArtifactKind names what kind of thing a session left behind. It is a word on the wire.
type ArtifactKind string

// The kinds of artifacts.
const (
	FileArtifact   ArtifactKind = "file"   // one file, by its clean path
	TreeArtifact   ArtifactKind = "tree"   // everything below a folder
	FolderArtifact ArtifactKind = "folder" // the artifacts below a folder
	MemoryArtifact ArtifactKind = "memory" // what a tool server remembers
	TextArtifact   ArtifactKind = "text"   // a text that was passed on, by its digest
	ServerArtifact ArtifactKind = "server" // what sessions sent to a shared tool server
	VouchArtifact  ArtifactKind = "vouch"  // the owner's last endorsement of a content, or its end, by its digest
)

// An ArtifactRef names an artifact of one tenant.
type ArtifactRef struct {
	Kind ArtifactKind `json:"kind"`
	Name string       `json:"name"`
}

func (r ArtifactRef) String() string { return string(r.Kind) + " " + r.Name }

// An ArtifactVersion is one session's version of an artifact. A newer one of the same session has a
// larger Seq.
type ArtifactVersion struct {
	Session SessionID `json:"session"`
	Seq     uint64    `json:"seq"`
}

// An Artifact is the record of one thing that a session changed and that outlives the session, such
// as a file. It is stored beside the journal, which contains the facts that it was made from. Fields
// are only added, and a missing field means its safest value.
type Artifact struct {
	Ref ArtifactRef `json:"ref"`
	// Digest is the digest of the whole content, if known.
	Digest Digest `json:"digest,omitzero"`
	// Whole says that this version replaced all older content.
	Whole bool `json:"whole,omitempty"`
	// Spelled is the path of a file, as all its writes spelled it; empty if that differs or is not
	// known. On some disks another spelling is another file.
	Spelled string `json:"spelled,omitempty"`
	// Spares says that the session did not write the files of git's own folder below this artifact.
	Spares bool `json:"spares,omitempty"`
	// Inert is from older versions. It has no effect any more.
	Inert bool `json:"inert,omitempty"`
	// Sources are the sources it was made from. Each has its own label and no inputs.
	Sources []Source `json:"sources,omitempty"`
	// Over are the versions of the folders around it that this artifact replaces at its own path.
	Over []ArtifactVersion `json:"over,omitempty"`
	// Below are artifacts below a folder.
	Below []ArtifactRef `json:"below,omitempty"`
	// Vouch is the owner's endorsement of a content.
	Vouch *Vouch `json:"vouch,omitempty"`
}

// A Vouch is the owner's endorsement of a content or, with a trust of at most External, its
// withdrawal.
type Vouch struct {
	Trust Trust  `json:"trust"`
	By    string `json:"by,omitempty"`
	// At orders the owner's commands in different sessions, in nanoseconds since 1970.
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
	// Sources are the least trusted sources it was made from, for people.
	Sources []Source `json:"sources,omitempty"`
}

// ArtifactRead says that the session read an artifact of another session. The sources of the
// artifact become sources of this session, with new numbers.
type ArtifactRead struct {
	Artifact ArtifactRef `json:"artifact"`
	Sources  []Source    `json:"sources,omitempty"`
}

// ArtifactWritten says that an allowed call leaves an artifact behind. The artifact is made from
// all sources with a number below Nodes that were in the session's context.
type ArtifactWritten struct {
	Artifact ArtifactRef `json:"artifact"`
	Call     CallID      `json:"call,omitempty"`
	Digest   Digest      `json:"digest,omitzero"`
	Nodes    NodeID      `json:"nodes,omitempty"`
	// Whole says that the call replaces all older content.
	Whole bool `json:"whole,omitempty"`
	// Over is as in [Artifact].
	Over []ArtifactVersion `json:"over,omitempty"`
	// Inert is from older journals. It has no effect any more.
	Inert bool `json:"inert,omitempty"`
	// Spares says that all artifacts it takes over have [Artifact.Spares] set.
	Spares bool `json:"spares,omitempty"`
	// Run says that no argument of the call names the artifact: the call ran something that may
	// have written it, or that was found to have written it.
	Run bool `json:"run,omitempty"`
}

// ArtifactSettled says that a call that replaces an artifact has finished.
type ArtifactSettled struct {
	Artifact ArtifactRef `json:"artifact"`
	Call     CallID      `json:"call,omitempty"`
}

// ArtifactsKept lists the keys of the artifacts that were stored beside the journal with this
// entry, and those of the artifacts that were removed. The hash chain does not cover artifacts, but
// it covers this fact, so a lost artifact is noticed.
type ArtifactsKept struct {
	Left []Digest       `json:"left,omitempty"`
	Gone []ArtifactGone `json:"gone,omitempty"`
}

// FilesCleaned says that the owner ordered the removal of files that sessions left behind. It is
// written before the removal. After the removal it is written again, with Done, for the files that
// are gone. Their artifacts are gone then too.
type FilesCleaned struct {
	Files []CleanedFile `json:"files"`
	By    string        `json:"by,omitempty"`
	Done  bool          `json:"done,omitempty"`
}

// A CleanedFile is a file with the digest of its content. The digest is missing for a file that was
// too large to read and for a folder that was removed with everything in it.
type CleanedFile struct {
	Path   string `json:"path"`
	Digest Digest `json:"digest,omitzero"`
}

// FileVouch returns the digest that an owner endorses after seeing a file. It covers this content
// in this file only: not the same content in another file, and not another content in this one. The
// path must come from catalog.FoldPath.
func FileVouch(path string, content Digest) Digest {
	if content.IsZero() {
		return Digest{}
	}
	return DigestOf("file\x00" + path + "\x00" + content.String())
}

// An ArtifactGone removes the versions of a session's artifact up to Version, because another
// session took the artifact over or because it is out of date.
type ArtifactGone struct {
	Key     Digest          `json:"key"`
	Version ArtifactVersion `json:"version"`
}
