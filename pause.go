package floodmark

import "time"

// MaxPause is the longest time an owner can pause for: a working day. For more, the owner pauses
// again, and is shown again what the pause lets through.
const MaxPause = 8 * time.Hour

// MaxObserve is the longest time an owner can only observe for: long enough for a working week and
// the days around it, too short to be forgotten.
const MaxObserve = 14 * 24 * time.Hour

// A Pause is a time in which the owner wants no prompts: decisions are recorded and not enforced,
// except those that no pause lifts. The zero Pause never holds.
type Pause struct {
	// Observe says that the owner evaluates first: nothing is held or boxed, not even a secret on
	// its way out, except what would switch off the monitor or start agents without it. Without
	// Observe, boxes and secrets are handled as usual.
	Observe bool `json:"observe,omitempty"`
	// Session is the only one it applies to; empty means all of a tenant.
	Session SessionID `json:"session,omitempty"`
	// From and Until are its limits. Setting a clock back to before From ends the pause, and no
	// clock makes it longer than [Pause.Most].
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

// Same reports whether two are the same pause.
func (p Pause) Same(o Pause) bool {
	return p.Observe == o.Observe && p.Session == o.Session && p.From.Equal(o.From) && p.Until.Equal(o.Until)
}

// PauseBegan says that the owner paused. It is among the monitor's own facts, and in every session
// that decided something during the pause.
type PauseBegan struct {
	Pause
}

// PauseEnded says that a pause is over, and how many decisions would otherwise have asked or
// refused.
type PauseEnded struct {
	// Session is the one that was paused; empty means all of a tenant.
	Session SessionID `json:"session,omitempty"`
	Why     string    `json:"why"`
	By      string    `json:"by,omitempty"`
	// Asked and Refused count over all its sessions. They are set only in the monitor's own
	// session, for an expired pause.
	Asked   int `json:"asked,omitempty"`
	Refused int `json:"refused,omitempty"`
}
