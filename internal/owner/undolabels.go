package owner

import (
	"context"
	"maps"
	"math"
	"path"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/undo"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// unsaid are the words of a session on files that are given back as they were before a
// call, where nobody had said anything of them before: they hold no longer. By the journal,
// the call alone wrote such a file in this session, and took over no word of another. On
// all others what was said stays, as it is never more than what was said before.
func (d *Desk) unsaid(ctx context.Context, s journal.Session, a undo.About, did undo.Result) ([]kernel.Gone, error) {
	own := map[floodmark.ArtifactRef]bool{} // and whether the call wrote it
	for _, p := range did.Given {
		own[fileOf(a, p)] = false
	}
	for _, f := range did.Refused { // on some disks two names are one file
		delete(own, fileOf(a, f.Path))
	}
	var last []floodmark.ArtifactRef // written since it was noted which words are kept
	for e, err := range d.Journal.Read(ctx, s, 0) {
		if err != nil {
			return nil, err
		}
		f, err := e.Fact()
		if err != nil {
			return nil, err
		}
		switch f := f.(type) {
		case floodmark.ArtifactWritten:
			if _, is := own[f.Artifact]; is && string(f.Call) == a.Call {
				own[f.Artifact], last = true, append(last, f.Artifact)
			} else {
				delete(own, f.Artifact)
			}
		case floodmark.ArtifactsKept:
			others := func(g floodmark.ArtifactGone) bool { return g.Version.Session != s.ID }
			if slices.ContainsFunc(f.Gone, others) {
				maps.DeleteFunc(own, func(ref floodmark.ArtifactRef, _ bool) bool { return slices.Contains(last, ref) })
			}
			last = nil
		default:
		}
	}
	var gone []kernel.Gone
	for ref, wrote := range own {
		if wrote {
			gone = append(gone, kernel.Gone{Ref: ref, Version: floodmark.ArtifactVersion{Session: s.ID, Seq: math.MaxInt64}})
		}
	}
	return gone, nil
}

func fileOf(a undo.About, p string) floodmark.ArtifactRef {
	return floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: catalog.FoldPath(path.Join(a.Project, p))}
}
