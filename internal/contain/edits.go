package contain

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/undo"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// edits keeps what an allowed call of an agent's own tools is about to replace.
func (d *Door) edits(ctx context.Context, s journal.Session, ev hook.Event, reply hook.Reply) {
	if d.cfg.Undo == nil || d.cfg.Edits == nil || reply.Decision.Verdict != floodmark.Allow || reply.BlockTurn || len(reply.Decision.Verifiers) > 0 {
		return
	}
	id := kernel.CallID(ev.Call)
	d.mu.Lock()
	_, known := d.edited[call{s, id}]
	d.mu.Unlock()
	if known {
		return // it was asked about before, when nothing was written yet
	}
	project, paths := d.cfg.Edits(ctx, s, ev)
	room, err := d.cfg.Undo.Before(undo.About{
		Tenant: s.Tenant, Session: string(s.ID), Call: string(id), Project: project, Command: floodmark.OneLine(ev.Call.Name, maxCommand),
	}, paths)
	if err != nil || room == "" {
		return // it is not undone then, and runs all the same
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.edited) >= maxOpen {
		clear(d.edited) // what was kept is removed when the monitor starts
	}
	d.edited[call{s, id}] = room
}

// wasEdited keeps what a call replaced, now that its result is here.
func (d *Door) wasEdited(c call) {
	d.mu.Lock()
	room, is := d.edited[c]
	delete(d.edited, c)
	d.mu.Unlock()
	if is {
		_ = d.cfg.Undo.After(room) // what cannot be kept is not undone
	}
}

// edited are the files of its project that a call writes by itself, as its arguments name
// them.
func (m Machine) edited(ctx context.Context, s journal.Session, ev hook.Event) (project string, paths []string) {
	leaves, err := ev.Call.Leaves()
	if err != nil {
		return "", nil
	}
	v, err := m.View(ctx, s)
	if err != nil || v.State.Project == "" {
		return "", nil
	}
	root := v.State.Root
	if root == "" {
		root = s.ID
	}
	at := catalog.Places{Project: v.State.Project, Home: v.State.Home}
	use := m.Rules(s, root).Catalog.Classify(floodmark.ToolRef{Agent: ev.Agent, Server: ev.Call.Server, Name: ev.Call.Name}, leaves, ev.Call.Hints, at)
	writes := func(e floodmark.Effect) bool {
		return e == floodmark.Write || e == floodmark.Change || e == floodmark.Admin
	}
	if use.Profile == nil || use.Commands() || ev.Call.Server != "" || !slices.ContainsFunc(use.Effects, writes) {
		return "", nil
	}
	project = m.Disk.Resolve(v.State.Project)
	for _, leaf := range leaves {
		var named []string
		switch a := use.Arg(leaf.Top); {
		case leaf.Kind != hook.String:
		case a.Is == catalog.IsPath:
			named = []string{leaf.Value}
		case a.Is == catalog.IsPatch:
			named = catalog.PatchPaths(leaf.Value)
		}
		for _, p := range named {
			// By what links lead to: a path that is no file there is not kept.
			rel, err := filepath.Rel(project, m.Disk.Resolve(at.Clean(p, "")))
			if err == nil && filepath.IsLocal(rel) && rel != "." && !slices.Contains(paths, rel) {
				paths = append(paths, rel)
			}
		}
	}
	return project, paths
}
