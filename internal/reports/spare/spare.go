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
func (j *Judge) Saves(l tally.Line, sessions []tally.Session) (saved int, err error) {
	if l.Kind == tally.Grant {
		return l.Saves, nil
	}
	t := j.Trial(l)
	for _, s := range sessions {
		n, err := t.Saves(s)
		if err != nil {
			return 0, err
		}
		saved += n
	}
	return saved, nil
}

// A Trial is an endorsement, or a line of the policy, that is ready to be judged by.
type Trial struct {
	by   replay.Retrial
	only string // the session that the line is about; empty: all
	none bool   // the line cannot be loaded
}

// Trial makes a line ready, which loads rules.
func (j *Judge) Trial(l tally.Line) *Trial {
	t := &Trial{by: replay.Retrial{Now: j.Rules, Then: &j.Rules, Since: j.Since}}
	if l.Kind == tally.Endorsement {
		t.by.Endorse, t.only = append(t.by.Endorse, l.Digest), l.Session
		return t
	}
	rules, _, err := j.With([]tally.Line{l})
	t.by.Now, t.none = rules, err != nil
	return t
}

// Saves returns how many questions the line would have spared in a session.
func (t *Trial) Saves(s tally.Session) (int, error) {
	if t.none || t.only != "" && t.only != s.Name {
		return 0, nil
	}
	a, err := t.by.Session(s.Facts, s.Erased)
	if err != nil {
		return 0, fmt.Errorf("judge %s again: %w", s.Name, err)
	}
	return a.Asked - a.WouldAsk, nil
}
