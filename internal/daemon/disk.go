package daemon

import (
	"github.com/floodmark/floodmark/internal/workspace"
	"github.com/floodmark/floodmark/monitor"
)

// disk is the one agents work on, if that is ours: agents on the network work
// on other machines, and a daemon with a user of its own may not look.
func (d *Daemon) disk() monitor.Disk {
	if d.opts.Paths.Home == "" || len(d.opts.Service.Listen) > 0 {
		return nil
	}
	return workspace.New(workspace.Options{Home: d.opts.Paths.Home})
}
