package contain

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/project/undo"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/internal/text/filenames"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// An editing is a call that writes files by itself, with the room in which the old files are kept.
type editing struct {
	room     string
	replaces replacing
	endless  bool // its agent does not report the end of the call
}

// edits keeps what an allowed call without a box is about to replace.
func (d *Door) edits(s journal.Session, ev hook.Event, reply hook.Reply, r replacing) {
	if len(r.paths) == 0 || reply.Decision.Verdict != floodmark.Allow || reply.BlockTurn || len(reply.Decision.Verifiers) > 0 {
		return
	}
	id := kernel.CallID(ev.Call)
	d.mu.Lock()
	_, known := d.edited[call{s, id}]
	d.mu.Unlock()
	if known {
		return // the copies were made when it was asked about before, and nothing had been written yet
	}
	what := ev.Call.Name
	if line, is := commandOf(ev); is {
		what = redact.Without(d.secrets, strings.TrimSpace(line))
	}
	room, err := d.cfg.Undo.Before(undo.About{
		Tenant: s.Tenant, Session: string(s.ID), Call: string(id), Project: r.project, Command: floodmark.OneLine(what, maxCommand),
	}, r.paths)
	if err != nil || room == "" {
		return // the call runs, but cannot be undone
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.edited) >= maxOpen {
		clear(d.edited) // what was kept is removed when the monitor starts
	}
	d.edited[call{s, id}] = editing{room, r, agents.TellsNoEnd(ev.Agent, ev.Call)}
}

// wereEdited keeps what those calls of a session replaced whose end the agent does not report.
// Another event of the session has come, so they are over.
func (d *Door) wereEdited(ctx context.Context, s journal.Session) {
	var over []call
	d.mu.Lock()
	for c, e := range d.edited {
		if c.session == s && e.endless {
			over = append(over, c)
		}
	}
	d.mu.Unlock()
	for _, c := range over {
		d.wasEdited(ctx, c)
	}
}

// wasEdited keeps what a call replaced, now that its result is here.
func (d *Door) wasEdited(ctx context.Context, c call) {
	d.mu.Lock()
	e, is := d.edited[c]
	delete(d.edited, c)
	d.mu.Unlock()
	if is {
		_ = d.cfg.Undo.After(e.room, d.said(ctx, c, e.replaces, false)) // what cannot be kept is not undone
	}
}

// edited returns the files of its project that a call writes by itself, as its arguments name them.
func (m Machine) edited(s journal.Session, w Where, ev hook.Event) (project string, paths []string) {
	if w.Project == "" {
		return "", nil
	}
	project = m.Disk.Resolve(w.Project)
	leaves, err := ev.Call.Leaves()
	if err != nil {
		return project, nil
	}
	root := w.Root
	if root == "" {
		root = s.ID
	}
	at := catalog.Places{Project: w.Project, Home: w.Home}
	use := m.Rules(s, root).Catalog.Classify(floodmark.ToolRef{Agent: ev.Agent, Server: ev.Call.Server, Name: ev.Call.Name}, leaves, ev.Call.Hints, at)
	writes := func(e floodmark.Effect) bool {
		return e == floodmark.Write || e == floodmark.Change || e == floodmark.Admin
	}
	if use.Profile != nil && use.Commands() && ev.Call.Server == "" {
		return project, m.written(project, at, base(use, leaves), use.Writes)
	}
	if use.Profile == nil || ev.Call.Server != "" || !slices.ContainsFunc(use.Effects, writes) {
		return project, nil
	}
	for _, leaf := range leaves {
		var named []string
		switch a := use.Arg(leaf.Top); {
		case leaf.Kind != hook.String:
		case a.Is == catalog.IsPath:
			named = []string{leaf.Value}
		case a.Is == catalog.IsPatch:
			named = filenames.OfPatch(leaf.Value)
		}
		for _, p := range named {
			paths = m.inside(paths, project, at.Clean(p, ""))
		}
	}
	return project, paths
}

// inside adds a path, relative to the project and with its links resolved, if it is within the
// project.
func (m Machine) inside(paths []string, project, p string) []string {
	rel, err := filepath.Rel(project, m.Disk.Resolve(p))
	if err == nil && filepath.IsLocal(rel) && rel != "." && !slices.Contains(paths, rel) {
		paths = append(paths, rel)
	}
	return paths
}

// base returns the folder in which a command line runs, if the call names one.
func base(use catalog.Use, leaves []hook.Leaf) (folder string) {
	for _, leaf := range leaves {
		if use.Arg(leaf.Top).Is == catalog.IsPath && leaf.Kind == hook.String {
			folder = leaf.Value
		}
	}
	return folder
}

// maxWritten bounds how many files of a command line are looked for.
const maxWritten = 2_048

// written returns the files of its project that a command line is known to write. Files under .git
// are left out, because a single one is useless without the rest.
func (m Machine) written(project string, at catalog.Places, base string, writes []string) (paths []string) {
	if base != "" {
		base = at.Clean(base, "")
	}
	for _, w := range writes {
		p := at.Clean(w, base)
		found := []string{p}
		if dir, tree := strings.CutSuffix(p, "/**"); tree {
			found = files(m.Disk.Resolve(dir))
		} else if strings.ContainsAny(p, "*?[") {
			found, _ = filepath.Glob(p) // an invalid pattern matches nothing
		}
		for _, p := range found[:min(len(found), maxWritten-len(paths))] {
			paths = m.inside(paths, project, p)
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return strings.HasPrefix(p, ".git/") || strings.Contains(p, "/.git/") })
}

// files lists the regular files below a folder.
func files(folder string) (list []string) {
	_ = filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if len(list) >= maxWritten {
			return fs.SkipAll
		}
		if err == nil && d.Type().IsRegular() {
			list = append(list, p)
		}
		return nil
	})
	return list
}
