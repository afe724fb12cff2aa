package artifact

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// The limits of what is looked at for one call.
const (
	maxArtifactPaths = 64  // paths of a call
	maxAncestors     = 32  // folders above a path
	maxBelow         = 128 // artifacts below a folder that are kept by name
)

// A Book is what is known about artifacts at one event of one session. Its answers are values: the
// session changes only by what its caller writes down.
type Book struct {
	Store   Store // nil knows nothing
	Disk    Disk  // nil if it cannot be read
	Catalog *catalog.Catalog
	Policy  *policy.Policy
	Session floodmark.SessionID
	At      catalog.Places // the project and the home of the session
	Told    catalog.Places // the same, or as the event has them while the session has none
	Ledger  *provenance.Ledger
	Trail   *Trail
	Done    Changes // what the event left behind so far

	lying  map[string]floodmark.Digest // files that were looked at; see asItLies
	hoards map[string]Hoard            // folders that were looked through
}

// Changes are what an event leaves behind: facts, records of its session, and records to remove.
type Changes struct {
	Facts     []floodmark.Fact
	Artifacts []floodmark.Artifact
	Gone      []Gone
	// Watch is the folder in which a call runs code; empty if it does not.
	Watch string
}

func (b *Book) keep(f floodmark.Fact) { b.Done.Facts = append(b.Done.Facts, f) }

// find looks artifacts up. Without a store it returns nothing.
func (b *Book) find(refs ...floodmark.ArtifactRef) []Kept {
	if b.Store == nil || len(refs) == 0 {
		return nil
	}
	slices.SortFunc(refs, func(a, b floodmark.ArtifactRef) int {
		if a.Kind != b.Kind {
			return strings.Compare(string(a.Kind), string(b.Kind))
		}
		return strings.Compare(a.Name, b.Name)
	})
	return b.Store.Find(slices.Compact(refs))
}

func fileRef(p string) floodmark.ArtifactRef   { return refOf(floodmark.FileArtifact, p) }
func treeRef(p string) floodmark.ArtifactRef   { return refOf(floodmark.TreeArtifact, p) }
func folderRef(p string) floodmark.ArtifactRef { return refOf(floodmark.FolderArtifact, p) }
func refOf(k floodmark.ArtifactKind, p string) floodmark.ArtifactRef {
	return floodmark.ArtifactRef{Kind: k, Name: catalog.FoldPath(p)}
}

// pathRef returns the artifact that a path of a call stands for: a file, or all below a folder. A
// pattern stands for all below the folder before its first wildcard.
func pathRef(p string) floodmark.ArtifactRef {
	if dir, ok := strings.CutSuffix(p, "/**"); ok {
		return treeRef(path.Clean(dir + "/"))
	}
	if i := strings.IndexAny(p, "*?["); i >= 0 {
		return treeRef(path.Clean(p[:strings.LastIndexByte(p[:i], '/')+1] + "."))
	}
	return fileRef(p)
}

// ancestors returns the folders above a path, the nearest first, without the
// root.
func ancestors(p string) []string {
	var list []string
	for dir := path.Dir(p); dir != "/" && dir != "." && len(list) < maxAncestors; dir = path.Dir(dir) {
		list = append(list, dir)
	}
	return list
}

// onPath returns the records that apply to a path: those of the file, of all below it, and of the
// folders it is in. A folder's record is left out if the file was written as a whole after it.
func (b *Book) onPath(p string) []Kept {
	if b.Store == nil || !path.IsAbs(p) && !strings.Contains(p, ":/") {
		return nil
	}
	at := pathRef(p)
	refs := []floodmark.ArtifactRef{at, treeRef(at.Name), folderRef(at.Name)}
	for _, dir := range ancestors(at.Name) {
		refs = append(refs, treeRef(dir))
	}
	found := b.find(refs...)
	var below []floodmark.ArtifactRef
	for _, k := range found {
		below = append(below, k.Below...)
	}
	if len(below) > 0 {
		found = append(found, b.find(below...)...)
	}
	var over []floodmark.ArtifactVersion
	for _, k := range found {
		if k.replaced(p) {
			over = append(over, k.Over...)
		}
	}
	slices.SortStableFunc(found, func(a, b Kept) int { return order(a.Ref) - order(b.Ref) })
	return slices.DeleteFunc(found, func(k Kept) bool {
		return k.Ref.Kind == floodmark.TreeArtifact && k.Ref != at && slices.Contains(over, k.Version)
	})
}

// replaced reports whether a record is of a write that replaced all of the file at a path. On some
// disks, a path of another spelling is another file.
func (k Kept) replaced(p string) bool { return k.Whole && k.Ref == fileRef(p) && k.Spelled == p }

// order puts commits behind the files they were made from: people know the
// files.
func order(ref floodmark.ArtifactRef) int {
	if ofGit(ref) {
		return 1
	}
	return 0
}

// A carried is some records with what the owner vouched for among their sources.
type carried struct {
	kept    []Kept
	vouched map[floodmark.Digest]floodmark.Vouch
	lying   map[string]floodmark.Digest // see [Book.asItLies]
}

// weigh looks up what the owner last said of everything in the given records.
func (b *Book) weigh(kept []Kept) carried {
	c := carried{kept: kept}
	var want []floodmark.Digest
	for _, k := range kept {
		want = append(want, k.Digest, b.asItLies(k))
		for _, s := range k.Sources {
			want = append(want, s.Digest)
		}
	}
	c.vouched, c.lying = b.vouched(want), b.lying
	return c
}

// asItLies returns the digest of a file of little trust as it is on disk now, because the owner may
// have vouched for the file in that state. It is zero for anything else.
func (b *Book) asItLies(k Kept) floodmark.Digest {
	if k.Ref.Kind != floodmark.FileArtifact || b.Disk == nil || provenance.SetLabel(k.Sources).Trust >= floodmark.Local {
		return floodmark.Digest{}
	}
	if _, looked := b.lying[k.Ref.Name]; !looked && len(b.lying) < maxBelow {
		if b.lying == nil {
			b.lying = map[string]floodmark.Digest{}
		}
		b.lying[k.Ref.Name] = floodmark.FileVouch(k.Ref.Name, b.Disk.Exactly(k.Ref.Name))
	}
	return b.lying[k.Ref.Name]
}

// sources returns the sources of the records, each with its record as the way it came. A record
// whose content the owner vouched for has none. If they vouched for a file as it is on disk, its
// sources are trusted like the owner's own, and stay as private as they were.
func (c carried) sources() []floodmark.Source {
	var list []floodmark.Source
	for _, k := range c.kept {
		if v, ok := c.vouched[k.Digest]; ok && !k.Digest.IsZero() && v.Trust > floodmark.External {
			continue
		}
		way := floodmark.Passage{Artifact: k.Ref, Session: k.Version.Session}
		for _, s := range k.Sources {
			if v, ok := c.vouched[c.lying[k.Ref.Name]]; ok && k.Ref.Kind == floodmark.FileArtifact {
				s.Label.Trust = max(s.Label.Trust, min(v.Trust, floodmark.Local))
			}
			list = append(list, provenance.Passed(s, way))
		}
	}
	return list
}

// label returns the joined label of the records, with what the owner vouched for.
func (c carried) label() floodmark.Label {
	l := floodmark.Clean()
	for _, s := range c.sources() {
		l = l.Join(c.worth(s))
	}
	return l
}

// worth returns the label of a source, raised if the owner vouches for it.
func (c carried) worth(s floodmark.Source) floodmark.Label {
	l := s.Own()
	if v, ok := c.vouched[s.Digest]; ok && !s.Digest.IsZero() {
		l.Trust = max(l.Trust, min(v.Trust, floodmark.Local))
	}
	return l
}
