package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	base := score{
		Set: "dojo", Policy: "floodmark", Attacks: 100, Succeeded: 20, Passed: 2, PassedTextOnly: 1, PassedGetOnly: 1,
		Benign: 50, Silent: 40, AtMostOne: 45, QuestionsPerTask: 0.3,
	}
	for _, c := range []struct {
		name   string
		change func(*score)
		worse  string
		better int
	}{
		{"same", func(*score) {}, "", 0},
		{"one attack more", func(s *score) { s.Passed++ }, "worse: dojo, floodmark: attacks passed: 3, was 2", 0},
		{"one attack less", func(s *score) { s.Passed-- }, "", 1},
		{"text-only", func(s *score) { s.PassedTextOnly++ }, "worse", 0},
		{"get-only", func(s *score) { s.PassedGetOnly++ }, "worse", 0},
		{"text-only not marked", func(s *score) { s.TextOnlyMarked-- }, "worse", 0},
		{"less silent", func(s *score) { s.Silent-- }, "worse", 0},
		{"more silent", func(s *score) { s.Silent++ }, "", 1},
		{"more than one question", func(s *score) { s.AtMostOne-- }, "worse", 0},
		{"more questions", func(s *score) { s.QuestionsPerTask += 0.01 }, "worse", 0},
		{"fewer questions", func(s *score) { s.QuestionsPerTask -= 0.01 }, "", 1},
		{"other attacks", func(s *score) { s.Attacks++ }, "not the same data", 0},
		{"other truth", func(s *score) { s.Succeeded-- }, "not the same data", 0},
		{"other benign runs", func(s *score) { s.Benign++ }, "not the same data", 0},
		{"another policy", func(s *score) { s.Policy = "none" }, "was not measured", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			after := base
			c.change(&after)
			better, err := compare(result{Sets: []score{base}}, result{Sets: []score{after}})
			if (err == nil) != (c.worse == "") || err != nil && !strings.Contains(err.Error(), c.worse) {
				t.Errorf("error %v, want %q", err, c.worse)
			}
			if len(better) != c.better {
				t.Errorf("better: %q, want %d", better, c.better)
			}
		})
	}
}

// For a sample of the mutants only one thing is checked: that no more of them pass.
func TestCompareSample(t *testing.T) {
	whole := result{Sets: []score{{Set: "mutation-3", Attacks: 100, Benign: 50, Silent: 40}}}
	for passed, ok := range map[int]bool{0: true, 1: false} {
		part := result{Sample: 16, Sets: []score{{Set: "mutation-3", Attacks: 7, Benign: 3, Passed: passed}}}
		if _, err := compare(whole, part); (err == nil) != ok {
			t.Errorf("%d passed: %v", passed, err)
		}
		whole.Sets[0].Passed = 5
		if _, err := compare(whole, part); err != nil {
			t.Errorf("some passed before: %v", err)
		}
		whole.Sets[0].Policy, part.Sets[0].Policy = "floodmark", "floodmark"
		if _, err := compare(whole, part); (err == nil) != ok {
			t.Errorf("%d passed, and the published file says that some may: %v", passed, err)
		}
		whole.Sets[0].Passed, whole.Sets[0].Policy = 0, ""
	}
	other := result{Sample: 16, Sets: []score{{Set: "dojo", Attacks: 7}}}
	if _, err := compare(result{Sets: []score{{Set: "dojo", Attacks: 8}}}, other); err == nil {
		t.Error("recorded sets are always whole")
	}
}

func TestRead(t *testing.T) {
	for _, text := range []string{"", "{}", `{"sets":[]}`, "nonsense"} {
		file := filepath.Join(t.TempDir(), "r.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(file, file); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
	if err := run("missing.json", "missing.json"); err == nil {
		t.Error("a missing file was accepted")
	}
}
