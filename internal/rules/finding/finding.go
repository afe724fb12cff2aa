// Package finding says what is asked about each finding in a call. That is data: findings.yaml has
// a line for each finding. A call with a finding that has no line is refused. The package finds
// nothing itself.
//
// A special case used to be a boolean with a name of its own in the catalog, the basis of a decision,
// the policy's question and what is told to people, so that each new one touched ten files. As a word
// it passes through these as part of a list, and only this table knows what it means. Lines in each
// profile were considered: the verdicts do not differ between profiles, and a profile that left a line
// out would refuse calls. What makes a call less guarded is no finding: a word that nobody knows can
// only restrict as long as no word allows anything.
package finding

import (
	"bytes"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
)

//go:embed findings.yaml
var shipped []byte

// A Place says where a finding stands among the reasons for a verdict. The zero place restricts
// most.
type Place uint8

// The places.
const (
	Flow  Place = iota // a flow rule: no auditor, relaxation or tool-wide grant answers instead
	First              // before the other reasons of the same verdict
	Last               // after what the table says
)

// UnmarshalText reads a place's word and refuses every other text.
func (p *Place) UnmarshalText(b []byte) error {
	at := slices.Index([]string{"flow", "first", "last"}, string(b))
	if at < 0 {
		return fmt.Errorf("unknown place %q", b)
	}
	*p = Place(at)
	return nil
}

// A Line says what is asked about one finding; findings.yaml explains each word. The zero Line
// refuses everywhere, and nothing settles it.
type Line struct {
	Finding floodmark.Finding `yaml:"finding"`
	Asks    floodmark.Verdict `yaml:"asks"`
	Below   floodmark.Trust   `yaml:"below"`
	Settled string            `yaml:"settled"`
	Place   Place             `yaml:"place"`
	Reason  floodmark.Code    `yaml:"reason"`
	Rule    string            `yaml:"rule"`
	Says    string            `yaml:"says"`
	Runs    bool              `yaml:"runs"`
	Does    string            `yaml:"does"`
	Ends    string            `yaml:"ends"`
}

// What the owner's words can name to settle a finding.
const (
	byPath    = "path"
	byPackage = "package"
	byName    = "name"
)

// A Table holds the lines. It never changes. The nil Table holds none, and refuses every finding.
type Table struct{ lines []Line }

// Shipped returns the table that comes with the program, and its data.
func Shipped() (*Table, []byte, error) {
	t, err := Parse(shipped)
	return t, shipped, err
}

// Parse reads a table.
func Parse(data []byte) (*Table, error) {
	t := &Table{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&t.lines); err != nil {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	for i, l := range t.lines {
		switch {
		case l.Finding == "" || l.Reason == "" || l.Rule == "" || l.Says == "" || l.Does == "" || l.Ends == "":
			return nil, fmt.Errorf("read findings: line %d (%s) leaves out its finding, reason, rule, says, does or ends", i+1, l.Finding)
		case !slices.Contains([]string{"", byPath, byPackage, byName}, l.Settled):
			return nil, fmt.Errorf("read findings: %s is settled by %q, which is neither path, package nor name", l.Finding, l.Settled)
		case slices.ContainsFunc(t.lines[:i], func(o Line) bool { return o.Finding == l.Finding }):
			return nil, fmt.Errorf("read findings: %s has two lines", l.Finding)
		}
	}
	return t, nil
}

// Without returns the table under a policy that switches some reasons off: about findings with such
// a reason nothing is asked.
func (t *Table) Without(off []floodmark.Code) *Table {
	out := &Table{lines: slices.Clone(t.lines)}
	for i := range out.lines {
		if slices.Contains(off, out.lines[i].Reason) {
			out.lines[i].Asks = floodmark.Allow
		}
	}
	return out
}

// Line returns the line of a finding, or one that refuses.
func (t *Table) Line(f floodmark.Finding) Line {
	if at := t.index(f); at >= 0 {
		return t.lines[at]
	}
	const unknown = "something was found in it that this version does not know"
	return Line{
		Finding: f, Reason: floodmark.Unjudged, Rule: "findings", Says: unknown, Runs: true, Does: unknown,
		Ends: "nothing: this version does not know what was found, so update Floodmark",
	}
}

// Words returns the findings that have a line.
func (t *Table) Words() (words []string) {
	if t != nil {
		for _, l := range t.lines {
			words = append(words, string(l.Finding))
		}
	}
	return words
}

// index returns the place of a line, or -1.
func (t *Table) index(f floodmark.Finding) int {
	if t == nil {
		return -1
	}
	return slices.IndexFunc(t.lines, func(l Line) bool { return l.Finding == f })
}

// Runs reports whether one of these findings means that code runs which nobody has seen.
func (t *Table) Runs(found []floodmark.Finding) bool {
	return slices.ContainsFunc(found, func(f floodmark.Finding) bool { return t.Line(f).Runs })
}

// First returns the line that is told of several findings: one that refuses, if a finding has no
// line, or else the line that is first in the table.
func (t *Table) First(found []floodmark.Finding) Line {
	for _, f := range found {
		if t.index(f) < 0 {
			return t.Line(f)
		}
	}
	if t != nil {
		for _, l := range t.lines {
			if slices.Contains(found, l.Finding) {
				return l
			}
		}
	}
	return t.Line("")
}

// Reasons returns what is asked about findings at one place, in a conversation trusted this much.
func (t *Table) Reasons(found []floodmark.Finding, at Place, trust floodmark.Trust) (list []floodmark.Reason) {
	for _, f := range found {
		l := t.Line(f)
		if l.Place == at && l.Asks < floodmark.Allow && (l.Below == floodmark.Untrusted || trust < l.Below) {
			list = append(list, floodmark.Reason{Code: l.Reason, Rule: l.Rule, Verdict: l.Asks, Text: l.Says})
		}
	}
	return list
}

// A Found is a finding and one thing it is about, such as a folder. An empty thing is unknown, so
// that no words settle it.
type Found struct {
	Finding floodmark.Finding
	Thing   string
}

// A List is what was found in a call.
type List []Found

// With returns the list and the finding for each of these things.
func (l List) With(f floodmark.Finding, things ...string) List {
	for _, thing := range things {
		l = append(l, Found{f, thing})
	}
	return l
}

// About returns the list with what was found about the things of a call. Without any it is about an
// unknown one; an empty finding is none.
func (l List) About(f floodmark.Finding, things []string) List {
	switch {
	case f == "":
		return l
	case len(things) == 0:
		return l.With(f, "")
	}
	return l.With(f, things...)
}

// Has reports whether the list has a finding.
func (l List) Has(f floodmark.Finding) bool {
	return slices.ContainsFunc(l, func(found Found) bool { return found.Finding == f })
}

// Things returns what a finding is about.
func (l List) Things(f floodmark.Finding) (things []string) {
	for _, found := range l {
		if found.Finding == f {
			things = append(things, found.Thing)
		}
	}
	return things
}

// Unsettled returns the findings, each once, without those of which everything they are about is
// settled. A thing is settled if the owner said it in its role, as said reports. A path may be said
// in full, from the project, or by its last name.
func (t *Table) Unsettled(found List, project string, said func(name, role string) bool) (list []floodmark.Finding) {
	settled := func(thing, by string) bool {
		if thing == "" || by == "" {
			return false
		}
		if by != byPath {
			return said(thing, by)
		}
		rest, _ := strings.CutPrefix(thing, strings.TrimSuffix(project, "/")+"/")
		return said(thing, by) || said(rest, by) || said(path.Base(thing), by)
	}
	for _, f := range found {
		if !slices.Contains(list, f.Finding) && !settled(f.Thing, t.Line(f.Finding).Settled) {
			list = append(list, f.Finding)
		}
	}
	return list
}

// Still returns the findings of a recorded call that is judged again, from what is found now and
// what was recorded then. What the owner named was not recorded, so a finding that words can settle
// is returned only if it was recorded then. A recorded finding that has no line is returned, too.
func (t *Table) Still(now List, then []floodmark.Finding) (list []floodmark.Finding) {
	for _, f := range now {
		if !slices.Contains(list, f.Finding) && (t.Line(f.Finding).Settled == "" || slices.Contains(then, f.Finding)) {
			list = append(list, f.Finding)
		}
	}
	for _, f := range then {
		if t.index(f) < 0 && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}
