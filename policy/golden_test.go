package policy_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/policy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// layerOf reads a file of testdata; «project-» begins a project's layer.
func layerOf(t testing.TB, path string) policy.Layer {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(path)
	return policy.Layer{Name: name, Project: strings.HasPrefix(name, "project-"), Data: data}
}

func files(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no files (%v)", pattern, err)
	}
	return paths
}

// golden compares with a file beside the input, or rewrites it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n got %s\nwant %s", path, got, want)
	}
}

// Every problem says where it is, what is wrong and what to write instead, in words
// of the language.
func TestWrongPolicies(t *testing.T) {
	goWords := regexp.MustCompile(`yaml\.|\*ast|\bstruct\b|interface|\bnil\b|map\[|\bint64\b|policy\.[A-Z]|floodmark\.[A-Z]|!!`)
	for _, path := range files(t, "testdata/wrong/*.yaml") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			p, problems := policy.Load(layerOf(t, path))
			if p != nil || !problems.Failed() {
				t.Fatal("it was accepted")
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".txt", problems.Error()+"\n")
			for _, problem := range problems {
				if goWords.MatchString(problem.Text + problem.Hint) {
					t.Errorf("words of the program, not of the language: %s", problem)
				}
				if problem.Line < 1 || problem.Column < 1 || problem.Code == "" || problem.Text == "" {
					t.Errorf("incomplete: %+v", problem)
				}
			}
		})
	}
}

func TestGoodPolicies(t *testing.T) {
	for _, path := range files(t, "testdata/good/*.yaml") {
		if _, problems := policy.Load(layerOf(t, path)); len(problems) > 0 {
			t.Errorf("%s: %v", path, problems)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, dir := range []string{"testdata/good/*.yaml", "testdata/wrong/*.yaml", "profiles/*.yaml"} {
		for _, path := range files(f, dir) {
			f.Add(layerOf(f, path).Data, false)
			f.Add(layerOf(f, path).Data, true)
		}
	}
	base := load(f)
	f.Fuzz(func(t *testing.T, data []byte, isProject bool) {
		p, problems := policy.Load(policy.Layer{Name: "f", Data: data, Project: isProject})
		if (p == nil) != problems.Failed() {
			t.Fatalf("policy %v with %v", p != nil, problems)
		}
		if p == nil {
			return
		}
		for _, e := range allEffects() {
			for _, trust := range allTrusts() {
				q := ask("unnamed", e, trust)
				v := p.Decide(q).Verdict
				if isProject && v > base.Decide(q).Verdict {
					t.Fatalf("a project loosened %s at %s to %s", e, trust, v)
				}
			}
		}
	})
}
