package daemon

import (
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/config"
)

// beside loads rules of a fleet with what tightens of the owner's own. If the file
// is broken or gone, what it last said goes on tightening, as it would go on
// holding without a fleet; if that is not known, strict rules hold.
func (l *live) beside(got *loaded, from fleetRules, places *catalog.File) error {
	own, wrong := l.tightens()
	got.status.left, got.status.refused = own.Left, wrong
	if wrong != nil {
		got.status.left = firstLine(wrong) + "; what it said before goes on tightening (mend it, or write «version: 1» to it if you want none)"
	}
	strict, err := config.JoinedRules("strict, because of the fleet", []byte(config.StrictPolicy), own, places)
	if err != nil {
		return err
	}
	got.strict, got.until = strict.Rules, from.until
	got.status.rules = strict
	if wrong != nil && !own.There() {
		got.status.left, got.status.shut = "", firstLine(wrong)+"; mend it, or write «version: 1» to it"
		return nil
	}
	if rules, err := config.JoinedRules(from.name, from.data, own, places); err == nil {
		got.status.rules = rules
	} else {
		got.status.shut = "the fleet's rules cannot be used by this version: " + firstLine(err)
		got.status.rules.Warnings = append(got.status.rules.Warnings, floodmark.Problem{
			File: from.name, Line: 1, Column: 1, Severity: floodmark.Warning, Code: "fleet", Text: "the fleet's rules cannot be used by this version, so strict ones hold: " + err.Error(),
		})
	}
	return nil
}

// tightens returns what tightens of the owner's own policy. With an error, which
// says what is wrong with the file, it is what it last was, or nothing.
func (l *live) tightens() (config.Own, error) {
	text, wrong := config.ReadPolicy(l.file)
	var own config.Own
	if wrong == nil {
		own, wrong = config.OwnOf(l.file, text)
	}
	if wrong == nil && text == nil && l.good != nil {
		wrong = fmt.Errorf("%s is gone", l.file)
	}
	if wrong == nil {
		l.good = text
		return own, nil
	}
	if own, err := config.OwnOf(l.file, l.good); err == nil {
		return own, wrong
	}
	return config.Own{}, wrong // it held alone, and cannot be held beside another
}

// firstLine is the beginning of what is wrong with a file, for a line of status.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
