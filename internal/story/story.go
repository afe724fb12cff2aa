// Package story reads and plays small stories about agents: what an agent
// told the monitor, and what the monitor must answer and write down. They are
// the house's tests, its documentation of attacks, and, through «floodmark
// test», the way a user tests a policy.
//
// A story is a txtar archive. Its comment says what it shows. The file policy
// is the user's policy (without one: the shipped assistant profile), project a
// project's layer, catalog the user's catalog; the file story has one event a
// line and, after «->», the answer it must get; the file journal, if there is
// one, is what must have been written down.
package story

import (
	"fmt"
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
)

// A Result is what playing a story gave.
type Result struct {
	// Mistakes has one entry for each answer that was not the wanted one.
	Mistakes []Mistake
	// Journal is what was written down, as text.
	Journal string
	// HasJournal says whether the story has an opinion on that; Differs that
	// the opinion is another one.
	HasJournal, Differs bool
	// Checks counts the answers and statements that were compared.
	Checks int
}

// OK reports whether everything was as the story says.
func (r Result) OK() bool { return len(r.Mistakes) == 0 && !r.Differs }

// A Mistake is one line of a story whose answer was not the wanted one.
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

// Play plays the story in data from the beginning, on a clock of its own. An
// error means that the story itself, its policy or its catalog cannot be read.
func Play(name string, data []byte, shipped *catalog.Catalog) (Result, error) {
	if len(data) > MaxBytes {
		return Result{}, fmt.Errorf("%s: %d bytes, at most %d", name, len(data), MaxBytes)
	}
	ar := txtar.Parse(data)
	if err := checkFiles(name, ar); err != nil {
		return Result{}, err
	}
	rules, warnings, err := load(name, ar, shipped)
	if err != nil {
		return Result{}, err
	}
	text, ok := file(ar, "story")
	if !ok {
		return Result{}, fmt.Errorf("%s: there is no file «-- story --» in it", name)
	}
	var res Result
	w := newWorld(rules)
	if len(warnings) > 0 {
		w.warnings = warnings.Error()
	}
	first := lineOf(data, "story")
	for i, line := range strings.Split(text, "\n") {
		if i >= MaxLines {
			return Result{}, fmt.Errorf("%s: more than %d lines", name, MaxLines)
		}
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m, checked, err := w.play(line)
		if err != nil {
			return Result{}, fmt.Errorf("%s:%d: %s: %w", name, first+i, line, err)
		}
		if checked {
			res.Checks++
		}
		if m != nil {
			m.Line = first + i
			res.Mistakes = append(res.Mistakes, *m)
		}
	}
	res.Journal = w.journal()
	want, has := file(ar, "journal")
	res.HasJournal, res.Differs = has, has && strings.TrimSpace(want) != strings.TrimSpace(res.Journal)
	return res, nil
}

// WithJournal returns the story with what was written down put in.
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

// Title is the story's first sentence.
func Title(data []byte) string {
	text := strings.Join(strings.Fields(string(txtar.Parse(data).Comment)), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

func load(name string, ar *txtar.Archive, shipped *catalog.Catalog) (kernel.Rules, floodmark.Problems, error) {
	var layers []policy.Layer
	if text, ok := file(ar, "policy"); ok {
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
	if text, ok := file(ar, "catalog"); ok {
		f, err := catalog.Parse(name+"#catalog", []byte(text))
		if err != nil {
			return kernel.Rules{}, nil, err
		}
		user = append(user, f)
	}
	return kernel.Rules{Policy: p, Catalog: catalog.New(user, shipped)}, problems, nil
}

func checkFiles(name string, ar *txtar.Archive) error {
	for _, f := range ar.Files {
		switch f.Name {
		case "policy", "project", "catalog", "story", "journal":
		default:
			return fmt.Errorf("%s: unknown file «-- %s --» in it (known: policy, project, catalog, story, journal)", name, f.Name)
		}
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

// lineOf is the number of the first line inside an archive's file.
func lineOf(data []byte, name string) int {
	for i, line := range strings.Split(string(data), "\n") {
		if strings.TrimSpace(line) == "-- "+name+" --" {
			return i + 2
		}
	}
	return 1
}

// verdict renders an answer the way stories write it: the verdict, and the
// reason that decided unless it is a plain yes.
func verdict(d floodmark.Decision) string {
	words := []string{d.Verdict.String()}
	if len(d.Hidden) > 0 {
		words = append(words, "hiding")
		words = append(words, d.Hidden...)
	} else if len(d.Reasons) > 0 && (d.Verdict != floodmark.Allow || d.Reasons[0].Code == floodmark.Granted ||
		d.Reasons[0].Code == floodmark.Audited || d.Reasons[0].Code == floodmark.DryRun) {
		words = append(words, string(d.Reasons[0].Code))
	}
	if len(d.Verifiers) > 0 {
		words = append(words, "verified by "+strings.Join(d.Verifiers, ", "))
	}
	return strings.Join(words, " ")
}
