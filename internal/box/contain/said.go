package contain

import (
	"cmp"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/project/leftover"
	"github.com/floodmark/floodmark/internal/project/undo"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/monitor"
)

// A Records reads what sessions recorded about files.
type Records struct {
	Journal journal.Journal
	View    func(ctx context.Context, s journal.Session) (monitor.View, error)
	Files   func(ctx context.Context, tenant string, what func(*kernel.State, kernel.Input) (kernel.Output, error)) error
}

// on returns what all sessions recorded about some paths. After an error nothing is known.
func (r *Records) on(ctx context.Context, tenant string, paths []string) (words []artifact.Kept, err error) {
	err = r.Files(ctx, tenant, func(_ *kernel.State, in kernel.Input) (kernel.Output, error) {
		words = leftover.On(in.Artifacts, paths...)
		return kernel.Output{}, nil
	})
	return words, err
}

// A Where is where a session works, and the session that started it, if any.
type Where struct {
	Root          floodmark.SessionID
	Project, Home string
}

// A replacing is what is known, before a call is judged, of the files that the call may replace.
type replacing struct {
	project string
	paths   []string // the files that the call writes by itself, within the project
	since   uint64   // see [undo.Said]; zero: unknown
	looked  []string // the paths that were looked up
	said    []artifact.Kept
}

// replacing looks up the files that a call may replace, before the call itself is recorded for
// them. In a box these are all files of its project, else those that the call names.
func (d *Door) replacing(ctx context.Context, s journal.Session, ev hook.Event) (r replacing) {
	if d.cfg.Undo == nil || d.cfg.Edits == nil || d.cfg.Records == nil {
		return r
	}
	d.mu.Lock()
	w, known := d.where[s]
	d.mu.Unlock()
	if known {
		r.project, r.paths = d.cfg.Edits(s, w, ev)
	}
	if known && !ev.Boxes && len(r.paths) == 0 {
		return replacing{} // most calls only read, and reading a long session takes long
	}
	v, err := d.cfg.Records.View(ctx, s)
	if err != nil || v.State.Project == "" {
		return replacing{}
	}
	if now := (Where{v.State.Root, v.State.Project, v.State.Home}); !known || now != w {
		d.mu.Lock()
		if len(d.where) >= maxKnown {
			clear(d.where)
		}
		d.where[s] = now
		d.mu.Unlock()
		r.project, r.paths = d.cfg.Edits(s, now, ev)
	}
	if r.project == "" || len(r.paths) == 0 && !ev.Boxes {
		return r
	}
	folded := func(p string) string { return catalog.FoldPath(filepath.ToSlash(filepath.Join(r.project, p))) }
	if ev.Boxes {
		r.looked = []string{folded("")}
	} else {
		for _, p := range r.paths {
			r.looked = append(r.looked, folded(p))
		}
	}
	if r.said, err = d.cfg.Records.on(ctx, s.Tenant, r.looked); err == nil {
		r.since = v.Link.Seq
	}
	// Sort small files first. Files that do not exist yet, or that sessions of little trust left,
	// come last.
	first := map[string]int64{}
	for _, p := range r.paths {
		first[p] = math.MaxInt64
		info, err := os.Lstat(filepath.Join(r.project, p))
		if err == nil && leftover.Worth(r.said, folded(p)).Trust >= floodmark.Local {
			first[p] = info.Size()
		}
	}
	slices.SortStableFunc(r.paths, func(a, b string) int { return cmp.Compare(first[a], first[b]) })
	return r
}

// said returns, now that a call is over, what sessions have recorded about the files it replaced.
// Records that the call itself made since it began are left out, all others included. If twice is
// set, another call had the same id, so records under that id are included as well.
func (d *Door) said(ctx context.Context, c call, r replacing, twice bool) undo.Said {
	if r.since == 0 {
		return undo.Said{}
	}
	now, err := d.cfg.Records.on(ctx, c.session.Tenant, r.looked)
	if err != nil {
		return undo.Said{}
	}
	others := map[floodmark.ArtifactRef]bool{}
	for e, err := range d.cfg.Records.Journal.Read(ctx, c.session, r.since) {
		if err != nil {
			return undo.Said{}
		}
		f, err := e.Fact()
		if err != nil {
			return undo.Said{}
		}
		if w, is := f.(floodmark.ArtifactWritten); is && (twice || w.Call != c.id) {
			others[w.Artifact] = true
		}
	}
	words := slices.Clone(r.said)
	for _, k := range now {
		own := k.Version.Session == c.session.ID && k.Version.Seq > r.since && !others[k.Ref]
		known := slices.ContainsFunc(words, func(o artifact.Kept) bool { return o.Ref == k.Ref && o.Version == k.Version })
		if !own && !known {
			words = append(words, k)
		}
	}
	return undo.Saying(r.since, words)
}
