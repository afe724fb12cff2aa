package floodmark

import "time"

// MaxPause is the longest time an owner can pause for: a working day. For more, the owner pauses
// again, and is shown again what the pause lets through.
const MaxPause = 8 * time.Hour

// MaxObserve is the longest time an owner can only observe for: long enough for a
// working week with the days around it, too short to be forgotten.
const MaxObserve = 14 * 24 * time.Hour

// A Pause is a time in which the owner wants to be left alone: what is decided
// is written down and not enforced, besides what no pause lifts. The zero Pause
// never holds.
type Pause struct {
	// Observe says that the owner looks before he trusts: nothing is held and nothing is
	// boxed, also no secret on its way out, besides what would switch off the monitor or
	// start agents without it. Without it a pause leaves boxes and secrets as they are.
	Observe bool `json:"observe,omitempty"`
	// Session is the only one it is for; empty means all of a tenant.
	Session SessionID `json:"session,omitempty"`
	// From and Until are what was promised. A clock that was set back to before
	// From ends the pause, and no clock makes it longer than [Pause.Most].
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// By and Channel say who paused, and where.
	By      string `json:"by,omitempty"`
	Channel string `json:"channel,omitempty"`
}

// Holds reports whether the pause holds at a time.
func (p Pause) Holds(at time.Time) bool {
	return !at.Before(p.From) && at.Before(p.Until) && p.Until.Sub(p.From) <= p.Most()
}

// Most is the longest that a pause of this kind holds.
func (p Pause) Most() time.Duration {
	if p.Observe {
		return MaxObserve
	}
	return MaxPause
}

// Same reports whether two are one and the same pause.
func (p Pause) Same(o Pause) bool {
	return p.Observe == o.Observe && p.Session == o.Session && p.From.Equal(o.From) && p.Until.Equal(o.Until)
}

// PauseBegan says that the owner paused. It stands among the monitor's own
// facts, and in every session that decided something under it.
type PauseBegan struct {
	Pause
}

// PauseEnded says that a pause is over, and what it let through that would have
// been asked about or refused.
type PauseEnded struct {
	// Session is the one that was paused; empty means all of a tenant.
	Session SessionID `json:"session,omitempty"`
	Why     string    `json:"why"`
	By      string    `json:"by,omitempty"`
	// Asked and Refused are counted over all its sessions, in the monitor's own
	// session and only of a pause whose time was over.
	Asked   int `json:"asked,omitempty"`
	Refused int `json:"refused,omitempty"`
}
