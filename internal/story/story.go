// Package story reads and plays small stories about agents: an agent's events, and the monitor's
// expected answers and journal. They are the house's tests, its documentation of attacks, and,
// through «floodmark policy test», the way a user tests a policy.
//
// A story is a txtar archive. Its comment says what it shows. Its files are:
//
//   - policy: the user's policy; without it the shipped profile assistant is used.
//   - project: a project's layer of the policy.
//   - catalog: the user's catalog.
//   - story: one event on each line and, after «->», the answer that must come.
//   - journal: the expected journal, if it is to be compared.
//   - replay: the decisions that would have changed under the files new-policy and new-catalog, had
//     the owner trusted the texts in the file endorsed, or not trusted those in disowned.
//   - refused: instead of a story, the expected error if the rules are not even loaded.
//
// A story that can be read in two ways, or that could not fail, is refused, because a test that
// passes by mistake is worse than none.
package story

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// The limits of one story file.
const (
	MaxBytes = 1 << 20
	MaxLines = 5000
	MaxTitle = 200 // letters
)

// A Result is the result of playing a story.
type Result struct {
	// Mistakes has one entry for each answer that was not the expected one.
	Mistakes []Mistake
	// Journal is the journal as text.
	Journal string
	// HasJournal says whether the story has a journal. Differs says that the journal of the play is
	// another one.
	HasJournal, Differs bool
	// Checks counts the answers and statements that were compared.
	Checks int
}

// OK reports whether everything was as the story says.
func (r Result) OK() bool { return len(r.Mistakes) == 0 && !r.Differs }

// A Mistake is one line of a story whose answer was not the expected one.
type Mistake struct {
	Line int    `json:"line"` // in the story's file, from 1
	Said string `json:"said"`
	Want string `json:"want,omitempty"`
	Got  string `json:"got"`
}

func (m Mistake) String() string {
	if m.Want == "" {
		return fmt.Sprintf("%s\n      %s", m.Said, m.Got)
	}
	return fmt.Sprintf("%s\n      want %s\n      got  %s", m.Said, m.Want, m.Got)
}

// Play plays the story in data from the beginning, with its own clock. An error means that the
// story itself, its policy or its catalog cannot be read.
func Play(name string, data []byte, shipped *catalog.Catalog) (Result, error) {
	if len(data) > MaxBytes {
		return Result{}, fmt.Errorf("%s: %d bytes, at most %d", name, len(data), MaxBytes)
	}
	ar := txtar.Parse(data)
	if err := checkParts(name, data, ar); err != nil {
		return Result{}, err
	}
	rules, warnings, err := load(name, ar, shipped, "")
	if text, ok := file(ar, "refused"); ok {
		res := playRefused(text, lineOf(data, "refused", 1), err)
		if res.Checks == 0 {
			return Result{}, fmt.Errorf("%s: «-- refused --» says nothing; write a text that the refusal must contain", name)
		}
		return res, nil
	}
	if err != nil {
		return Result{}, err
	}
	w := newWorld(rules)
	if len(warnings) > 0 {
		w.warnings = warnings.Error()
	}
	text, _ := file(ar, "story")
	res, err := w.playAll(name, text, lineOf(data, "story", 1))
	if err != nil {
		return Result{}, err
	}
	if err := w.playReplay(name, ar, lineOf(data, "replay", 1), shipped, &res); err != nil {
		return Result{}, err
	}
	res.Journal = w.journal()
	want, has := file(ar, "journal")
	res.HasJournal, res.Differs = has, has && strings.TrimSpace(want) != strings.TrimSpace(res.Journal)
	return res, nil
}

// playAll plays the lines of a story. first is the number of its first line in the file.
func (w *world) playAll(name, text string, first int) (res Result, err error) {
	for i, line := range strings.Split(text, "\n") {
		if i >= MaxLines {
			return res, fmt.Errorf("%s: more than %d lines", name, MaxLines)
		}
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m, checked, err := w.play(line)
		if err != nil {
			return res, fmt.Errorf("%s:%d: %s: %w", name, first+i, shorten(line, maxQuoted), err)
		}
		if checked {
			res.Checks++
		}
		if m != nil {
			m.Line = first + i
			res.Mistakes = append(res.Mistakes, *m)
		}
	}
	return res, nil
}

// playRefused compares why the rules were not loaded with the expected texts: each line of text
// must be in the refusal.
func playRefused(text string, first int, refusal error) (res Result) {
	got := "the rules were accepted"
	if problems, ok := errors.AsType[floodmark.Problems](refusal); ok {
		refusal = slices.DeleteFunc(slices.Clone(problems), func(p floodmark.Problem) bool { return p.Severity == floodmark.Warning })
	}
	if refusal != nil {
		got = refusal.Error()
	}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		res.Checks++
		if refusal == nil || !strings.Contains(got, line) {
			res.Mistakes = append(res.Mistakes, Mistake{Line: first + i, Said: line, Got: got})
		}
	}
	return res
}

// WithJournal returns the story with this journal as its journal.
func WithJournal(data []byte, journal string) []byte {
	ar := txtar.Parse(data)
	for i, f := range ar.Files {
		if f.Name == "journal" {
			ar.Files[i].Data = []byte(journal)
			return txtar.Format(ar)
		}
	}
	ar.Files = append(ar.Files, txtar.File{Name: "journal", Data: []byte(journal)})
	return txtar.Format(ar)
}

// Title returns the story's first sentence, as valid text of at most MaxTitle letters.
func Title(data []byte) string {
	text := strings.Join(strings.Fields(string(txtar.Parse(data).Comment)), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return shorten(text, MaxTitle)
}

// load reads the rules of a story or, with a prefix, the rules by which it is judged again.
func load(name string, ar *txtar.Archive, shipped *catalog.Catalog, prefix string) (kernel.Rules, floodmark.Problems, error) {
	var layers []policy.Layer
	if text, ok := fileOr(ar, prefix+"policy", "policy"); ok {
		layers = append(layers, policy.Layer{Name: "policy", Data: []byte(text)})
	}
	if text, ok := file(ar, "project"); ok {
		layers = append(layers, policy.Layer{Name: "project", Project: true, Data: []byte(text)})
	}
	p, problems := policy.Load(layers...)
	if problems.Failed() {
		return kernel.Rules{}, nil, problems
	}
	user := p.Tools()
	if text, ok := fileOr(ar, prefix+"catalog", "catalog"); ok {
		f, err := catalog.Parse(name+"#catalog", []byte(text))
		if err != nil {
			return kernel.Rules{}, nil, err
		}
		user = append(user, f)
	}
	return kernel.NewRules(p, catalog.New(user, shipped)), problems, nil
}

// checkParts returns an error for a file whose parts are not clearly one story, or that could not
// fail.
func checkParts(name string, data []byte, ar *txtar.Archive) error {
	known := append([]string{"policy", "project", "catalog", "story", "journal", "refused"}, replayParts()...)
	seen := map[string]bool{}
	for _, f := range ar.Files {
		if !slices.Contains(known, f.Name) {
			return fmt.Errorf("%s: unknown file «-- %s --» in it (known: %s)", name, shorten(f.Name, maxQuoted), strings.Join(known, ", "))
		}
		if seen[f.Name] {
			return fmt.Errorf("%s:%d: a second part «-- %s --»; write each part once", name, lineOf(data, f.Name, 2)-1, f.Name)
		}
		seen[f.Name] = true
	}
	switch {
	case seen["refused"] && (seen["story"] || seen["journal"]):
		return fmt.Errorf("%s: what is refused is never played: of «-- refused --» and «-- story --» write one", name)
	case !seen["replay"] && slices.ContainsFunc(replayParts(), func(part string) bool { return seen[part] }):
		return fmt.Errorf("%s: there is no file «-- replay --» that says what would be decided otherwise", name)
	case !seen["refused"] && !seen["story"]:
		return fmt.Errorf("%s: there is no file «-- story --» in it", name)
	}
	return nil
}

func file(ar *txtar.Archive, name string) (string, bool) {
	for _, f := range ar.Files {
		if f.Name == name {
			return string(f.Data), true
		}
	}
	return "", false
}

// fileOr returns the file name if there is one, else the file other.
func fileOr(ar *txtar.Archive, name, other string) (string, bool) {
	if text, ok := file(ar, name); ok {
		return text, true
	}
	return file(ar, other)
}

// lineOf returns the number of the first line inside the nth part with this name.
func lineOf(data []byte, name string, nth int) int {
	for i, line := range strings.Split(string(data), "\n") {
		if strings.TrimSpace(line) == "-- "+name+" --" {
			if nth--; nth == 0 {
				return i + 2
			}
		}
	}
	return 1
}
