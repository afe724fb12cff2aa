package contain

import (
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/box/boxticket"
	"github.com/floodmark/floodmark/internal/box/boxwrites"
	"github.com/floodmark/floodmark/internal/project/undo"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// maxCommand is how many bytes of a command are kept, so that the owner recognizes it.
const maxCommand = 200

// roomFor gives a box a room, a folder in which what it replaces in the project is kept. A box gets
// none if its agent's sandbox cannot write there or the disk does not support it. It then works
// beside its ticket, and adopt takes what it replaced from there.
func (d *Door) roomFor(t *ticket, o *boxticket.Order, s journal.Session, ev hook.Event, line string) {
	if d.cfg.Undo == nil || o.Spec.ReadOnly {
		return
	}
	about := undo.About{
		Tenant: s.Tenant, Session: string(s.ID), Call: string(kernel.CallID(ev.Call)), Project: o.Spec.Project,
		Command: floodmark.OneLine(redact.Without(d.secrets, strings.TrimSpace(line)), maxCommand),
	}
	o.Spec.Undo = d.cfg.Undo.Quota
	if !sandboxed(ev.Agent) && !strings.HasPrefix(d.cfg.Undo.Folder, o.Spec.Project+"/") {
		if room, err := d.cfg.Undo.Room(about); err == nil {
			t.room, o.Spec.Folder, o.Spec.Undo = room, room, undo.Reach*d.cfg.Undo.Quota
			return
		}
	}
	t.about = &about
}

// adopt keeps what was replaced by a box that worked beside its ticket. Other processes can write
// there, so only the box's own sealed report is believed.
func (d *Door) adopt(t ticket, o *boxticket.Outcome, said undo.Said) {
	if t.about != nil && o != nil {
		t.about.Said = said
		_ = d.cfg.Undo.Adopt(*t.about, d.cfg.Desk.Space(t.name), o.Kept) // what cannot be kept is not undone
	}
}

// unfinished reports whether a box that worked beside its ticket was killed while it moved files
// into the project. The next box of the project finishes the move. The monitor does not, because it
// has more rights than the processes that can write there.
func (d *Door) unfinished(t ticket) bool {
	return t.about != nil && (&boxwrites.Writes{Folder: d.cfg.Desk.Space(t.name)}).Pending()
}

// leaveRoom keeps what the box of a room replaced. A room that cannot be finished now is retried
// when the monitor starts, and by the next box of the project.
func (d *Door) leaveRoom(room string, said undo.Said) {
	if room != "" {
		_ = d.cfg.Undo.Take(room, said)
	}
}

// Undo returns the store of what boxes replaced; nil: nothing is kept.
func (d *Door) Undo() *undo.Store { return d.cfg.Undo }
