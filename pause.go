package floodmark

import "time"

// MaxPause is the longest time an owner can pause for: a working day. To pause for longer, the
// owner must pause again, and is then shown again what the pause lets through.
const MaxPause = 8 * time.Hour

// MaxObserve is the longest time an owner can only observe for: long enough for a working week and
// the days around it, too short to be forgotten.
const MaxObserve = 14 * 24 * time.Hour

// A Pause is a time in which the owner wants no prompts. Decisions are recorded and not enforced,
// except those that a pause cannot switch off. The zero Pause is never in effect.
type Pause struct {
	// Observe says that the owner only evaluates the monitor. Nothing is held or boxed, not even a
	// secret that is sent out, except calls that would switch off the monitor or start agents
	// without it. Without Observe, boxes and secrets are handled as usual.
	Observe bool `json:"observe,omitempty"`
	// Session is the only session the pause applies to; empty means all sessions of a tenant.
	Session SessionID `json:"session,omitempty"`
	// From and Until are its limits. A clock that is set back to before From ends the pause, and a
	// pause longer than [Pause.Most] is never in effect.
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// By and Channel say who paused, and where.
	By      string `json:"by,omitempty"`
	Channel string `json:"channel,omitempty"`
}

// Holds reports whether the pause is in effect at a time.
func (p Pause) Holds(at time.Time) bool {
	return !at.Before(p.From) && at.Before(p.Until) && p.Until.Sub(p.From) <= p.Most()
}

// Most returns the longest time that a pause of this kind can be in effect.
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

// PauseBegan says that the owner paused. It is recorded in the monitor's own session and in every
// session in which something was decided during the pause.
type PauseBegan struct {
	Pause
}

// PauseEnded says that a pause is over, and how many decisions would otherwise have asked or
// refused.
type PauseEnded struct {
	// Session is the session that was paused; empty means all sessions of a tenant.
	Session SessionID `json:"session,omitempty"`
	Why     string    `json:"why"`
	By      string    `json:"by,omitempty"`
	// Asked and Refused count over all sessions of the pause. They are set only if the pause had
	// expired, and only in the copy of this fact in the monitor's own session.
	Asked   int `json:"asked,omitempty"`
	Refused int `json:"refused,omitempty"`
}
