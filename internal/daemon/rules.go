package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/verify"
)

// live are the rules in force. A file that is wrong changes nothing: the old
// rules stay, and what is wrong with the new ones is kept for whoever asks.
type live struct {
	file string
	own  func() (*catalog.File, error) // where this installation lies
	now  func() time.Time
	// gates are those of service.yaml, which holds until the daemon ends.
	gates verify.Gates
	// changed is told of every try, after it.
	changed func(rulesStatus)

	mu     sync.Mutex // guards status
	status rulesStatus
}

// A rulesStatus is which rules hold, and what became of the last try.
type rulesStatus struct {
	rules  config.Rules
	loaded time.Time
	// refused is why the file as it lies there does not hold; nil if it does.
	refused error
	fresh   bool // the last try brought other rules
}

// newLive loads the rules for the first time. With wrong rules there is no
// daemon to begin with: better none than one with rules nobody wrote.
func newLive(p config.Paths, now func() time.Time) (*live, error) {
	r, err := loadRules(p.Policy, p.Guarded)
	if err != nil {
		return nil, err
	}
	return &live{file: p.Policy, own: p.Guarded, now: now, changed: func(rulesStatus) {}, status: rulesStatus{rules: r, loaded: now(), fresh: true}}, nil
}

// loadRules reads the rules, and looks again where this installation lies: agents
// may have been connected since.
func loadRules(file string, own func() (*catalog.File, error)) (config.Rules, error) {
	places, err := own()
	if err != nil {
		return config.Rules{}, err
	}
	return config.LoadRules(file, places)
}

// rules returns those in force.
func (l *live) rules() kernel.Rules {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.status.rules.Rules
	r.Gates = l.gates
	return r
}

func (l *live) current() rulesStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// reload reads the file again.
func (l *live) reload() rulesStatus {
	r, err := loadRules(l.file, l.own)
	l.mu.Lock()
	before := l.status
	if err == nil && r.File == "" && before.rules.File != "" {
		err = fmt.Errorf("%s is gone: what it said stays in force (write «version: 1» to it if you want the shipped profile)", before.rules.File)
	}
	switch {
	case err != nil:
		l.status.refused, l.status.fresh = err, false
	case r.Policy.Hash() == before.rules.Policy.Hash() && r.Catalog.Hash() == before.rules.Catalog.Hash():
		l.status.refused, l.status.fresh, l.status.rules.File = nil, false, r.File
	default:
		l.status = rulesStatus{rules: r, loaded: l.now(), fresh: true}
	}
	after := l.status
	l.mu.Unlock()
	l.changed(after)
	return after
}

// problems are what is wrong with the file as it lies there.
func (s rulesStatus) problems() floodmark.Problems {
	if found, ok := errors.AsType[floodmark.Problems](s.refused); ok {
		return found
	}
	if s.refused != nil {
		return floodmark.Problems{{File: s.rules.File, Line: 1, Column: 1, Severity: floodmark.Error, Code: "unreadable", Text: s.refused.Error()}}
	}
	return s.rules.Warnings
}

// settle is how long a file must be left alone before it is read: editors
// write in several steps.
const settle = 200 * time.Millisecond

// watch reloads whenever the file changes, until ctx ends. It watches the
// folder, because editors replace files, so it makes the folder: the first
// policy is written there later.
func (l *live) watch(ctx context.Context, log *slog.Logger) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the policy: %w", err)
	}
	defer w.Close()
	folder := filepath.Dir(l.file)
	if err := errors.Join(os.MkdirAll(folder, 0o700), w.Add(folder)); err != nil {
		log.Warn("the policy is not watched: say «floodmark policy reload» after a change", "folder", folder)
		<-ctx.Done()
		return nil
	}
	quiet := time.NewTimer(settle) // it may have changed since it was read first
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev := <-w.Events:
			if filepath.Base(ev.Name) == filepath.Base(l.file) {
				quiet.Reset(settle)
			}
		case <-quiet.C:
			l.reload()
		case err := <-w.Errors:
			log.Warn("watch the policy", "error", err)
		}
	}
}
