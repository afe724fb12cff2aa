package setup

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/text/linetext"
)

// A protectReport is the answer for programs. Fields are only added.
type protectReport struct {
	// Applied says that the changes were made.
	Applied bool            `json:"applied"`
	Agents  []string        `json:"agents"`
	Changes []protectChange `json:"changes"`
	Notes   []string        `json:"notes"`
	// Uncovered are MCP servers that are not reached through the gateway; missing without --mcp.
	Uncovered []serverReport `json:"uncovered,omitempty"`
	// Rules is the change of the policy file; missing if there is none.
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
		r.Changes = append(r.Changes, protectChange{ch.Agent, ch.Path, whatChanges(ch), noteOf(ch), linetext.Diff(string(ch.Before), string(ch.After))})
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

// lockNote explains the change to opencode's list of providers, which looks as if it disabled them.
const lockNote = "This switches no provider off. The word «floodmark:» is a lock that our plugin opens whenever opencode starts: your providers and models stay as they are, and only without the plugin opencode finds none. One thing changes: «opencode auth login» lists no provider. To add a key, take the word out for that moment."

// noteOf returns the note for people about a change.
func noteOf(ch protect.Change) string {
	word := []byte(`"floodmark:`)
	if ch.Agent == "opencode" && strings.HasPrefix(filepath.Ext(ch.Path), ".json") && bytes.Count(ch.After, word) > bytes.Count(ch.Before, word) {
		return lockNote
	}
	return ch.Note
}

// maxShown is how many lines of a new or removed file are shown unless all are asked for. Such a
// file is ours, and long.
const maxShown = 12

// PlanText shows what would change, as a diff. With all it shows every line of new and removed
// files.
func PlanText(st cli.Style, plan *protect.Plan, home string, all bool) string {
	p := &cli.Sheet{St: st}
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
		p.Title(head)
		if note := noteOf(ch); note != "" {
			p.Line(2, note)
		}
		list := linetext.Diff(string(ch.Before), string(ch.After))
		rest := 0
		if !all && (ch.Made || ch.Gone) && len(list) > maxShown {
			rest = len(list) - maxShown
			list = list[:maxShown]
		}
		for _, line := range list {
			paint := func(s string) string { return s }
			switch line[0] {
			case '+':
				paint = st.Green
			case '-':
				paint = st.Red
			case '@':
				paint = st.Dim
			}
			p.B.WriteString("  " + paint(strings.TrimRight(strings.ReplaceAll(cli.Printable(line), "\t", "    "), " \n")) + "\n")
		}
		if rest > 0 {
			p.Line(2, "and "+cli.Count(rest, "more line", "more lines")+" of our own, left out here")
		}
	}
	if p.B.Len() > 0 {
		p.B.WriteByte('\n')
	}
	return p.String()
}

// fromHome shortens a path below the home folder with ~.
func fromHome(path, home string) string {
	if rest, is := strings.CutPrefix(path, home+"/"); is && home != "" {
		return "~/" + rest
	}
	return path
}
