package liverules

import (
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/config"
)

// beside loads rules of a fleet with the part of the owner's own that tightens. If the file is
// broken or gone, its last good text goes on tightening, as it would go on holding without a fleet;
// if there is none, strict rules hold.
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

// tightens returns the part of the owner's own policy that tightens. With an error, which says what
// is wrong with the file, it is the last good one, or nothing.
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
	return config.Own{}, wrong // it held alone, and cannot be held beside another
}

// firstLine returns the first line of an error in a file, for a line of status.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
