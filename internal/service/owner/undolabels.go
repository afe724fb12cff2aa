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
	"github.com/floodmark/floodmark/internal/project/leftover"
	"github.com/floodmark/floodmark/internal/project/undo"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// resay gives files back the labels that they had when a call replaced them, before the files
// themselves are restored. A label may have ended since, because the file was written anew or
// cleaned up, but the restored content needs it. The current labels stay in force, too.
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

// unsaid returns the labels of a session that can end, because the files are as they were before
// the call and had no label of this session then. It uses only the journal: such a file was written
// in this session by this call alone, and the call did not take over a label of another session.
// All other labels stay, which is never less strict.
func (d *Desk) unsaid(ctx context.Context, s journal.Session, a undo.About, did undo.Result) (gone []artifact.Gone, _ error) {
	if _, known := a.Said.Kept(); !known {
		return nil, nil
	}
	own := map[floodmark.ArtifactRef]bool{} // the restored files, and whether the call wrote them
	for _, p := range did.Given {
		own[fileOf(a, p)] = false
	}
	for _, f := range did.Refused { // on some disks, two names can be one file
		delete(own, fileOf(a, f.Path))
	}
	var last []floodmark.ArtifactRef // written since the last fact that labels were taken over
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
	for ref, wrote := range own {
		if wrote {
			gone = append(gone, artifact.Gone{Ref: ref, Version: floodmark.ArtifactVersion{Session: s.ID, Seq: math.MaxInt64}})
		}
	}
	return gone, nil
}

func fileOf(a undo.About, p string) floodmark.ArtifactRef {
	return floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: catalog.FoldPath(path.Join(a.Project, p))}
}
