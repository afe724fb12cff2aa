package contain

import (
	"context"
	"maps"
	"slices"

	"github.com/floodmark/floodmark/internal/box/boxticket"
	"github.com/floodmark/floodmark/journal"
)

// believes reports whether a box may be offered in a session.
func (d *Door) believes(ctx context.Context, s journal.Session) bool {
	d.mu.Lock()
	b, looked := d.known[s]
	room := d.room()
	d.mu.Unlock()
	if !looked {
		fell, err := d.cfg.Fell(ctx, s)
		if err != nil {
			return false
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if len(d.known) >= maxKnown {
			clear(d.known) // the journal has what matters
		}
		b = d.known[s]
		b.fell = b.fell || fell
		d.known[s] = b
	}
	return room && !b.fell && !d.cfg.Now().Before(b.unfit)
}

// room reports whether one more call can be remembered. The caller holds the lock.
func (d *Door) room() bool {
	if len(d.open) < maxOpen {
		return true
	}
	old := d.cfg.Now().Add(-forgotten)
	maps.DeleteFunc(d.open, func(_ call, list []ticket) bool { return list[len(list)-1].at.Before(old) })
	return len(d.open) < maxOpen
}

// fall notes that a session's boxes are no longer relied on.
func (d *Door) fall(s journal.Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.known[s]
	b.fell = true
	d.known[s] = b
}

// unfit gives a session no box for a while.
func (d *Door) unfit(s journal.Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.known[s]
	b.unfit = d.cfg.Now().Add(unfitFor)
	d.known[s] = b
}

// alone reports whether no other box uses the /tmp of a session or may start to use it: two that
// run at once could pass each other open files.
func (d *Door) alone(s journal.Session) bool {
	d.mu.Lock()
	var list []ticket
	for c, of := range d.open {
		if c.session == s {
			list = append(list, of...)
		}
	}
	list = slices.Concat(list, d.late[s], d.late[journal.Session{}])
	d.mu.Unlock()
	return !slices.ContainsFunc(list, func(t ticket) bool {
		if !t.shares && !t.earlier {
			return false
		}
		state, _, err := d.cfg.Desk.Read(t.name)
		return err != nil && !t.earlier || state == boxticket.Running || state == boxticket.Unredeemed && d.cfg.Now().Sub(t.at) < life
	})
}

// ranOn notes that a box keeps running though its call is over.
func (d *Door) ranOn(s journal.Session, t ticket) {
	if !t.shares {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.late) >= maxOpen {
		clear(d.late)
	}
	over := func(t ticket) bool {
		state, _, err := d.cfg.Desk.Read(t.name)
		return err == nil && state != boxticket.Running
	}
	d.late[s] = append(slices.DeleteFunc(d.late[s], over), t)
}

// take returns the tickets of a call whose result is here.
func (d *Door) take(c call) []ticket {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.open[c]
	delete(d.open, c)
	return list
}

// giveBack keeps tickets that a later result may belong to.
func (d *Door) giveBack(c call, list []ticket) {
	if len(list) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	list = append(d.open[c], list...)
	d.open[c] = list
	for i := range list { // if two have the same id, it is unknown which of them wrote what
		for j := range list {
			list[i].twice = list[i].twice || i != j && list[i].id == list[j].id
		}
	}
}

// refuse notes that this package refused a call, and with which line.
func (d *Door) refuse(c call, line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.refused) >= maxOpen {
		clear(d.refused)
	}
	d.refused[c] = line
}

// wasRefused returns the line with which this package refused a call, and forgets it; empty if it
// refused none.
func (d *Door) wasRefused(c call) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	line := d.refused[c]
	delete(d.refused, c)
	return line
}

// firstRepeat reports whether this is the first call of a session that repeats the command of a
// box.
func (d *Door) firstRepeat(s journal.Session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.repeated) >= maxKnown {
		clear(d.repeated)
	}
	first := !d.repeated[s]
	d.repeated[s] = true
	return first
}

// ended calls Config.Ended if none of the session's calls is under way.
func (d *Door) ended(s journal.Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.open {
		if c.session == s {
			return
		}
	}
	if d.cfg.Ended != nil {
		d.cfg.Ended(s)
	}
}
