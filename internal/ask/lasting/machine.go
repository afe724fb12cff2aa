package lasting

import (
	"context"
	"path/filepath"
	"time"

	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// fileOf returns the path of the file.
func fileOf(paths config.Paths) string {
	return filepath.Join(filepath.Dir(paths.Proofs), "lasting.json")
}

// Open returns a Door in front of hooks, or hooks itself for a monitor without a disk, which then
// finds no grants of other sessions.
func Open(
	hooks agents.Hooks, view func(ctx context.Context, s journal.Session) (monitor.View, error), disk *workspace.Disk, paths config.Paths, now func() time.Time,
) agents.Hooks {
	if disk == nil || paths.Proofs == "" {
		return hooks
	}
	return &Door{
		Hooks: hooks, File: fileOf(paths), View: view,
		Resolve: disk.Resolve, Identity: workspace.Identity, Now: now,
	}
}
