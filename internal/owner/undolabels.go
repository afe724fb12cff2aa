package owner

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/leftover"
	"github.com/floodmark/floodmark/internal/undo"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// resay says again what was said of things when a call replaced them, before they lie there
// again: words that ended since, because others wrote the file anew or it was cleaned up,
// belong to what comes back. What is said now stays beside it.
func (d *Desk) resay(ctx context.Context, a undo.About, who string, returns []undo.Return) error {
	var things []leftover.Return
	for _, r := range returns {
		things = append(things, leftover.Return{Was: fileOf(a, r.Was).Name, At: fileOf(a, r.At).Name, Folder: r.Folder})
	}
	words, known := a.Said.Kept()
	return d.Monitor.OnFiles(context.WithoutCancel(ctx), a.Tenant, func(_ *kernel.State, in kernel.Input) (out kernel.Output, err error) {
		out.Artifacts = leftover.Again(in, fileOf(a, "").Name, words, known, things)
		if len(out.Artifacts) > 0 {
			text := fmt.Sprintf("what comes back to %s by undoing %s of %s, by %s, keeps the labels that it had", a.Project, a.Call, a.Session, who)
			out.Facts = []floodmark.Fact{floodmark.IncidentSeen{Kind: Undo, Text: floodmark.OneLine(text, maxUndoWhy)}}
		}
		return out, nil
	})
}

// unsaid returns a session's words on files that are restored to before a call, if there were no
// words on them then: they hold no longer. By the journal, only the call wrote such a file in this
// session, and took over no word of another. On all other files the words stay, as they are never
// more than before.
func (d *Desk) unsaid(ctx context.Context, s journal.Session, a undo.About, did undo.Result) ([]kernel.Gone, error) {
	if _, known := a.Said.Kept(); !known {
		return nil, nil
	}
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
			if _, is := own[f.Artifact]; is && string(f.Call) == a.Call && e.Seq > a.Said.Since {
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
