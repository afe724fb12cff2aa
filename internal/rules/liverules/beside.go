package liverules

import (
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// beside loads a fleet's rules together with the tightening part of the owner's own policy. If the
// owner's file is broken or gone, the tightening part of its last good text stays in force, as the
// whole text would without a fleet. If there is no good text, strict rules are in force.
func (l *Live) beside(got *loaded, from FleetRules, places *catalog.File) error {
	own, wrong := l.tightens()
	got.status.Left, got.status.Refused = own.Left, wrong
	if wrong != nil {
		got.status.Left = firstLine(wrong) + "; what it said before goes on tightening (mend it, or write «version: 1» to it if you want none)"
	}
	strict, err := l.opts.Reader.Joined("strict, because of the fleet", []byte(config.StrictPolicy), own, places)
	if err != nil {
		return err
	}
	got.strict, got.until = strict.Rules, from.Until
	got.status.Rules = strict
	if wrong != nil && !own.There() {
		got.status.Left, got.status.Shut = "", firstLine(wrong)+"; mend it, or write «version: 1» to it"
		return nil
	}
	if rules, err := l.opts.Reader.Joined(from.Name, from.Data, own, places); err == nil {
		got.status.Rules = rules
	} else {
		got.status.Shut = "the fleet's rules cannot be used by this version: " + firstLine(err)
		got.status.Rules.Warnings = append(got.status.Rules.Warnings, floodmark.Problem{
			File: from.Name, Line: 1, Column: 1, Severity: floodmark.Warning, Code: "fleet", Text: "the fleet's rules cannot be used by this version, so strict ones hold: " + err.Error(),
		})
	}
	return nil
}

// tightens returns the tightening part of the owner's own policy. If the file is wrong or gone, the
// error says why, and the part is that of the last good text, or empty.
func (l *Live) tightens() (config.Own, error) {
	text, wrong := config.ReadPolicy(l.opts.File)
	var own config.Own
	if wrong == nil {
		own, wrong = config.OwnOf(l.opts.File, text)
	}
	if wrong == nil && text == nil && l.good != nil {
		wrong = fmt.Errorf("%s is gone", l.opts.File)
	}
	if wrong == nil {
		l.good = text
		return own, nil
	}
	if own, err := config.OwnOf(l.opts.File, l.good); err == nil {
		return own, wrong
	}
	return config.Own{}, wrong // the text was in force alone, but cannot be used beside a fleet's rules
}

// firstLine returns the first line of an error, for a line of status.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
