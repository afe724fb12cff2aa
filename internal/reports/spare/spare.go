// Package spare says how many questions a line of a policy, an approval or an endorsement would
// have spared, by judging recorded sessions again. The command line and the console both use it. It
// changes nothing.
package spare

import (
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/reports/rejudge"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/internal/text/linetext"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/replay"
)

// A Judge judges lines beside the owner's policy.
type Judge struct {
	// Name and Text are the owner's policy; an empty text is a policy that says nothing.
	Name, Text string
	// Shipped is shared by all rules, so that tools which no line describes compare as equal.
	Shipped *catalog.Catalog
	Rules   kernel.Rules // those of the policy
	Since   time.Time    // only later questions count
}

// With loads the owner's policy with some lines added, and returns its text.
func (j *Judge) With(lines []tally.Line) (kernel.Rules, string, error) {
	text := j.Text
	for _, l := range lines {
		var ok bool
		if text, ok = linetext.WithLine(text, l.Key, l.Text, ""); !ok {
			return kernel.Rules{}, "", errors.New("the file writes " + l.Key + " on one line")
		}
	}
	rules, problems := rejudge.Rules(j.Name, []byte(text), j.Shipped)
	if problems.Failed() {
		return kernel.Rules{}, "", problems
	}
	return rules, text, nil
}

// Saves returns how many questions a line would have spared in some sessions. A line that cannot be
// loaded spares nothing.
func (j *Judge) Saves(l tally.Line, sessions []tally.Session) (int, error) {
	trial := replay.Retrial{Now: j.Rules, Then: &j.Rules, Since: j.Since}
	switch l.Kind {
	case tally.Grant:
		return l.Saves, nil
	case tally.Endorsement:
		trial.Endorse = append(trial.Endorse, l.Digest)
	default:
		rules, _, err := j.With([]tally.Line{l})
		if err != nil {
			return 0, nil //nolint:nilerr // said above
		}
		trial.Now = rules
	}
	saved := 0
	for _, s := range sessions {
		if l.Kind == tally.Endorsement && s.Name != l.Session {
			continue
		}
		a, err := trial.Session(s.Facts, s.Erased)
		if err != nil {
			return 0, fmt.Errorf("judge %s again: %w", s.Name, err)
		}
		saved += a.Asked - a.WouldAsk
	}
	return saved, nil
}
