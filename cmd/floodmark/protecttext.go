package main

import (
	"strings"

	"github.com/floodmark/floodmark/internal/linetext"
	"github.com/floodmark/floodmark/internal/protect"
)

// A protectReport is the answer for programs. Fields are only added.
type protectReport struct {
	// Applied says that the changes were made.
	Applied bool            `json:"applied"`
	Agents  []string        `json:"agents"`
	Changes []protectChange `json:"changes"`
	Notes   []string        `json:"notes"`
	// Uncovered are MCP servers that stay beside the gateway; missing without --mcp.
	Uncovered []serverReport `json:"uncovered,omitempty"`
	// Rules is what becomes of the policy file; missing if it stays.
	Rules *rulesChange `json:"rules,omitempty"`
}

type protectChange struct {
	Agent string `json:"agent"`
	Path  string `json:"path"`
	// What is made, changed or removed.
	What string   `json:"what"`
	Note string   `json:"note,omitempty"`
	Diff []string `json:"diff"`
}

func planReport(plan *protect.Plan, rules *rulesChange, applied bool) protectReport {
	r := protectReport{Applied: applied, Rules: rules, Agents: []string{}, Changes: []protectChange{}, Notes: append([]string{}, plan.Notes...)}
	for _, a := range plan.Agents {
		r.Agents = append(r.Agents, a.Name)
	}
	for _, u := range plan.Uncovered {
		r.Uncovered = append(r.Uncovered, serverReportOf(u.Agent.Name, u.Server))
	}
	for _, ch := range plan.Changes {
		r.Changes = append(r.Changes, protectChange{ch.Agent, ch.Path, whatChanges(ch), ch.Note, linetext.Diff(string(ch.Before), string(ch.After))})
	}
	return r
}

func whatChanges(ch protect.Change) string {
	switch {
	case ch.Made:
		return "made"
	case ch.Gone:
		return "removed"
	}
	return "changed"
}

// maxShown is how many lines of a file that is new or goes are shown: it is
// ours, and long.
const maxShown = 12

// planText shows what would change, as a diff.
func planText(st style, plan *protect.Plan, home string) string {
	p := &sheet{st: st}
	title := map[string]string{}
	for _, a := range append(protect.Agents(), protect.Clients()...) {
		title[a.Name] = a.Title
	}
	for _, ch := range plan.Changes {
		head := title[ch.Agent] + ": " + fromHome(ch.Path, home)
		switch {
		case ch.Made:
			head += ", a new file"
		case ch.Gone:
			head += " is removed"
		}
		p.title(head)
		if ch.Note != "" {
			p.line(2, ch.Note)
		}
		list := linetext.Diff(string(ch.Before), string(ch.After))
		rest := 0
		if (ch.Made || ch.Gone) && len(list) > maxShown {
			rest = len(list) - maxShown
			list = list[:maxShown]
		}
		for _, line := range list {
			paint := func(s string) string { return s }
			switch line[0] {
			case '+':
				paint = st.green
			case '-':
				paint = st.red
			case '@':
				paint = st.dim
			}
			p.b.WriteString("  " + paint(strings.TrimRight(strings.ReplaceAll(printable(line), "\t", "    "), " \n")) + "\n")
		}
		if rest > 0 {
			p.line(2, "and "+count(rest, "more line", "more lines")+" like these")
		}
	}
	if p.b.Len() > 0 {
		p.b.WriteByte('\n')
	}
	return p.String()
}

// fromHome shortens a path as people write it.
func fromHome(path, home string) string {
	if rest, is := strings.CutPrefix(path, home+"/"); is && home != "" {
		return "~/" + rest
	}
	return path
}
