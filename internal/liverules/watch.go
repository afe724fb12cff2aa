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

	"github.com/floodmark/floodmark/internal/config"
)

// settle is how long a file must be left alone before it is read: editors
// write in several steps.
const settle = 200 * time.Millisecond

// Watch reloads whenever the file changes, until ctx ends, and if it changed before it was watched.
// It watches the folder, because editors replace files, and makes the folder if it is missing: the
// first policy may be written there later.
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

// follow reloads when it hears of a change, and when it may have missed one.
func (l *Live) follow(ctx context.Context, log *slog.Logger, events <-chan fsnotify.Event, errs <-chan error) {
	quiet, touched := time.NewTimer(settle), false // it may have changed since it was read first
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
			quiet.Reset(settle) // too much happened at once: this may have been in it
		}
	}
}

// behind reports whether the file differs from what holds. It compares the bytes that were read: a
// time or a size tells less. It does not compare rules of a fleet, nor refused ones: they are read
// again.
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
