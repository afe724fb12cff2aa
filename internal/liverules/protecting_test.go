package liverules

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/config"
)

// What «floodmark protect» announced and did is nobody else's change. All else is, also
// within the same minute.
func TestWhatProtectAnnounced(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		moved, silent bool
		late          time.Duration
		want          bool
	}{
		"its rules where there were none": {after: config.CodingPolicy, want: true},
		"at the end of the minute":        {after: config.CodingPolicy, late: protectTime - 1, want: true},
		"after the minute":                {after: config.CodingPolicy, late: protectTime},
		"unannounced":                     {after: config.CodingPolicy, silent: true},
		"other rules":                     {after: lax},
		"with a line more":                {after: config.CodingPolicy + "flows: {off: [flow-secret]}\n"},
		"in place of the owner's":         {before: strict, after: config.CodingPolicy},
		"other places":                    {before: strict, after: strict, moved: true, want: true},
		"other places, unannounced":       {before: strict, after: strict, moved: true, silent: true},
		"other places and other rules":    {before: strict, after: lax, moved: true},
	} {
		t.Run(name, func(t *testing.T) {
			r, at := enter(t, c.before, nil), now()
			r.opts.Now = func() time.Time { return at }
			if !c.silent {
				r.Protecting()
			}
			r.moved.Store(c.moved)
			at = at.Add(c.late)
			r.write(t, c.after)
			if s := r.Reload(); !s.Fresh || s.Announced != c.want {
				t.Errorf("fresh %v, announced %v", s.Fresh, s.Announced)
			}
		})
	}
}
