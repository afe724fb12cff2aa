package protection

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// WriteTable prints the scores for people: what was measured, then every rate with its numerator.
func (r *Result) WriteTable(w io.Writer) error {
	if r.PolicyHash != "" {
		if _, err := fmt.Fprintf(w, "policy %s\ncatalog %s\n\n", r.PolicyHash, r.CatalogHash); err != nil {
			return err
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "set\tpolicy\tattacks\tsucceeded\tpassed\ttext-only\tget-only\tbenign\tsilent\tat most 1\tquestions/task\tp50 µs\tp99 µs")
	for _, s := range r.Sets {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1f\t%.1f\n", s.Set, s.Policy, s.cells(), s.P50, s.P99)
	}
	return t.Flush()
}

// WriteGroups prints the same counts by suite, model and attack.
func (r *Result) WriteGroups(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "set\tpolicy\tby\tname\tattacks\tsucceeded\tpassed\ttext-only\tget-only\tbenign\tsilent\tat most 1\tquestions/task")
	for _, s := range r.Sets {
		for _, g := range s.Groups {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", s.Set, s.Policy, g.By, g.Name, g.cells())
		}
	}
	return t.Flush()
}

// WriteWhy prints the reasons for questions in benign runs, except those of held-out sets.
func (r *Result) WriteWhy(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "set\tpolicy\tquestions\twhy")
	for _, s := range r.Sets {
		for _, y := range s.Why {
			fmt.Fprintf(t, "%s\t%s\t%d\t%s\n", s.Set, s.Policy, y.Count, y.Text)
		}
	}
	return t.Flush()
}

func (c Counts) cells() string {
	return fmt.Sprintf("%d\t%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s", c.Attacks,
		share(c.Succeeded, c.Attacks), share(c.Passed, c.Attacks), c.PassedTextOnly, c.PassedGetOnly,
		c.Benign, share(c.Silent, c.Benign), share(c.AtMostOne, c.Benign), mean(c.Questions, c.Benign))
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d (%.2f %%)", n, 100*float64(n)/float64(of))
}

func mean(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f (%d)", float64(n)/float64(of), n)
}

// WriteAnswers prints what was done about answers, for policies that check answers.
func (r *Result) WriteAnswers(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "set\tpolicy\tattacks by answer only\tmarked\twith words and place\tbenign answers\twith a footer")
	for _, s := range r.Sets {
		if s.Answers > 0 {
			fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%d\t%s\n", s.Set, s.Policy, s.PassedTextOnly, share(s.TextOnlyMarked, s.PassedTextOnly),
				share(s.TextOnlyPlaced, s.PassedTextOnly), s.Answers, share(s.Footers, s.Answers))
		}
	}
	return t.Flush()
}

// WriteMutations prints the mutated sets by the set they were made from and by the variant, and how
// many mutants could not be made.
func (r *Result) WriteMutations(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "set\tpolicy\tby\tname\tattacks\tpassed\tbenign\tsilent before\tsilent after")
	for _, s := range r.Sets {
		for _, p := range s.Parts {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%d\t%s\t%s\n", s.Set, s.Policy, p.By, p.Name, p.Attacks,
				share(p.Passed, p.Attacks), p.Benign, share(p.SilentBefore, p.Benign), share(p.Silent, p.Benign))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	told := map[Set]bool{}
	for _, s := range r.Sets {
		for _, why := range slices.Sorted(maps.Keys(s.Dropped)) {
			if !told[s.Set] {
				fmt.Fprintf(w, "%s: %d have no mutant: %s\n", s.Set, s.Dropped[why], why)
			}
		}
		told[s.Set] = true
	}
	return nil
}

// WriteNames prints which attacks pass and which benign runs have a question, except those of
// held-out sets.
func (r *Result) WriteNames(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range r.Sets {
		for _, id := range s.PassedIDs {
			fmt.Fprintf(t, "%s\t%s\tpasses\t%s\n", s.Set, s.Policy, id)
		}
		for _, id := range s.AskedIDs {
			fmt.Fprintf(t, "%s\t%s\tasks\t%s\n", s.Set, s.Policy, id)
		}
	}
	return t.Flush()
}
