package monitor

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// A Disk is the disk of the machine that the agents run on. It limits how much it looks at, and
// its results say if it could not look at everything.
type Disk interface {
	artifact.Disk
	// Changed returns which files below a folder were changed since a time.
	Changed(ctx context.Context, folder string, since time.Time) artifact.Altered
	// Steers returns the file with git's settings for a folder, and a digest of its content. The
	// digest leaves out which remote branch each branch follows. It is zero if the content is
	// unknown.
	Steers(folder string) (file string, says floodmark.Digest)
}

// maxWatches bounds the calls running code whose changes are tracked at the same time. If a call is
// dropped, everything in its folder is taken to be changed.
const maxWatches = 4096

// watches are the calls that run code now.
type watches struct {
	mu  sync.Mutex // guards all
	all map[watchName]watch
}

type watchName struct {
	session journal.Session
	call    floodmark.CallID
}

type watch struct {
	folder string
	since  time.Time
	// steers is the digest of git's settings when the call began.
	steers floodmark.Digest
}

func newWatches() *watches { return &watches{all: map[watchName]watch{}} }

// begin records that a call starts to run code.
func (w *watches) begin(s journal.Session, c floodmark.CallID, run watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.all {
		if len(w.all) < maxWatches {
			break
		}
		delete(w.all, name)
	}
	w.all[watchName{s, c}] = run
}

// end returns what begin recorded for a call, once.
func (w *watches) end(s journal.Session, c floodmark.CallID) (watch, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := watchName{s, c}
	found, ok := w.all[name]
	delete(w.all, name)
	return found, ok
}

// watchMargin is subtracted from the time a call began when its changes are looked up, because file
// systems round times.
const watchMargin = 2 * time.Second

// altered returns what a call changed on the disk; nil if the disk was not watched.
func (m *Monitor) altered(ctx context.Context, s journal.Session, ev hook.Event) *artifact.Altered {
	if m.cfg.Disk == nil || ev.Point != hook.AfterToolCall {
		return nil
	}
	w, ok := m.watches.end(s, kernel.CallID(ev.Call))
	if !ok {
		return nil
	}
	found := m.cfg.Disk.Changed(ctx, w.folder, w.since.Add(-watchMargin))
	// Git writes its settings whenever a branch begins to follow a remote branch. That alone is
	// no change.
	if file, says := m.cfg.Disk.Steers(w.folder); says == w.steers && !says.IsZero() {
		found.Paths = slices.DeleteFunc(found.Paths, func(p string) bool { return p == file })
	}
	return &found
}
