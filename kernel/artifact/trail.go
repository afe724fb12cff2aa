package artifact

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/kernel/lists"
)

// The limits of what a session remembers.
const (
	maxWritten = 64  // writes until they are done
	maxCarried = 256 // contents for which a session looks up whether the owner vouched
	maxOffered = 16  // sources of what could not be loaded
	maxWrote   = 256 // files a session wrote, for what it may run later
)

// A Trail is what a session remembers of its artifacts. It is a part of the session's state, and
// changes by facts alone.
type Trail struct {
	// Written are writes of whole files that are not known to be done. Carried are contents that
	// came here through artifacts: the owner may vouch for them in another session. Offered are
	// sources of what could not be loaded: the owner may vouch for them here.
	Written []floodmark.ArtifactWritten `json:"written,omitempty"`
	// Wrote are the newest files this session wrote, Writes how many writes there were.
	Wrote   []Wrote            `json:"wrote,omitempty"`
	Writes  int                `json:"writes,omitempty"`
	Carried []floodmark.Digest `json:"carried,omitempty"`
	Offered []floodmark.Source `json:"offered,omitempty"`

	// Stands are the folders besides the project in which a command may have left its shell. An
	// unknown folder is the empty string.
	Stands []string `json:"stands,omitempty"`
}

// Take takes in a fact about artifacts.
func (t *Trail) Take(f floodmark.Fact) {
	switch f := f.(type) {
	case floodmark.ArtifactRead:
		t.Carry(f.Sources...)
	case floodmark.ArtifactWritten:
		if !f.Run && onDisk(f.Artifact.Kind) && !ofGit(f.Artifact) {
			t.wrote(f.Artifact)
		}
		if f.Whole || f.Spares {
			t.Written = lists.Last(append(t.Written, f), maxWritten)
		}
	case floodmark.ArtifactSettled:
		done := false // the same call may have been made twice
		t.Written = lists.Without(t.Written, func(w floodmark.ArtifactWritten) bool {
			was := done
			done = done || w.Call == f.Call && w.Artifact == f.Artifact
			return done && !was
		})
	default:
	}
}

// A Wrote is a file or folder this session wrote, with the number of that write.
type Wrote struct {
	Ref floodmark.ArtifactRef `json:"ref"`
	N   int                   `json:"n"`
}

// wrote numbers a write. Beyond the limit, the path of the oldest is forgotten and this write is
// taken to be anywhere.
func (t *Trail) wrote(ref floodmark.ArtifactRef) {
	t.Writes++
	t.Wrote = append(slices.DeleteFunc(t.Wrote, func(w Wrote) bool { return w.Ref == ref }), Wrote{Ref: ref, N: t.Writes})
	if len(t.Wrote) > maxWrote {
		t.Wrote = lists.Last(t.Wrote, maxWrote)
		t.Wrote[0].Ref = floodmark.ArtifactRef{Kind: floodmark.TreeArtifact, Name: "/"}
	}
}

// Runs returns how many runs of the session that write to a folder are not known to be done, and
// one more if some may have been forgotten.
func (t *Trail) Runs(folder floodmark.ArtifactRef) int {
	n := 0
	for _, w := range t.Written {
		if w.Artifact == folder {
			n++
		}
	}
	if n > 0 && len(t.Written) >= maxWritten {
		n++
	}
	return n
}

// Carry remembers contents for which the owner may vouch in another session.
func (t *Trail) Carry(sources ...floodmark.Source) {
	for _, src := range sources {
		if !src.Digest.IsZero() && !slices.Contains(t.Carried, src.Digest) {
			t.Carried = lists.Last(append(t.Carried, src.Digest), maxCarried)
		}
	}
}

// Offer remembers the sources of what a refused call would have loaded.
func (t *Trail) Offer(f floodmark.ActionDecided) {
	if f.Basis == nil || f.Decision.Verdict == floodmark.Allow {
		return
	}
	for _, l := range f.Basis.Loads {
		for _, src := range l.Sources {
			same := func(o floodmark.Source) bool { return o.Digest == src.Digest }
			if !src.Digest.IsZero() && !slices.ContainsFunc(t.Offered, same) {
				t.Offered = lists.Last(append(t.Offered, src), maxOffered)
			}
		}
	}
}

// Move takes in where a call left its shell, in a session with this project.
func (t *Trail) Move(b *floodmark.Basis, project string) {
	if b != nil && len(b.Moved) > 0 {
		t.Stands = besides(b.Moved, project)
	}
}

// onDisk reports whether a program could load artifacts of a kind.
func onDisk(k floodmark.ArtifactKind) bool {
	return k == floodmark.FileArtifact || k == floodmark.TreeArtifact || k == floodmark.FolderArtifact
}

// ofGit reports whether an artifact stands for commits, not for a file. Commits are pushed, and
// nothing runs them.
func ofGit(ref floodmark.ArtifactRef) bool {
	return strings.HasSuffix(ref.Name, strings.ToLower(catalog.CommitsOf)) || strings.HasSuffix(ref.Name, catalog.NamesOf)
}

// besides returns the folders other than the project, in order; nil if there are none.
func besides(dirs []string, project string) []string {
	list := lists.Without(slices.Clone(dirs), func(dir string) bool { return dir == project })
	slices.Sort(list)
	return list
}
