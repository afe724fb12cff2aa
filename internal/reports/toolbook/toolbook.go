// Package toolbook lists the tools that agents used, and what a catalog knows of each. It reads
// only recorded facts.
package toolbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/internal/text/meaning"
)

// The limits of a list.
const (
	maxTools = 200
	maxName  = 60 // characters of a name
)

// A Tool is a tool that an agent called. Programs read its JSON, so fields are only added.
type Tool struct {
	floodmark.ToolRef
	Calls int       `json:"calls"`
	Last  time.Time `json:"last"`
	// Described says that a profile of the catalog describes the tool.
	Described bool `json:"described"`
	// About is what the profile says the tool does.
	About   string             `json:"about,omitempty"`
	Effects []floodmark.Effect `json:"possibleEffects"`
}

// A Book is a list of tools. It is ordered by agent, then undescribed tools first, then by
// server, and then the most used first.
type Book struct {
	Tools []Tool `json:"tools"`
	More  int    `json:"more"` // how many tools are not listed
	// Next says what the owner can do about undescribed tools.
	Next string `json:"next,omitempty"`
}

// Of returns the tools that were called since a time.
func Of(sessions []tally.Session, cat *catalog.Catalog, since time.Time) Book {
	used := map[floodmark.ToolRef]Tool{}
	for _, s := range sessions {
		for _, f := range s.Facts {
			if d, ok := f.Fact.(floodmark.ActionDecided); ok && d.Action.Kind == floodmark.CallTool && !f.At.Before(since) {
				t := used[d.Action.Tool]
				t.ToolRef, t.Calls = d.Action.Tool, t.Calls+1
				if f.At.After(t.Last) {
					t.Last = f.At
				}
				used[d.Action.Tool] = t
			}
		}
	}
	b := Book{Tools: []Tool{}}
	for ref, t := range used {
		p, known := cat.Lookup(ref)
		t.Described, t.Effects = known, cat.Possible(ref)
		if known {
			t.About = p.About()
		}
		b.Tools = append(b.Tools, t)
	}
	described := map[bool]int{true: 1}
	slices.SortFunc(b.Tools, func(x, y Tool) int {
		return cmp.Or(cmp.Compare(x.Agent, y.Agent), described[x.Described]-described[y.Described], cmp.Compare(x.Server, y.Server), y.Calls-x.Calls, cmp.Compare(x.Name, y.Name))
	})
	var unknown []string
	for _, t := range b.Tools {
		if !t.Described {
			unknown = append(unknown, t.title())
		}
	}
	b.Next = strings.TrimSpace(meaning.Describe(unknown))
	b.More = max(0, len(b.Tools)-maxTools)
	b.Tools = b.Tools[:len(b.Tools)-b.More]
	return b
}

// title returns the name of a tool as it is written in a policy and on a command line.
func (t Tool) title() string { return floodmark.ToolRef{Server: t.Server, Name: t.Name}.String() }

// String returns the list for people, by agent. It contains no characters that control a terminal.
func (b Book) String() string {
	var out strings.Builder
	agent := ""
	for i, t := range b.Tools {
		if i == 0 || t.Agent != agent {
			agent = t.Agent
			fmt.Fprintf(&out, "%s\n", cmp.Or(plain(agent), "an agent without a name"))
		}
		what := Does(t.Effects) + ": " + t.About
		if !t.Described {
			what = "not described: it counts as code, and its result as a secret"
		}
		calls := "calls"
		if t.Calls == 1 {
			calls = "call"
		}
		fmt.Fprintf(&out, "  %-32s %5d %-5s last %s  %s\n", plain(t.title()), t.Calls, calls, t.Last.Format(time.DateOnly), what)
	}
	switch {
	case len(b.Tools) == 0:
		out.WriteString("no tool was called in that time\n")
	case b.More > 0:
		fmt.Fprintf(&out, "and %d more\n", b.More)
	}
	if b.Next != "" {
		out.WriteString("\n" + b.Next + "\n")
	}
	return out.String()
}

func plain(name string) string { return floodmark.OneLine(floodmark.Visible(name), maxName) }

// Does returns in words what a tool may do, the most guarded effect first: «runs code, reads».
func Does(effects []floodmark.Effect) string {
	var words []string
	for _, e := range slices.Sorted(slices.Values(effects)) {
		if w := word(e); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

func word(e floodmark.Effect) string {
	switch e {
	case floodmark.Run:
		return "runs code"
	case floodmark.Send:
		return "sends"
	case floodmark.Change:
		return "changes"
	case floodmark.Write:
		return "writes"
	case floodmark.Fetch, floodmark.Observe:
		return "reads"
	case floodmark.Admin:
	}
	return "changes the agent"
}

// Split splits «server/tool», or «mcp__server__tool» as some agents write it. The server is empty
// if the name has none.
func Split(name string) (server, tool string) {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if s, t, ok := strings.Cut(rest, "__"); ok && s != "" && t != "" {
			return s, t
		}
	}
	if s, t, ok := strings.Cut(name, "/"); ok {
		return s, t
	}
	return "", name
}

// Fits reports whether a name of the catalog, perhaps with «*» at its end, matches a tool.
func Fits(name, tool string) bool {
	if head, ok := strings.CutSuffix(name, "*"); ok && strings.HasPrefix(tool, head) {
		return true
	}
	return name == tool
}

// Words returns effects as they are written in policies.
func Words(effects []floodmark.Effect) string {
	words := make([]string, len(effects))
	for i, e := range effects {
		words[i] = e.String()
	}
	return strings.Join(words, ", ")
}
