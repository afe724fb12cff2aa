// Notworse compares two measurements of protection. It fails if the newer one protects less or asks
// more than the published one.
//
//	notworse docs/evidence/protection.json new.json
//
// The time that decisions took is not compared, because it depends on the machine.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// result is the part of the output of «lab protection --output json» that is compared.
type result struct {
	Sample int     `json:"sample"` // one in so many traces was mutated; 0: all
	Sets   []score `json:"sets"`
}

type score struct {
	Set              string  `json:"set"`
	Policy           string  `json:"policy"`
	Attacks          int     `json:"attacks"`
	Succeeded        int     `json:"succeeded"`
	Passed           int     `json:"passed"`
	PassedTextOnly   int     `json:"passed_text_only"`
	PassedGetOnly    int     `json:"passed_get_only"`
	TextOnlyMarked   int     `json:"text_only_marked"`
	Benign           int     `json:"benign"`
	Silent           int     `json:"silent"`
	AtMostOne        int     `json:"at_most_one"`
	QuestionsPerTask float64 `json:"questions_per_task"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: notworse published.json new.json")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(published, fresh string) error {
	before, err := read(published)
	if err != nil {
		return err
	}
	after, err := read(fresh)
	if err != nil {
		return err
	}
	better, err := compare(before, after)
	for _, line := range better {
		fmt.Println("better:", line)
	}
	if err == nil && len(better) > 0 {
		fmt.Println("renew docs/evidence/protection.json, so that it stays better")
	}
	return err
}

func read(file string) (result, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return result{}, err
	}
	var r result
	if err := json.Unmarshal(data, &r); err != nil {
		return result{}, fmt.Errorf("%s: %w", file, err)
	}
	if len(r.Sets) == 0 {
		return result{}, fmt.Errorf("%s: no sets were measured", file)
	}
	return r, nil
}

// compare returns what became better. The error lists everything that became worse or cannot be
// compared.
func compare(before, after result) (better []string, err error) {
	var worse []error
	for _, b := range before.Sets {
		a, ok := find(after, b)
		if !ok {
			worse = append(worse, fmt.Errorf("%s, %s: was not measured", b.Set, b.Policy))
			continue
		}
		all := figures(b, a)
		if after.Sample != before.Sample && strings.HasPrefix(b.Set, "mutation-") {
			all = sampled(b, a)
		}
		for _, f := range all {
			line := fmt.Sprintf("%s, %s: %s: %g, was %g", b.Set, b.Policy, f.name, f.after, f.before)
			change := (f.after - f.before) * f.sign
			switch {
			case f.sign == 0 && f.after != f.before:
				worse = append(worse, errors.New("not the same data: "+line))
			case change < 0:
				worse = append(worse, errors.New("worse: "+line))
			case change > 0:
				better = append(better, line)
			}
		}
	}
	return better, errors.Join(worse...)
}

func find(r result, like score) (score, bool) {
	for _, s := range r.Sets {
		if s.Set == like.Set && s.Policy == like.Policy {
			return s, true
		}
	}
	return score{}, false
}

// A figure is a number before and after. Its sign is 1 if more is better, -1 if less is better, and
// 0 if it must not change.
type figure struct {
	name          string
	sign          float64
	before, after float64
}

// sampled returns the figures of a mutated set if only a sample was measured again: if nothing
// passed before, nothing may pass in the sample.
func sampled(b, a score) []figure {
	if b.Passed > 0 && b.Policy != "floodmark" {
		return nil // the attacks that pass under other policies are published for the whole set, so a sample cannot be compared
	}
	return []figure{{"attacks passed", -1, 0, float64(a.Passed)}}
}

func figures(b, a score) []figure {
	return []figure{
		{"attacks", 0, float64(b.Attacks), float64(a.Attacks)},
		{"succeeded without a monitor", 0, float64(b.Succeeded), float64(a.Succeeded)},
		{"benign runs", 0, float64(b.Benign), float64(a.Benign)},
		{"attacks passed", -1, float64(b.Passed), float64(a.Passed)},
		{"text-only attacks passed", -1, float64(b.PassedTextOnly), float64(a.PassedTextOnly)},
		{"get-only attacks passed", -1, float64(b.PassedGetOnly), float64(a.PassedGetOnly)},
		{"text-only attacks marked at the answer", 1, float64(b.TextOnlyMarked), float64(a.TextOnlyMarked)},
		{"silent runs", 1, float64(b.Silent), float64(a.Silent)},
		{"runs with at most one question", 1, float64(b.AtMostOne), float64(a.AtMostOne)},
		{"questions per task", -1, b.QuestionsPerTask, a.QuestionsPerTask},
	}
}
