package pushdoor

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/box/boxgit"
	"github.com/floodmark/floodmark/internal/box/gitpush"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// Open returns the Door of the machine that agents work on. It reviews nothing if the monitor has
// no disk, or no owner's home with the logins for remotes.
func Open(
	hooks agents.Hooks, view func(ctx context.Context, s journal.Session) (monitor.View, error), disk *workspace.Disk, paths config.Paths, now func() time.Time,
) *Door {
	cfg := Config{Hooks: hooks, View: view, Now: now}
	folder := filepath.Join(filepath.Dir(paths.Proofs), "pushes")
	if disk == nil || paths.Home == "" || !filepath.IsAbs(folder) || os.MkdirAll(folder, 0o700) != nil {
		return New(cfg)
	}
	left, _ := filepath.Glob(filepath.Join(folder, "push-*")) // left by a monitor that was killed
	for _, copied := range left {
		_ = os.RemoveAll(copied) // a copy that cannot be removed does no harm
	}
	cfg.Look = disk.Push
	cfg.Git = gitpush.Config{Git: boxgit.Find(), Folder: folder, Home: paths.Home}
	for _, name := range []string{"SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} {
		if value, is := os.LookupEnv(name); is {
			cfg.Git.Environ = append(cfg.Git.Environ, name+"="+value)
		}
	}
	return New(cfg)
}
