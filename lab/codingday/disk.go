package codingday

import (
	"context"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// A pastDisk is what was on the recorded machine's disk while a trace was recorded.
type pastDisk struct {
	git     map[string]Git       // by their folder
	changed map[string]time.Time // when each path was last changed
	there   map[string]bool      // the files that are there
	// vouched are commits by others that the owner trusts.
	vouched map[string]bool
}

// newPastDisk returns the disk of a trace. Unless it is the first day, the owner trusts everything
// that was checked out before the trace began.
func newPastDisk(t *Trace, firstDay bool) *pastDisk {
	d := &pastDisk{git: map[string]Git{}, changed: map[string]time.Time{}, there: map[string]bool{}, vouched: map[string]bool{}}
	for _, g := range t.Events[0].Git {
		for _, commit := range g.Log {
			d.vouched[commit] = !firstDay
		}
	}
	return d
}

// reach applies the changes on disk that came before an event.
func (d *pastDisk) reach(e Event, at time.Time) {
	for path, hash := range e.Files {
		d.changed[path], d.there[path] = at, hash != ""
	}
	for _, g := range e.Git {
		d.git[g.Root] = g
	}
}

// Around returns the checkout that a path is in. It is the owner's own if each of its commits is
// the owner's or trusted.
func (d *pastDisk) Around(path string) (artifact.Checkout, bool) {
	root := ""
	for folder := range d.git {
		if len(folder) > len(root) && (path == folder || strings.HasPrefix(path, folder+"/")) {
			root = folder
		}
	}
	if root == "" {
		return artifact.Checkout{}, false
	}
	g := d.git[root]
	c := artifact.Checkout{Root: root, Own: true, Remote: g.Remote}
	for _, commit := range g.Log {
		if hash, author, _ := strings.Cut(commit, " "); author != g.Owner && !d.vouched[commit] {
			c.Own, c.Commit = false, hash
			break
		}
	}
	return c, true
}

// Revisions returns nil: a recording has only the commits that are checked out.
func (d *pastDisk) Revisions(string, []string) []artifact.Checkout { return nil }

// Pushes returns the digest of the remote that a push goes to.
func (d *pastDisk) Pushes(path, _ string) floodmark.Digest {
	c, ok := d.Around(path)
	if !ok || c.Remote == "" {
		return floodmark.Digest{}
	}
	return floodmark.DigestOf(c.Remote)
}

// Databases returns nil: the content of files was not recorded.
func (d *pastDisk) Databases(string) []string { return nil }

// Composes returns false: this was not recorded.
func (d *pastDisk) Composes(string) bool { return false }

// Secrets returns the files that contain secrets, judged by their names. The content of files was
// not recorded, except the remotes in git's settings.
func (d *pastDisk) Secrets(s artifact.Search) artifact.Hoard {
	h := artifact.Hoard{Whole: true}
	for path, there := range d.there {
		switch k := s.Keeps(path); {
		case !there || k == redact.KeepsNone || !catalog.Reaches(s.Folder, path):
		case strings.HasSuffix(path, "/.git/config"):
			if prints := s.Prints(path, "url = "+d.git[strings.TrimSuffix(path, "/.git/config")].Remote); len(prints) > 0 {
				h.Files = append(h.Files, artifact.Keeper{Path: path, Prints: prints})
			}
		case k == redact.KeepsSecrets:
			h.Files = append(h.Files, artifact.Keeper{Path: path})
		default:
			h.Whole = false
		}
	}
	return h
}

// Repository returns where git keeps its files for a path.
func (d *pastDisk) Repository(path string) (dir, common string) {
	c, ok := d.Around(path)
	if !ok {
		return "", ""
	}
	return c.Root + "/.git", c.Root + "/.git"
}

// Nested returns the recorded checkouts below a folder.
func (d *pastDisk) Nested(folder string) (folders []string, all bool) {
	for root := range d.git {
		if strings.HasPrefix(root, strings.TrimSuffix(folder, "/")+"/") {
			folders = append(folders, root)
		}
	}
	return folders, true
}

// Content returns no digest: the content of files was not recorded.
func (d *pastDisk) Content(string) floodmark.Digest { return floodmark.Digest{} }

// Exactly returns no digest, and Head no text: neither was recorded.
func (d *pastDisk) Exactly(string) floodmark.Digest { return floodmark.Digest{} }
func (d *pastDisk) Head(string) string              { return "" }

// Starts returns nil: hooks were not recorded.
func (d *pastDisk) Starts(string, []string) []string { return nil }

// Links returns nil: links were not recorded.
func (d *pastDisk) Links(string, bool) map[string]string { return nil }

// Missing returns false: this was not recorded.
func (d *pastDisk) Missing(string) bool { return false }

// Resolve returns the path itself, because links were not recorded.
func (d *pastDisk) Resolve(path string) string { return path }

// Steers returns nothing: the content of files was not recorded.
func (d *pastDisk) Steers(string) (string, floodmark.Digest) { return "", floodmark.Digest{} }

// Changed returns which files below a folder were changed since a time.
func (d *pastDisk) Changed(_ context.Context, folder string, since time.Time) artifact.Altered {
	found := artifact.Altered{Whole: true}
	for path, at := range d.changed {
		if !at.Before(since) && strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/") {
			found.Paths = append(found.Paths, path)
		}
	}
	return found
}
