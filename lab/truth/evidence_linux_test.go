package truth

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// figures are the published figures of a run.
type figures struct {
	Commit    string             `json:"commit"`
	Seed      uint64             `json:"seed"`
	Workers   int                `json:"workers"`
	Seconds   float64            `json:"seconds"`
	Corpora   map[string]*corpus `json:"corpora"`
	Generated generatedFigures   `json:"generated"`
	// Disabled counts, for each construct that the scanner was made to overlook, the watched lines
	// that it then under-estimated.
	Disabled map[string]int `json:"disabled"`
	began    time.Time
	known    map[string]bool
}

type corpus struct {
	Lines    int                     `json:"lines"`
	Watched  int                     `json:"watched"`
	Ran      int                     `json:"ran"`
	TimedOut int                     `json:"timed_out"`
	Seconds  float64                 `json:"seconds"`
	Classes  map[string]*classFigure `json:"classes"`
	Under    []string                `json:"under_estimates"`
	Weak     []string                `json:"judged_weaker"`
	Over     []string                `json:"over_estimates"`
	// Known is how many findings in Under and Weak are of lines in known.txt.
	Known int `json:"known"`
	// KnownOver is how many findings in Over are of lines in known.txt.
	KnownOver int `json:"known_over"`
	known     map[string]bool
}

type classFigure struct {
	Watched int `json:"watched"`
	Ran     int `json:"ran"`
	Effects int `json:"effects"`
}

type generatedFigures struct {
	Lines      int                        `json:"lines"`
	Seconds    float64                    `json:"seconds"`
	Constructs map[string]constructFigure `json:"constructs"`
	Under      []string                   `json:"under_estimates"`
	// Known is how many under-estimated lines contain a text of KnownTexts, which are from
	// known.txt.
	Known      int      `json:"known"`
	KnownTexts []string `json:"known_texts"`
}

// A constructFigure counts the lines made with a construct, and those of them that had an effect.
type constructFigure struct {
	Lines     int `json:"lines"`
	Effective int `json:"effective"`
}

func newFigures(t *testing.T) *figures {
	t.Helper()
	name := "unknown"
	if out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output(); err == nil {
		name = strings.TrimSpace(string(out))
	}
	known, err := readKnown()
	if err != nil {
		t.Fatal(err)
	}
	f := &figures{
		known:  known,
		Commit: name, Seed: *seed, Workers: *workers, Corpora: map[string]*corpus{}, Disabled: map[string]int{}, began: time.Now(),
		Generated: generatedFigures{Constructs: map[string]constructFigure{}, Under: []string{}, KnownTexts: []string{}},
	}
	for line := range known {
		if text, ok := strings.CutPrefix(line, "generated "); ok {
			f.Generated.KnownTexts = append(f.Generated.KnownTexts, text)
		}
	}
	slices.Sort(f.Generated.KnownTexts)
	return f
}

func (f *figures) corpus(name string, lines int) *corpus {
	c := &corpus{Lines: lines, Classes: map[string]*classFigure{}, Under: []string{}, Weak: []string{}, Over: []string{}, known: f.known}
	f.Corpora[name] = c
	return c
}

// wrong fails the test, unless known.txt has the line.
func (c *corpus) wrong(t *testing.T, what string, x finding) {
	t.Helper()
	if !c.known[x.Line] {
		t.Errorf("%s: %v", what, x)
		return
	}
	t.Logf("known %s: %v", what, x)
	c.Known++
}

// stale fails the test if a line in known.txt is judged well now. It does so only in a run that
// watches whole corpora.
func (f *figures) stale(t *testing.T) {
	t.Helper()
	wrong := map[string]bool{}
	for _, c := range f.Corpora {
		for _, line := range slices.Concat(c.Under, c.Weak, c.Over) {
			wrong[line] = true
		}
	}
	for line := range f.known {
		if *share == 1 && !wrong[line] && !strings.HasPrefix(line, "generated ") {
			t.Errorf("%q is judged well now: take it out of known.txt", line)
		}
	}
}

// weak counts findings of lines that are judged weaker than their words.
func (c *corpus) weak(t *testing.T, all []finding) {
	t.Helper()
	for _, x := range all {
		c.wrong(t, "weaker", x)
		c.Weak = append(c.Weak, x.Line)
	}
}

func (c *corpus) count(t *testing.T, o *outcome, below, above []finding) {
	t.Helper()
	class := c.Classes[o.Class]
	if class == nil {
		class = &classFigure{}
		c.Classes[o.Class] = class
	}
	c.Watched++
	class.Watched++
	class.Effects += len(o.Effects)
	if o.Ran {
		c.Ran++
		class.Ran++
	}
	if o.TimedOut {
		c.TimedOut++
	}
	for _, x := range below {
		c.wrong(t, "under-estimate", x)
		c.Under = append(c.Under, x.Line)
	}
	for _, x := range above {
		t.Logf("over-estimate: %v", x)
		c.Over = append(c.Over, x.Line)
		if c.known[x.Line] {
			c.KnownOver++
		}
	}
}

// made counts a generated line. If the line is under-estimated, the test fails, unless the line
// contains a text of known.txt.
func (f *figures) made(t *testing.T, m *madeOutcome, below []finding) {
	t.Helper()
	f.Generated.Lines++
	for _, name := range m.Constructs {
		c := f.Generated.Constructs[name]
		c.Lines++
		if len(m.Effects) > 0 {
			c.Effective++
		}
		f.Generated.Constructs[name] = c
	}
	for _, x := range below {
		if slices.ContainsFunc(f.Generated.KnownTexts, func(text string) bool { return strings.Contains(m.Line, text) }) {
			f.Generated.Known++
			continue
		}
		t.Errorf("under-estimate: %v", x)
		f.Generated.Under = append(f.Generated.Under, x.Line)
	}
}

// write logs a summary of the figures, and writes all of them to the file *evidence, if any.
func (f *figures) write(t *testing.T) {
	t.Helper()
	f.Seconds = time.Since(f.began).Seconds()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f); err != nil {
		t.Fatal(err)
	}
	for name, c := range f.Corpora {
		t.Logf("%s: %d lines, %d watched, %d ran, %d under-estimates, %d judged weaker, %d over-estimates", name, c.Lines, c.Watched, c.Ran, len(c.Under), len(c.Weak), len(c.Over))
	}
	t.Logf("generated: %d lines, %d under-estimates; disabled: %v", f.Generated.Lines, len(f.Generated.Under), f.Disabled)
	if *evidence == "" {
		return
	}
	if err := os.WriteFile(*evidence, b.Bytes(), 0o644); err != nil { //nolint:gosec // it is published
		t.Fatal(err)
	}
}
