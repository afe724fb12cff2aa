package leftover

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/provenance"
)

// The limits of [Again].
const (
	maxAgain = 64    // artifacts; with more, one artifact for the whole project replaces them
	maxBelow = 1_024 // artifacts below a folder that are listed by name
)

// On returns all sessions' artifacts on some paths, which must come from catalog.FoldPath: those on
// each path itself, on the folders around it, and on what is below it.
func On(find artifact.Store, paths ...string) []artifact.Kept {
	var refs, below []floodmark.ArtifactRef
	known := map[floodmark.ArtifactRef]bool{}
	add := func(to *[]floodmark.ArtifactRef, ref floodmark.ArtifactRef) {
		if !known[ref] {
			known[ref], *to = true, append(*to, ref)
		}
	}
	for _, p := range paths {
		for _, kind := range []floodmark.ArtifactKind{floodmark.FileArtifact, floodmark.TreeArtifact, floodmark.FolderArtifact} {
			add(&refs, floodmark.ArtifactRef{Kind: kind, Name: p})
		}
		for _, dir := range above(p) {
			add(&refs, floodmark.ArtifactRef{Kind: floodmark.TreeArtifact, Name: dir})
		}
	}
	words := find.Find(refs)
	for _, k := range words {
		for _, ref := range k.Below {
			add(&below, ref)
		}
	}
	words = append(slices.Clone(words), find.Find(below)...)
	return slices.DeleteFunc(words, func(k artifact.Kept) bool { return len(k.Sources) == 0 })
}

// above returns the folders above a path, the nearest first, without the root.
func above(p string) (list []string) {
	for dir := path.Dir(p); dir != "/" && dir != "."; dir = path.Dir(dir) {
		list = append(list, dir)
	}
	return list
}

// A Return is a file or folder that was at one path and comes back at the same or another path.
// Both paths must come from catalog.FoldPath.
type Return struct {
	Was, At string
	Folder  bool
}

// Worth returns the label that some artifacts give to a file or folder at a path.
func Worth(said []artifact.Kept, p string) floodmark.Label {
	return provenance.SetLabel(on(said, p))
}

// on returns the sources of the artifacts that apply to a path: those on the path itself, and those
// on the folders around it unless the file was written as a whole after them.
func on(said []artifact.Kept, p string) []floodmark.Source {
	var over []floodmark.ArtifactVersion
	for _, k := range said {
		if k.Whole && k.Ref == (floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: p}) {
			over = append(over, k.Over...)
		}
	}
	var list []floodmark.Source
	for _, k := range said {
		file := k.Ref.Kind == floodmark.FileArtifact
		if k.Ref.Name == p && file || !file && within(p, k.Ref.Name) && !slices.Contains(over, k.Version) {
			list = append(list, passed(k)...)
		}
	}
	return list
}

// within reports whether a path is a folder or is inside it.
func within(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

// passed returns the sources of an artifact, each with the artifact added to its Via.
func passed(k artifact.Kept) (list []floodmark.Source) {
	for _, s := range k.Sources {
		list = append(list, provenance.Passed(s, floodmark.Passage{Artifact: k.Ref, Session: k.Version.Session}))
	}
	return list
}

// Again returns the artifacts for files and folders of one project that come back, made from the
// artifacts that they had when they were replaced (said). If those are not known, the things get an
// unknown source, with the lowest label.
func Again(in kernel.Input, project string, said []artifact.Kept, known bool, things []Return) []floodmark.Artifact {
	var names []string
	for _, t := range things {
		names = append(names, t.At)
	}
	var now []artifact.Kept
	if len(names) <= maxAgain {
		now = On(in.Artifacts, names...)
	}
	words := map[floodmark.ArtifactRef][]floodmark.Source{}
	say := func(ref floodmark.ArtifactRef, set []floodmark.Source) {
		if len(set) > 0 {
			words[ref] = append(words[ref], set...)
		}
	}
	for _, t := range things {
		ref := floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: t.At}
		if t.Folder {
			ref.Kind = floodmark.TreeArtifact
		}
		if !known {
			say(ref, unknown(t.At))
		}
		left := slices.DeleteFunc(slices.Clone(said), func(k artifact.Kept) bool { return t.Was == t.At && still(now, k, t.At) })
		say(ref, on(left, t.Was))
		for _, k := range left {
			if k.Ref.Name != t.Was && within(k.Ref.Name, t.Was) && t.Folder {
				ref := floodmark.ArtifactRef{Kind: floodmark.TreeArtifact, Name: t.At + strings.TrimPrefix(k.Ref.Name, t.Was)}
				if k.Ref.Kind == floodmark.FileArtifact {
					ref.Kind = floodmark.FileArtifact
				}
				say(ref, passed(k))
			}
		}
	}
	if len(words) > maxAgain {
		words = map[floodmark.ArtifactRef][]floodmark.Source{
			{Kind: floodmark.TreeArtifact, Name: project}: provenance.MergeSets(slices.Collect(maps.Values(words))...),
		}
	}
	return entered(in, words)
}

// unknown returns a source for unknown content. It has the lowest label.
func unknown(p string) []floodmark.Source {
	return []floodmark.Source{{Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromFile, Name: "undo", Place: p}}}
}

// still reports whether an artifact still applies to a path: it still exists, and no artifact of a
// file at the path has replaced it since.
func still(now []artifact.Kept, was artifact.Kept, p string) bool {
	there := slices.ContainsFunc(now, func(k artifact.Kept) bool { return k.Ref == was.Ref && k.Version == was.Version })
	return there && !slices.ContainsFunc(now, func(k artifact.Kept) bool {
		return k.Whole && k.Ref != was.Ref && k.Ref.Kind == floodmark.FileArtifact && within(k.Ref.Name, p)
	})
}

// entered returns artifacts made from sets of sources. They include the sources that the same
// session recorded for the same artifacts before. The list also contains the artifacts of the
// folders above, which are needed to find the others from a folder.
func entered(in kernel.Input, words map[floodmark.ArtifactRef][]floodmark.Source) (list []floodmark.Artifact) {
	folders := map[string][]floodmark.ArtifactRef{}
	var refs []floodmark.ArtifactRef
	for ref := range words {
		dirs := above(ref.Name)
		if ref.Kind == floodmark.TreeArtifact {
			dirs = append(dirs, ref.Name)
		}
		for _, dir := range dirs {
			folders[dir] = append(folders[dir], ref)
		}
		refs = append(refs, ref)
	}
	for dir := range folders {
		refs = append(refs, floodmark.ArtifactRef{Kind: floodmark.FolderArtifact, Name: dir})
	}
	rest := map[string][]floodmark.Source{}
	for _, k := range in.Artifacts.Find(refs) {
		switch {
		case k.Version.Session != in.Event.Session:
		case k.Ref.Kind == floodmark.FolderArtifact:
			rest[k.Ref.Name] = k.Sources
			for _, ref := range k.Below {
				if !slices.Contains(folders[k.Ref.Name], ref) {
					folders[k.Ref.Name] = append(folders[k.Ref.Name], ref)
				}
			}
		default:
			words[k.Ref] = append(words[k.Ref], k.Sources...)
		}
	}
	for ref, set := range words {
		list = append(list, floodmark.Artifact{Ref: ref, Sources: provenance.MergeSets(set)})
	}
	for dir, below := range folders {
		a := floodmark.Artifact{Ref: floodmark.ArtifactRef{Kind: floodmark.FolderArtifact, Name: dir}, Below: below, Sources: rest[dir]}
		if len(below) > maxBelow { // then any file below may be affected
			a.Below, a.Sources = below[:maxBelow], provenance.MergeSets(a.Sources, unknown(dir))
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b floodmark.Artifact) int { return strings.Compare(a.Ref.String(), b.Ref.String()) })
	return list
}
