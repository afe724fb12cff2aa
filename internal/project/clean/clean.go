// Package clean lets owners bring a project back to the state before a stranger's text influenced
// it. It lists the files that sessions of little trust left in the project, removes those that the
// owner confirms, and shows the changes in others so that the owner can endorse them. It only
// removes or endorses files that were listed before and have not changed since. It never follows a
// link. The caller authenticates the owner.
package clean

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/project/leftover"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
)

// The limits of one list.
const (
	MaxFiles = 200_000          // files in one list
	MaxSmall = 1 << 20          // bytes of a file that is read; a larger file is identified by its times
	MaxStays = 100              // files that stay and are listed
	maxFor   = 10 * time.Minute // how long a list is remembered
	atOnce   = 500              // files in one entry of the journal
)

var (
	// ErrFolder means that a folder cannot be cleaned.
	ErrFolder = errors.New("cannot be looked at")
	// ErrList means that a list is unknown or has expired.
	ErrList = errors.New("that list is not known any more: look again")
)

// A Cleaner lists, removes and endorses files. It is safe for concurrent use.
type Cleaner struct {
	Monitor *monitor.Monitor
	Journal journal.Journal
	Now     func() time.Time

	mu    sync.Mutex // guards lists and what is in them
	lists map[string]*List
}

// A List is what sessions left below a folder.
type List struct {
	// Token identifies the list.
	Token string
	Root  string
	Items []Item
	// Stays are files that are not removed, with the reason. More is how many further ones are not
	// listed.
	Stays []Stay
	More  int

	tenant string
	at     time.Time
	left   []int // items that are still to be removed; nil before the first removal
	shown  []Shown
}

// An Item is a labelled file, or a labelled folder with everything in it, that can be removed.
type Item struct {
	// Path is relative to the list's root.
	Path    string
	Folder  bool
	Bytes   int64
	Files   []File
	Session floodmark.SessionID
	Source  string
	// Linked is how many of the files have another hard link, which stays.
	Linked int

	thing   leftover.Thing
	folders []string // the innermost first
	done    int      // files for which the removal was tried
	kept    int      // files that stayed
}

// A File is one file by its path from the list's root.
type File struct {
	Path   string
	digest floodmark.Digest // zero for a file that is not read
	is     identity
}

// A Stay is a file that is not removed.
type Stay struct{ Path, Why string }

// List lists what can be removed below a folder.
func (c *Cleaner) List(ctx context.Context, tenant, folder string) (*List, error) {
	l, g, err := c.begin(folder)
	if err != nil {
		return nil, err
	}
	defer g.close()
	things, err := c.below(ctx, tenant, l.Root)
	if err != nil {
		return nil, err
	}
	history := workspace.HistoryOf(l.Root)
	if history != nil {
		defer history.Close()
	}
	look := &looker{ctx: ctx, list: l, ground: g, history: history, journal: c.Journal, tenant: tenant}
	for _, t := range things {
		if err := look.thing(t); err != nil {
			return nil, err
		}
	}
	c.remember(tenant, l)
	return l, nil
}

// begin opens the folder of a list.
func (c *Cleaner) begin(folder string) (*List, *ground, error) {
	if !filepath.IsAbs(folder) {
		return nil, nil, fmt.Errorf("%w: %s is not a whole path", ErrFolder, floodmark.Visible(folder))
	}
	root, err := filepath.EvalSymlinks(folder)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(root); err == nil && !info.IsDir() {
			err = errors.New("it is no folder")
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s", ErrFolder, floodmark.Visible(err.Error()))
	}
	g, err := openGround(root)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s", ErrFolder, floodmark.Visible(err.Error()))
	}
	return &List{Root: root}, g, nil
}

// below returns what sessions left below a folder.
func (c *Cleaner) below(ctx context.Context, tenant, root string) (things []leftover.Thing, err error) {
	err = c.Monitor.OnFiles(ctx, tenant, func(_ *kernel.State, in kernel.Input) (kernel.Output, error) {
		things = leftover.Below(in.Artifacts, catalog.FoldPath(filepath.ToSlash(root)))
		return kernel.Output{}, nil
	})
	return things, err
}

// remember stores a list, so that exactly the files in it can be removed. Only the newest list is
// stored.
func (c *Cleaner) remember(tenant string, l *List) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.Token, l.tenant, l.at = rand.Text(), tenant, c.Now()
	c.lists = map[string]*List{l.Token: l}
}

// known returns a stored list. Its caller holds the lock.
func (c *Cleaner) known(tenant, token string) (*List, error) {
	l := c.lists[token]
	if l == nil || l.tenant != tenant || c.Now().Sub(l.at) > maxFor {
		return nil, ErrList
	}
	return l, nil
}

// A looker finds the files of a list on the disk.
type looker struct {
	ctx     context.Context
	list    *List
	ground  *ground
	history *workspace.History
	journal journal.Journal
	tenant  string
	files   int
}

// stay records a file that is not removed.
func (l *List) stay(path, why string) {
	path = cmp.Or(path, ".")
	if len(l.Stays) >= MaxStays {
		l.More++
		return
	}
	l.Stays = append(l.Stays, Stay{Path: path, Why: why})
}

// thing adds the items for one thing that sessions left, under each of its spellings on the disk.
func (l *looker) thing(t leftover.Thing) error {
	rest, below := strings.CutPrefix(t.Path, strings.TrimSuffix(catalog.FoldPath(filepath.ToSlash(l.list.Root)), "/"))
	rest = strings.TrimPrefix(rest, "/")
	switch {
	case !below || strings.Contains("/"+rest+"/", "/.git/") || strings.Contains(rest, "\x00"):
		return nil // outside the folder, one of git's own files, or a commit
	case t.Unnamed:
		l.list.stay(rest, "more was left in it than is kept by name: trust what it was made of ("+leftover.Words(t.Source)+")")
		return nil
	case t.Tree && !workspace.Filled("/"+rest):
		l.list.stay(rest, "anything in it may have been changed: trust what it was made of ("+leftover.Words(t.Source)+")")
		return nil
	}
	names, err := l.ground.spellings(rest)
	if err != nil {
		l.list.stay(rest, reason(err))
		return nil
	}
	if len(names) == 0 && t.Tree { // it was deleted already; listed, so that its label ends
		l.list.Items = append(l.list.Items, Item{Path: rest, Folder: true, Session: t.Session, Source: leftover.Words(t.Source), thing: t})
	}
	for _, name := range names {
		if err := l.item(t, name, len(names) > 1); err != nil {
			return err
		}
	}
	return nil
}

// item adds the item for one spelling of a thing.
func (l *looker) item(t leftover.Thing, name string, several bool) error {
	it := Item{Path: name, Folder: t.Tree, Session: t.Session, Source: leftover.Words(t.Source), thing: t}
	if several {
		it.thing.Versions = nil // the label is on the other spellings, too
	}
	labelled, err := l.labelled(t)
	if err != nil {
		return err
	}
	add := func(f File, links uint64, size int64) error {
		if l.files++; l.files > MaxFiles {
			return fmt.Errorf("%w: there are more than %d files: name a folder in it", ErrFolder, MaxFiles)
		}
		if why := l.keeps(f, t, labelled); why != "" {
			l.list.stay(f.Path, why)
			it.kept++
			return nil
		}
		it.Files, it.Bytes = append(it.Files, f), it.Bytes+size
		if links > 1 {
			it.Linked++
		}
		return nil
	}
	if it.folders, err = l.ground.files(l.ctx, name, add, func(path, why string) { l.list.stay(path, why); it.kept++ }); err != nil {
		return err
	}
	if len(it.Files) > 0 || t.Tree && it.kept == 0 {
		l.list.Items = append(l.list.Items, it)
	}
	return nil
}

// keeps returns why a file must not be removed, or "" if it may be.
func (l *looker) keeps(f File, t leftover.Thing, labelled time.Time) string {
	if l.history != nil {
		rel, err := filepath.Rel(l.history.Root, filepath.Join(l.list.Root, f.Path))
		if err != nil {
			return "it is not known whether git keeps it"
		}
		tracked, err := l.history.Tracks(rel)
		switch {
		case err != nil:
			return "it is not known whether git keeps it: " + reason(err)
		case tracked:
			return "git keeps it: see «floodmark trust --diff»"
		}
	}
	switch {
	case !t.Digest.IsZero() && f.digest != t.Digest:
		return "it is not what the session wrote: it was changed since"
	case labelled.IsZero():
		return "the session that left it was erased, so it is not known whether it was changed since"
	case f.is.changed().After(labelled):
		return "it was changed since the session left it"
	}
	return ""
}

// labelled returns when the newest label of a thing was written, or zero if that is unknown.
func (l *looker) labelled(t leftover.Thing) (at time.Time, err error) {
	for _, v := range t.Versions {
		if v.Seq == 0 {
			return time.Time{}, nil
		}
		found := false
		for e, err := range l.journal.Read(l.ctx, journal.Session{Tenant: l.tenant, ID: v.Session}, v.Seq-1) {
			if err != nil {
				return time.Time{}, err
			}
			if found = e.Seq == v.Seq; found && e.Time().After(at) {
				at = e.Time()
			}
			break
		}
		if !found {
			return time.Time{}, nil
		}
	}
	return at, nil
}

// A Progress says how far a removal has got.
type Progress struct {
	Removed, Left int
	Stays         []Stay
	More          int
}

// Remove removes the next files of a list. The first call names the items to remove. It is called
// again until nothing is left. Each removal is recorded before it is made, and the label of the
// file ends after it.
func (c *Cleaner) Remove(ctx context.Context, tenant, token string, items []int, by string) (Progress, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.known(tenant, token)
	if err != nil {
		return Progress{}, err
	}
	if l.left == nil {
		l.left = []int{}
		for _, i := range items {
			if i < 0 || i >= len(l.Items) || slices.Contains(l.left, i) {
				return Progress{}, ErrList
			}
			l.left = append(l.left, i)
		}
		l.Stays, l.More = nil, 0
	}
	l.at = c.Now()
	g, err := openGround(l.Root)
	if err != nil {
		return Progress{}, fmt.Errorf("%w: %s", ErrFolder, floodmark.Visible(err.Error()))
	}
	defer g.close()
	removed := 0
	for removed < 4*atOnce && len(l.left) > 0 {
		n, err := c.some(ctx, l, &l.Items[l.left[0]], g, by)
		if err != nil {
			return Progress{}, err
		}
		removed += n
		if it := l.Items[l.left[0]]; it.done == len(it.Files) {
			l.left = l.left[1:]
		}
	}
	p := Progress{Removed: removed, Stays: l.Stays, More: l.More}
	for _, i := range l.left {
		p.Left += len(l.Items[i].Files) - l.Items[i].done
	}
	l.Stays, l.More = nil, 0
	return p, nil
}

// some removes the next files of an item.
func (c *Cleaner) some(ctx context.Context, l *List, it *Item, g *ground, by string) (int, error) {
	next := it.Files[it.done:min(it.done+atOnce, len(it.Files))]
	if len(next) > 0 {
		if err := c.write(ctx, l.tenant, leftover.Removing(cleaned(l.Root, next), by)); err != nil {
			return 0, err
		}
	}
	var gone []File
	for _, f := range next {
		if err := g.remove(f); err != nil {
			l.stay(f.Path, reason(err))
			it.kept++
			continue
		}
		gone = append(gone, f)
	}
	it.done += len(next)
	done := cleaned(l.Root, gone)
	var ends []leftover.Thing
	if it.done == len(it.Files) {
		for _, dir := range it.folders {
			g.removeFolder(dir)
		}
		if names, err := g.spellings(it.Path); err == nil && len(names) == 0 {
			ends = append(ends, it.thing)
			if it.Folder {
				done = append(done, floodmark.CleanedFile{Path: filepath.Join(l.Root, it.Path)})
			}
		} else if it.kept == 0 {
			l.stay(it.Path, "something else lies there now")
		}
	}
	if len(done) == 0 {
		return 0, nil
	}
	return len(gone), c.write(ctx, l.tenant, leftover.Removed(done, ends, by))
}

func (c *Cleaner) write(ctx context.Context, tenant string, out kernel.Output) error {
	return c.Monitor.OnFiles(ctx, tenant, func(*kernel.State, kernel.Input) (kernel.Output, error) { return out, nil })
}

func cleaned(root string, files []File) []floodmark.CleanedFile {
	list := make([]floodmark.CleanedFile, len(files))
	for i, f := range files {
		list[i] = floodmark.CleanedFile{Path: filepath.Join(root, f.Path), Digest: f.digest}
	}
	return list
}

// reason returns the text of an error without its path, which is shown anyway.
func reason(err error) string {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		err = at.Err
	}
	return floodmark.Visible(err.Error())
}
