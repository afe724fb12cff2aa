// Package leftover is about files that sessions left behind. It lists them for the owner, records
// that some are removed, and records that the owner endorses one as it was shown. It turns
// artifacts into facts and other artifacts. It does not read the disk, and the caller must have
// authenticated the owner.
package leftover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// A Thing is a file, or a folder with all that is in it, with what sessions recorded about it.
type Thing struct {
	// Path comes from catalog.FoldPath.
	Path string
	// Tree says that it is a folder with all that is in it. Unnamed says that the folder contains
	// more artifacts than are listed by name.
	Tree, Unnamed bool
	// Label is the label of the content.
	Label floodmark.Label
	// Session is one of the sessions that wrote the content.
	Session floodmark.SessionID
	// Source is the least trusted source of the content.
	Source floodmark.Source
	// Versions are the versions of its artifact, one for each session.
	Versions []floodmark.ArtifactVersion
	// Digest is the digest of the content if there is only one version and it has one; usually
	// zero.
	Digest floodmark.Digest
}

// Below returns what is trusted less than the owner's own work below a folder, in the order of the
// paths. The folder must come from catalog.FoldPath. The list includes files that the owner
// endorsed by [floodmark.FileVouch], because only the disk shows whether a file still has that
// content.
func Below(find artifact.Store, folder string) []Thing {
	top := []floodmark.ArtifactRef{{Kind: floodmark.FolderArtifact, Name: folder}, {Kind: floodmark.TreeArtifact, Name: folder}, {Kind: floodmark.FileArtifact, Name: folder}}
	words := find.Find(top)
	known := map[floodmark.ArtifactRef]bool{top[0]: true, top[1]: true, top[2]: true}
	var below []floodmark.ArtifactRef
	for _, k := range words {
		for _, ref := range k.Below {
			if !known[ref] {
				known[ref], below = true, append(below, ref)
			}
		}
	}
	words = append(words, find.Find(below)...)
	vouched := sources(find, words)
	things := map[floodmark.ArtifactRef]*Thing{}
	for _, k := range words {
		if len(k.Sources) > 0 {
			add(things, k, vouched)
		}
	}
	var list []Thing
	for _, t := range things {
		if t.Label.Trust < floodmark.Local {
			list = append(list, *t)
		}
	}
	slices.SortFunc(list, func(a, b Thing) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(fmt.Sprint(a.Tree, a.Unnamed), fmt.Sprint(b.Tree, b.Unnamed)))
	})
	return list
}

// add adds a session's artifact to the thing that it is about.
func add(things map[floodmark.ArtifactRef]*Thing, k artifact.Kept, vouched map[floodmark.Digest]bool) {
	t := things[k.Ref]
	if t == nil {
		t = &Thing{Path: k.Ref.Name, Tree: k.Ref.Kind != floodmark.FileArtifact, Unnamed: k.Ref.Kind == floodmark.FolderArtifact, Label: floodmark.Clean(), Digest: k.Digest}
		things[k.Ref] = t
	} else {
		t.Digest = floodmark.Digest{}
	}
	t.Versions = append(t.Versions, k.Version)
	t.Session = k.Version.Session
	for _, s := range k.Sources {
		l := s.Own()
		if vouched[s.Digest] {
			l.Trust = max(l.Trust, floodmark.Local)
		}
		if t.Source.Origin == (floodmark.Origin{}) || l.Trust < t.Label.Trust {
			t.Source = s
		}
		t.Label = t.Label.Join(l)
	}
}

// sources returns which sources of some artifacts the owner endorsed, by digest.
func sources(find artifact.Store, words []artifact.Kept) map[floodmark.Digest]bool {
	var want []floodmark.Digest
	for _, k := range words {
		for _, s := range k.Sources {
			if !s.Digest.IsZero() {
				want = append(want, s.Digest)
			}
		}
	}
	return Vouched(find, want)
}

// Vouched returns which of some digests the owner endorses. The latest endorsement or withdrawal
// decides, and of two at the same time the one with less trust.
func Vouched(find artifact.Store, digests []floodmark.Digest) map[floodmark.Digest]bool {
	var refs []floodmark.ArtifactRef
	known := map[floodmark.Digest]bool{}
	for _, d := range digests {
		if !known[d] {
			known[d], refs = true, append(refs, vouchRef(d))
		}
	}
	last := map[floodmark.Digest]floodmark.Vouch{}
	for _, k := range find.Find(refs) {
		var d floodmark.Digest
		if k.Vouch == nil || d.UnmarshalText([]byte(k.Ref.Name)) != nil {
			continue
		}
		old, ok := last[d]
		if !ok || cmp.Or(cmp.Compare(old.At, k.Vouch.At), cmp.Compare(k.Vouch.Trust, old.Trust)) < 0 {
			last[d] = *k.Vouch
		}
	}
	yes := map[floodmark.Digest]bool{}
	for d, v := range last {
		yes[d] = v.Trust > floodmark.External
	}
	return yes
}

func vouchRef(d floodmark.Digest) floodmark.ArtifactRef {
	return floodmark.ArtifactRef{Kind: floodmark.VouchArtifact, Name: d.String()}
}

// Removing records that files are about to be removed.
func Removing(files []floodmark.CleanedFile, by string) kernel.Output {
	return kernel.Output{Facts: []floodmark.Fact{floodmark.FilesCleaned{Files: files, By: by}}}
}

// Removed records that files are gone, and removes the artifacts of the things that are gone with
// them. It removes exactly the versions that were listed, so that newer ones stay.
func Removed(files []floodmark.CleanedFile, gone []Thing, by string) kernel.Output {
	out := kernel.Output{Facts: []floodmark.Fact{floodmark.FilesCleaned{Files: files, By: by, Done: true}}}
	for _, t := range gone {
		kind := floodmark.FileArtifact
		if t.Tree {
			kind = floodmark.TreeArtifact
		}
		for _, v := range t.Versions {
			out.Gone = append(out.Gone, artifact.Gone{Ref: floodmark.ArtifactRef{Kind: kind, Name: t.Path}, Version: v})
		}
	}
	return out
}

// Vouch records that the owner endorses files with exactly these contents. With a trust of at most
// External, it records that the owner no longer does.
func Vouch(in kernel.Input, digests []floodmark.Digest, trust floodmark.Trust, by string) (out kernel.Output) {
	for _, d := range digests {
		if trust > floodmark.External {
			out.Facts = append(out.Facts, floodmark.Endorsed{Digest: d, Trust: trust, By: by})
		} else {
			out.Facts = append(out.Facts, floodmark.Withdrawn{Digest: d, By: by})
		}
		at := in.At.UnixNano()
		for _, k := range in.Artifacts.Find([]floodmark.ArtifactRef{vouchRef(d)}) {
			if k.Vouch != nil {
				at = max(at, k.Vouch.At+1) // the clocks of two machines may differ
			}
			if k.Version.Session != in.Event.Session {
				out.Gone = append(out.Gone, artifact.Gone{Ref: k.Ref, Version: k.Version})
			}
		}
		out.Artifacts = append(out.Artifacts, floodmark.Artifact{Ref: vouchRef(d), Vouch: &floodmark.Vouch{Trust: trust, By: by, At: at}})
	}
	return out
}

// Withdraw ends the owner's endorsement of the file whose digest begins with digits. There must be
// exactly one.
func Withdraw(st *kernel.State, in kernel.Input, digits, by string) (kernel.Output, error) {
	var found []floodmark.Digest
	for _, e := range st.Ledger.Endorsements() {
		if strings.HasPrefix(e.Digest.String(), digits) {
			found = append(found, e.Digest)
		}
	}
	if len(found) != 1 {
		return kernel.Output{}, fmt.Errorf("%d files that you vouch for have a digest that begins with %s", len(found), digits)
	}
	return Vouch(in, found, floodmark.Untrusted, by), nil
}

// Words returns where content came from, for a person to read.
func Words(s floodmark.Source) string {
	name := cmp.Or(s.Origin.Name, string(s.Origin.Kind), "content of unknown origin")
	if s.Origin.Server != "" {
		name = s.Origin.Server + "/" + name
	}
	return floodmark.Visible(strings.TrimSpace(name+" "+s.Origin.Place) + " (" + s.Own().Trust.String() + ")")
}
