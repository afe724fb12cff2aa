package contain

import (
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/boxticket"
	"github.com/floodmark/floodmark/internal/redact"
	"github.com/floodmark/floodmark/internal/undo"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// maxCommand is how many bytes of a command are kept, for the owner to know it again.
const maxCommand = 200

// roomFor lets a box work in a room where what it replaces in the project is kept. A box
// that has none, because it runs in its agent's sandbox or the disk does not do, works
// beside its ticket, and nothing is kept.
func (d *Door) roomFor(t *ticket, o *boxticket.Order, s journal.Session, ev hook.Event, line string) {
	if d.cfg.Undo == nil || o.Spec.ReadOnly || sandboxed(ev.Agent) || strings.HasPrefix(d.cfg.Undo.Folder, o.Spec.Project+"/") {
		return
	}
	room, err := d.cfg.Undo.Room(undo.About{
		Tenant: s.Tenant, Session: string(s.ID), Call: string(kernel.CallID(ev.Call)), Project: o.Spec.Project,
		Command: floodmark.OneLine(redact.Without(d.secrets, strings.TrimSpace(line)), maxCommand),
	})
	if err != nil {
		return
	}
	t.room, o.Spec.Folder, o.Spec.Undo = room, room, d.cfg.Undo.Quota
}

// leaveRoom keeps what the box of a room replaced. What cannot be finished now is
// tried again when the monitor starts, and by the next box of the project.
func (d *Door) leaveRoom(room string) {
	if room != "" {
		_ = d.cfg.Undo.Take(room)
	}
}

// Undo is what is kept of what boxes replaced; nil: nothing is.
func (d *Door) Undo() *undo.Store { return d.cfg.Undo }
