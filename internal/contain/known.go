package contain

import (
	"context"
	"maps"

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

// fall ends the belief in boxes of a session.
func (d *Door) fall(s journal.Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.known[s]
	b.fell = true
	d.known[s] = b
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
	d.open[c] = append(d.open[c], list...)
}

// refuse notes that a call was refused here.
func (d *Door) refuse(c call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.refused) >= maxOpen {
		clear(d.refused)
	}
	d.refused[c] = d.cfg.Now()
}

// wasRefused reports whether a call was refused here, once.
func (d *Door) wasRefused(c call) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, was := d.refused[c]
	delete(d.refused, c)
	return was
}

// ended tells that a session is over, if none of its calls is under way.
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
