package contain

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/mirror"
	"github.com/floodmark/floodmark/internal/box/mirrordesk"
	"github.com/floodmark/floodmark/internal/box/mirrorfetch"
	"github.com/floodmark/floodmark/internal/format/lockfile"
	"github.com/floodmark/floodmark/journal"
)

// wants fills in the lock file by which a call would install packages, if its box could have the
// packages that are pinned there.
func (d *Door) wants(ctx context.Context, s journal.Session, ev *hook.Event, line string) (w mirrordesk.Want) {
	if d.cfg.Packages == nil || !ev.Holes {
		return w
	}
	if _, is := lockfile.Installs(line); !is { // most lines install nothing, and then the session need not be read
		return w
	}
	project, err := d.cfg.Project(ctx, s)
	if err != nil || project == "" {
		return w
	}
	w, ok := d.cfg.Packages.Wants(project, line)
	if ok {
		ev.Locks = []string{w.Lock}
	}
	return w
}

// ready returns the mirror of a call's box, or the line that its agent is shown instead. If both
// are empty the box runs without a mirror.
func (d *Door) ready(ctx context.Context, w mirrordesk.Want) (m box.Mirror, line string) {
	m, err := d.cfg.Packages.Ready(ctx, w)
	switch {
	case err == nil:
		return m, ""
	case errors.Is(err, mirrordesk.ErrLater):
		return box.Mirror{}, "nothing runs yet: " + err.Error() + ". Make the same call again in a moment."
	case !w.Fetches:
		return box.Mirror{}, "" // the command may work without the mirror
	}
	return box.Mirror{}, "nothing runs, because the mirror has not all that the lock file pins: " + floodmark.OneLine(err.Error(), maxWhy) +
		". Make the call again, in a line of its own: then it is tried without the mirror, or a person is asked."
}

// didNotRun tells the monitor that a call which it allowed was not made, so that no files are
// recorded as written by it. It tells the agent why.
func (d *Door) didNotRun(ctx context.Context, s journal.Session, ev hook.Event, line string) (hook.Reply, error) {
	d.refuse(call{s, ev.Call.ID}, line)
	ev.Point, ev.Locks, ev.Result, ev.Box = hook.AfterToolCall, nil, hook.Result{Text: line}, &hook.BoxEnd{State: floodmark.BoxRefused}
	_, err := d.cfg.Hooks.Handle(ctx, s.Tenant, ev)
	return hook.Reply{Line: line}, err
}

// packages returns the desk that fetches what projects pin; nil: boxes get no packages.
func (m Machine) packages() *mirrordesk.Desk {
	if m.Registries == nil {
		return nil
	}
	from := *m.Registries
	from.Private = append(from.Private, mirrordesk.Private(m.Paths.Home, os.Getenv)...)
	// The names that npm and PyPI use for this machine's processor.
	cpu, machine := runtime.GOARCH, runtime.GOARCH
	switch runtime.GOARCH {
	case "amd64":
		cpu, machine = "x64", "x86_64"
	case "arm64":
		machine = "aarch64"
	}
	return &mirrordesk.Desk{
		Fetcher: &mirrorfetch.Fetcher{
			Store: mirror.Store{Folder: filepath.Join(m.Disk.Resolve(filepath.Dir(m.Paths.Proofs)), "packages"), Quota: mirror.Quota},
			From:  from, Machine: machine, Now: m.Now,
		},
		Home: m.Paths.Home, Host: lockfile.Host{OS: runtime.GOOS, CPU: cpu, Libc: "glibc", Registry: from.Npm}, Now: m.Now, Wait: mirrordesk.Wait,
	}
}

// project returns the project of a session, with its links resolved.
func (m Machine) project(ctx context.Context, s journal.Session) (string, error) {
	v, err := m.View(ctx, s)
	if err != nil || v.State.Project == "" {
		return "", err
	}
	return m.Disk.Resolve(v.State.Project), nil
}
