package liverules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/floodmark/floodmark/internal/setup/config"
)

// settle is how long a file must be unchanged before it is read, because editors write in several
// steps.
const settle = 200 * time.Millisecond

// Watch reloads the rules whenever the file changes, until ctx ends. It also reloads if the file
// changed before Watch was called. It watches the folder, because editors replace files, and
// creates the folder if it is missing, because the first policy may be written there later.
func (l *Live) Watch(ctx context.Context, log *slog.Logger) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the policy: %w", err)
	}
	defer w.Close()
	folder := filepath.Dir(l.opts.File)
	if err := errors.Join(os.MkdirAll(folder, 0o700), w.Add(folder)); err != nil {
		log.Warn("the policy is not watched: say «floodmark policy reload» after a change", "folder", folder)
		<-ctx.Done()
		return nil
	}
	l.follow(ctx, log, w.Events, w.Errors)
	return nil
}

// follow reloads after an event for the file, and if it may have missed one.
func (l *Live) follow(ctx context.Context, log *slog.Logger, events <-chan fsnotify.Event, errs <-chan error) {
	quiet, touched := time.NewTimer(settle), false // the file may have changed since New read it
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-events:
			if filepath.Base(ev.Name) == filepath.Base(l.opts.File) {
				touched = true
				quiet.Reset(settle)
			}
		case <-quiet.C:
			if touched || l.behind() {
				l.Reload()
			}
			touched = false
		case err := <-errs:
			log.Warn("watch the policy", "error", err)
			quiet.Reset(settle) // events were lost, and one for the file may have been among them
		}
	}
}

// behind reports whether the rules must be loaded again: if the text of the file or the files of
// the installation differ from those in force. It compares the whole text, because times and sizes
// can be equal. It always returns true if a fleet's rules are in force or the last file was
// refused.
func (l *Live) behind() bool {
	l.loading.Lock()
	defer l.loading.Unlock()
	l.mu.Lock()
	fleet, held, places := l.fleet, l.status, l.places
	l.mu.Unlock()
	if fleet != nil || held.Refused != nil {
		return true
	}
	text, err := config.ReadPolicy(l.opts.File)
	if err != nil || (text == nil) != (held.Rules.Text == nil) || !bytes.Equal(text, held.Rules.Text) {
		return true
	}
	own, err := l.opts.Own()
	return err != nil || own.Hash() != places
}
