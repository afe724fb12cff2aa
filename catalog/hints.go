package catalog

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// tighten applies a server's claims about its tool, each only where it makes
// the call look worse.
func (j *judge) tighten(h *hook.Hints) {
	if h == nil {
		return
	}
	harmless := !slices.ContainsFunc(j.use.Effects, func(e floodmark.Effect) bool { return e < floodmark.Fetch })
	if harmless && h.ReadOnly != nil && !*h.ReadOnly {
		if h.Destructive != nil && !*h.Destructive {
			j.add(floodmark.Write)
		} else {
			j.add(floodmark.Change)
		}
	}
	if h.Destructive != nil && *h.Destructive && slices.Min(j.use.Effects) > floodmark.Change {
		j.add(floodmark.Change)
	}
	if h.OpenWorld != nil && *h.OpenWorld {
		j.use.Network = true
		j.use.Returns.Trust = min(j.use.Returns.Trust, floodmark.External)
		if slices.Min(j.use.Effects) == floodmark.Observe {
			j.add(floodmark.Fetch)
		}
	}
	if h.Trust != "" {
		t, _ := floodmark.ParseTrust(h.Trust) // a word we do not know is the lowest
		j.use.Returns.Trust = min(j.use.Returns.Trust, t)
	}
	if h.Secrecy != "" {
		s, _ := floodmark.ParseSecrecy(h.Secrecy)
		j.use.Returns.Secrecy = min(j.use.Returns.Secrecy, s)
	}
	j.retighten()
}

// retighten applies the rules on paths to effects, also to those that hints add.
func (j *judge) retighten() {
	if j.guards&isShared != 0 && j.alters() {
		j.add(floodmark.Send)
	}
	if j.guards&(isInstructs|isHidden) != 0 && j.alters() {
		j.use.PathKind = Instructs
		j.use.Instructs = j.use.Instructs || !slices.Contains(j.use.Effects, floodmark.Admin)
		j.add(floodmark.Admin)
	}
	j.protect()
	j.use.Placed = nil
	if j.alters() && !slices.Contains(j.use.Effects, floodmark.Admin) {
		j.use.Placed = slices.DeleteFunc(j.guards.placed(), func(e floodmark.Effect) bool { return slices.Contains(j.use.Effects, e) })
	}
}

// placed are the effects of writing there in a session below Local.
func (g guard) placed() []floodmark.Effect {
	switch {
	case g&(isDotted|isLoaded|isMemory) != 0:
		return []floodmark.Effect{floodmark.Admin}
	case g&isOutside != 0:
		return []floodmark.Effect{floodmark.Change}
	}
	return nil
}
