package clean

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/project/leftover"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// The limits of what is shown at once.
const (
	MaxShown      = 64      // files
	maxShownBytes = 8 << 20 // of all files
	maxSessions   = 20_000  // sessions that are searched for the commit to compare with
)

// A Shown is a file as it is shown to the owner.
type Shown struct {
	// Path is relative to the list's root.
	Path string
	// Old is the file in Commit, which was checked out before any session of little trust worked in
	// the project. Commit is empty if the file is not in such a commit; then the owner has to read
	// the whole file.
	Old    []byte
	Commit string
	New    []byte
	// Digest identifies this file with exactly this content.
	Digest  floodmark.Digest
	Session floodmark.SessionID
	Source  string
}

// Show returns the files below a folder that the owner can endorse: those at or below some paths,
// or all. Files that cannot be shown are in the list's Stays.
func (c *Cleaner) Show(ctx context.Context, tenant, folder string, paths []string) (*List, []Shown, error) {
	l, g, err := c.begin(folder)
	if err != nil {
		return nil, nil, err
	}
	defer g.close()
	things, err := c.below(ctx, tenant, l.Root)
	if err != nil {
		return nil, nil, err
	}
	history, commit := workspace.HistoryOf(l.Root), ""
	if history != nil {
		defer history.Close()
		if commit, err = c.before(ctx, tenant, l.Root); err != nil {
			return nil, nil, err
		}
	}
	size := 0
	for _, t := range things {
		rest := strings.TrimPrefix(strings.TrimPrefix(t.Path, strings.TrimSuffix(catalog.FoldPath(filepath.ToSlash(l.Root)), "/")), "/")
		if !wanted(rest, paths) || strings.Contains("/"+rest+"/", "/.git/") {
			continue
		}
		s, why := show(g, l.Root, rest, t, history, commit)
		switch {
		case why != "":
			l.stay(rest, why)
		case s.Path == "": // it was deleted
		case len(l.shown) >= MaxShown || size+len(s.New)+len(s.Old) > maxShownBytes:
			l.stay(s.Path, "this is enough for one time: it comes with the next call")
		default:
			size += len(s.New) + len(s.Old)
			l.shown = append(l.shown, s)
		}
	}
	if l.shown, err = c.unvouched(ctx, tenant, l.shown); err != nil {
		return nil, nil, err
	}
	c.remember(tenant, l)
	return l, l.shown, nil
}

// wanted reports whether a path is at or below one of paths. It is true for every path if there are
// none.
func wanted(p string, paths []string) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(w string) bool {
		w = catalog.FoldPath(filepath.ToSlash(filepath.Clean(w)))
		return w == "." || p == w || strings.HasPrefix(p, w+"/")
	})
}

// show reads one file, or returns why it cannot be shown.
func show(g *ground, root, rest string, t leftover.Thing, history *workspace.History, commit string) (s Shown, why string) {
	if t.Tree {
		return s, "it is a folder with all that is in it: «floodmark undo clean» removes what tools made, else trust what it was made of (" + leftover.Words(t.Source) + ")"
	}
	names, err := g.spellings(rest)
	switch {
	case err != nil:
		return s, reason(err)
	case len(names) > 1:
		return s, "several files have this name, in other letters"
	case len(names) == 0:
		return s, ""
	}
	data, _, err := g.read(names[0])
	if err != nil {
		return s, reason(err)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return s, "it is no text"
	}
	s = Shown{Path: names[0], New: data, Session: t.Session, Source: leftover.Words(t.Source)}
	s.Digest = floodmark.FileVouch(t.Path, floodmark.DigestOf(string(data)))
	if history != nil && commit != "" {
		if rel, err := filepath.Rel(history.Root, filepath.Join(root, names[0])); err == nil {
			if old, ok := history.File(commit, rel); ok {
				s.Old, s.Commit = old, commit
			}
		}
	}
	return s, ""
}

// unvouched leaves out the files that the owner has endorsed with their present content.
func (c *Cleaner) unvouched(ctx context.Context, tenant string, list []Shown) ([]Shown, error) {
	err := c.Monitor.OnFiles(ctx, tenant, func(_ *kernel.State, in kernel.Input) (kernel.Output, error) {
		var digests []floodmark.Digest
		for _, s := range list {
			digests = append(digests, s.Digest)
		}
		yes := leftover.Vouched(in.Artifacts, digests)
		list = slices.DeleteFunc(list, func(s Shown) bool { return yes[s.Digest] })
		return kernel.Output{}, nil
	})
	return list, err
}

// before returns the commit that was checked out when the first session of little trust began in
// the project, or in one around or inside it. A newer commit is not used for the comparison,
// because it may have been made in a box. The result is empty if a session cannot be read, or was
// erased.
func (c *Cleaner) before(ctx context.Context, tenant, root string) (commit string, err error) {
	first, sessions := int64(0), 0
	for h, err := range c.Journal.Recent(ctx, tenant) {
		if err != nil {
			return "", err
		}
		if sessions++; sessions > maxSessions {
			return "", nil
		}
		if strings.HasPrefix(string(h.Session.ID), "floodmark/") {
			continue
		}
		v, err := c.Monitor.View(ctx, h.Session)
		if err != nil && ctx.Err() != nil {
			return "", err
		}
		if err != nil || v.Erased != nil {
			return "", nil
		}
		if !low(v.State) || !near(v.State.Project, root) {
			continue
		}
		at, err := c.began(ctx, h.Session)
		if err != nil {
			return "", err
		}
		if first == 0 || at < first {
			first, commit = at, v.State.Commit
		}
	}
	return commit, nil
}

// low reports whether a session has had text of little trust in it.
func low(s *kernel.State) bool {
	for src := range s.Ledger.Sources() {
		if src.Own().Trust < floodmark.Local {
			return true
		}
	}
	return false
}

// near reports whether a project and a folder may have files in common.
func near(project, root string) bool {
	p, r := catalog.FoldPath(filepath.ToSlash(filepath.Clean(project)))+"/", catalog.FoldPath(filepath.ToSlash(root))+"/"
	if to, err := filepath.EvalSymlinks(project); err == nil {
		p = catalog.FoldPath(filepath.ToSlash(to)) + "/"
	}
	return project == "" || strings.HasPrefix(p, r) || strings.HasPrefix(r, p)
}

// began returns when a session's first entry was written.
func (c *Cleaner) began(ctx context.Context, s journal.Session) (int64, error) {
	for e, err := range c.Journal.Read(ctx, s, 0) {
		return e.At, err
	}
	return 0, errors.New("a session without entries")
}

// Endorse endorses all files that were shown with a list. If one was changed since, none is
// endorsed, and the error names it.
func (c *Cleaner) Endorse(ctx context.Context, tenant, token, by string) ([]Shown, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.known(tenant, token)
	if err != nil {
		return nil, err
	}
	g, err := openGround(l.Root)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrFolder, floodmark.Visible(err.Error()))
	}
	defer g.close()
	var digests []floodmark.Digest
	for _, s := range l.shown {
		data, _, err := g.read(s.Path)
		name := catalog.FoldPath(filepath.ToSlash(filepath.Join(l.Root, s.Path)))
		if err != nil || floodmark.FileVouch(name, floodmark.DigestOf(string(data))) != s.Digest {
			return nil, fmt.Errorf("%w: %s was changed since it was shown, so nothing is trusted", ErrList, floodmark.Visible(s.Path))
		}
		digests = append(digests, s.Digest)
	}
	if len(digests) == 0 {
		return nil, ErrList
	}
	delete(c.lists, token)
	return l.shown, c.Monitor.OnFiles(ctx, tenant, func(_ *kernel.State, in kernel.Input) (kernel.Output, error) {
		return leftover.Vouch(in, digests, floodmark.Local, by), nil
	})
}

// Withdraw withdraws the endorsement of a file, by the first digits of its digest.
func (c *Cleaner) Withdraw(ctx context.Context, tenant, digits, by string) error {
	return c.Monitor.OnFiles(ctx, tenant, func(st *kernel.State, in kernel.Input) (kernel.Output, error) {
		return leftover.Withdraw(st, in, digits, by)
	})
}
