package tally

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/audit"
)

// An Auditing counts the answers of an auditor.
type Auditing struct {
	Asked  int `json:"asked"`
	Allow  int `json:"allow"`
	Block  int `json:"block"`
	Unsure int `json:"unsure"`
	Silent int `json:"silent"` // the auditor gave no answer
}

func (a *Auditing) add(says string) {
	a.Asked++
	switch says {
	case audit.Allow.String():
		a.Allow++
	case audit.Block.String():
		a.Block++
	case audit.Unsure.String():
		a.Unsure++
	default:
		a.Silent++
	}
}

// An AuditedTool counts an auditor's answers about calls of one tool with the same effects.
type AuditedTool struct {
	Tool    string   `json:"tool"`
	Effects []string `json:"effects"`
	Auditing
}

// AuditorFigures count all answers of an auditor.
type AuditorFigures struct {
	Auditing
	// Tasks is in how many tasks the auditor was asked.
	Tasks int `json:"tasks"`
	// Share is the share of these tasks among all tasks.
	Share float64 `json:"share"`
	// Tools are ordered by how often the auditor refused them, and then by how often it was asked.
	Tools []AuditedTool `json:"tools"`
}

// opinion counts one answer of an auditor.
func (r *reader) opinion(f floodmark.OpinionGiven) {
	if f.Verdict == floodmark.Allow {
		r.Audited++
	}
	r.audits[r.state.Turn] = true
	r.Auditor.add(f.Says)
	a := r.calls[f.Call].Action
	one := AuditedTool{Tool: a.Tool.String()}
	for _, e := range a.Effects {
		one.Effects = append(one.Effects, e.String())
	}
	same := func(o AuditedTool) bool { return o.Tool == one.Tool && slices.Equal(o.Effects, one.Effects) }
	i := slices.IndexFunc(r.Auditor.Tools, same)
	if i < 0 {
		i = len(r.Auditor.Tools)
		r.Auditor.Tools = append(r.Auditor.Tools, one)
	}
	r.Auditor.Tools[i].add(f.Says)
}

// auditor returns the figures of the auditor, with the tool that it refused most first.
func (a *Account) auditor() AuditorFigures {
	f := a.Auditor
	f.Share = ratio(f.Tasks, a.Tasks)
	f.Tools = slices.SortedFunc(slices.Values(f.Tools), func(x, y AuditedTool) int {
		return cmp.Or(cmp.Compare(y.Block, x.Block), cmp.Compare(y.Asked, x.Asked), cmp.Compare(x.Tool, y.Tool), slices.Compare(x.Effects, y.Effects))
	})
	return f
}

// Lines returns the figures in words, with at most so many tools. It is empty if no auditor was
// asked.
func (f AuditorFigures) Lines(tools int) []string {
	if f.Asked == 0 {
		return nil
	}
	list := []string{fmt.Sprintf("asked %d times, in %.0f %% of all tasks: %s", f.Asked, 100*f.Share, f.words())}
	for _, t := range f.Tools[:min(tools, len(f.Tools))] {
		list = append(list, fmt.Sprintf("%s (%s): %s", t.Tool, strings.Join(t.Effects, ", "), t.words()))
	}
	return list
}

func (a Auditing) words() string {
	return fmt.Sprintf("%d block, %d unsure, %d allow, %d without an answer", a.Block, a.Unsure, a.Allow, a.Silent)
}
