package liverules

import (
	"os"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/setup/config"
)

// A change that "floodmark protect" announced and made is reported as announced. Any other change
// is not, even within the same minute.
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

// Only a policy that protect wrote may be removed: the shipped profile asks more than that policy,
// but perhaps less than a policy of the owner.
func TestUnprotecting(t *testing.T) {
	for name, c := range map[string]struct {
		before       string
		silent, want bool
		late         time.Duration
	}{
		"its rules":              {before: config.CodingPolicy, want: true},
		"its rules, unannounced": {before: config.CodingPolicy, silent: true},
		"its rules, too late":    {before: config.CodingPolicy, late: protectTime},
		"the owner's":            {before: "version: 1\nprofile: strict\n"},
		"its rules, edited":      {before: config.CodingPolicy + "# mine\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r, at := enter(t, c.before, nil), now()
			r.opts.Now = func() time.Time { return at }
			if !c.silent {
				r.Protecting()
			}
			at = at.Add(c.late)
			if err := os.Remove(r.file); err != nil {
				t.Fatal(err)
			}
			s := r.Reload()
			if s.Fresh != c.want || s.Announced != c.want || (s.Refused == nil) != c.want || (s.Rules.File == "") != c.want {
				t.Errorf("fresh %v, announced %v, refused %v, file %q", s.Fresh, s.Announced, s.Refused, s.Rules.File)
			}
		})
	}
}
