package tally

import (
	"fmt"
	"strings"
	"time"
)

// A Part is a part of a report for people: a title, and a line for each deed.
type Part struct {
	Title string
	Lines []string
}

// fewDeeds is how many deeds of one fate are listed, so that the report fits on a screen.
const fewDeeds = 4

// Head returns a summary of the report in one sentence.
func (r *Recap) Head() string {
	n := map[bool]map[Fate]int{true: {}, false: {}}
	for _, d := range r.Deeds {
		n[d.Would][d.Fate] += d.Times
	}
	since := "From the beginning"
	if !r.Since.IsZero() {
		since = "Since " + r.Since.Local().Format("2006-01-02 15:04")
	}
	head := fmt.Sprintf("%s, %s in %s: ", since, many(r.Decisions, "decision"), many(r.Sessions, "session"))
	var said []string
	if w := n[true]; len(w) > 0 {
		said = append(said, fmt.Sprintf("it would have been %d stopped, %d asked about, %d run in a box", w[Stopped], w[Asked], w[Contained]))
	}
	if w := n[false]; len(w) > 0 {
		said = append(said, fmt.Sprintf("%d stopped, %d asked about, %d run in a box", w[Stopped], w[Asked], w[Contained]))
	}
	if len(said) == 0 {
		return head + "nothing was stopped, asked about or run in a box, and nothing would have been"
	}
	return head + strings.Join(said, "; ")
}

func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Parts returns the parts of the report after [Recap.Head], at most a screen.
func (r *Recap) Parts() []Part {
	var list []Part
	for _, fate := range []Fate{Stopped, Asked, Contained} {
		for _, would := range []bool{true, false} {
			p, left := Part{Title: title(fate, would)}, 0
			for _, d := range r.Deeds {
				if d.Fate != fate || d.Would != would {
					continue
				}
				if len(p.Lines) == fewDeeds {
					left++
					continue
				}
				p.Lines = append(p.Lines, d.line())
			}
			if left > 0 {
				p.Lines = append(p.Lines, fmt.Sprintf("and %d more: --output json has all", left))
			}
			if len(p.Lines) > 0 {
				list = append(list, p)
			}
		}
	}
	return list
}

func title(f Fate, would bool) string {
	names := map[Fate][2]string{
		Stopped:   {"Stopped", "Would have been stopped, and ran"},
		Asked:     {"Asked about", "Would have been asked about, and ran"},
		Contained: {"Ran in a box", "Would have run in a box, and ran without one"},
	}
	if would {
		return names[f][1]
	}
	return names[f][0]
}

// line describes a deed in one line, for people. For a call that runs in a box, it gives no reason.
func (d *Deed) line() string {
	text := d.What
	if d.Times > 1 {
		text += fmt.Sprintf(" (%d times)", d.Times)
	}
	if d.Fate == Contained {
		return text
	}
	if d.Why != "" {
		text += ": " + d.Why
	}
	if len(d.Behind) > 0 {
		text += "; it had read " + strings.Join(d.Behind[:min(2, len(d.Behind))], ", ")
		if more := len(d.Behind) - 2; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	return text + "; " + d.First.Local().Format(time.DateOnly+" 15:04") + " in " + d.Sessions[0]
}

// Few returns a list of the first calls for people.
func Few(calls []string) string {
	if len(calls) == 0 {
		return "nothing"
	}
	text := strings.Join(calls[:min(len(calls), fewDeeds)], "; ")
	if more := len(calls) - fewDeeds; more > 0 {
		text += fmt.Sprintf("; and %d more: --output json has all", more)
	}
	return text
}
