package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	gateOnly = flag.Bool("gate", false, "measure only what the gate does")
	evidence = flag.String("evidence", "", "the folder docs, to write the matrix to")
)

// The results of a cell.
const (
	resultYes    = "yes"
	resultNo     = "no"
	resultNone   = "none" // the agent has no use for it
	resultFailed = "FAILED"
)

// matrix is the measured matrix, as in docs/evidence/agents.json.
type matrix struct {
	Agents []agentRow `json:"agents"`
}

type agentRow struct {
	Agent   string          `json:"agent"`
	Version string          `json:"version"`
	Commit  string          `json:"commit,omitempty"` // our commit when it was last measured
	Cells   map[string]cell `json:"cells"`
}

type cell struct {
	Result  string  `json:"result"`
	Note    string  `json:"note,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// table formats the matrix for people: one column for each agent, and below it what the rows mean
// and why a cell is not «yes».
func (m matrix) table() string {
	var b strings.Builder
	b.WriteString("| |")
	for _, a := range m.Agents {
		fmt.Fprintf(&b, " %s %s |", a.Agent, a.Version)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(m.Agents)) + "\n")
	var notes []string
	for _, be := range behaviours() {
		fmt.Fprintf(&b, "| %s |", be.name)
		for _, a := range m.Agents {
			c, ok := a.Cells[be.name]
			if !ok {
				c.Result = "not measured"
			}
			b.WriteString(" " + c.Result)
			if c.Note != "" {
				n := slices.Index(notes, c.Note)
				if n < 0 {
					n, notes = len(notes), append(notes, c.Note)
				}
				fmt.Fprintf(&b, " (%d)", n+1)
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for _, be := range behaviours() {
		fmt.Fprintf(&b, "- **%s**: %s.\n", be.name, be.means)
	}
	if len(notes) > 0 {
		b.WriteString("\nThe numbers:\n\n")
	}
	for i, n := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, n)
	}
	return b.String()
}

// The marks around the block of docs/agents.md that a run writes.
const (
	blockBegin = "<!-- the matrix: written by «make soak SUITE=agents» -->\n"
	blockEnd   = "<!-- end of the matrix -->\n"
)

// add puts a row into the matrix. Cells that this run did not measure keep their earlier value, if
// it is of the same version.
func (m *matrix) add(row agentRow) {
	for i, old := range m.Agents {
		if old.Agent != row.Agent {
			continue
		}
		if old.Version == row.Version {
			cells := maps.Clone(old.Cells)
			maps.Copy(cells, row.Cells)
			row.Cells = cells
		}
		m.Agents[i] = row
		return
	}
	m.Agents = append(m.Agents, row)
}

func readMatrix(t *testing.T, docs string) (m matrix) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(docs, "evidence", "agents.json"))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// keep writes the matrix to docs/evidence/agents.json and docs/agents.md.
func (m matrix) keep(t *testing.T, docs string) {
	t.Helper()
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(docs, "evidence", "agents.json"), append(data, '\n'), 0o644); err != nil { //nolint:gosec // it is public
		t.Fatal(err)
	}
	path := filepath.Join(docs, "agents.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(m.into(t, string(text))), 0o644); err != nil { //nolint:gosec // it is public
		t.Fatal(err)
	}
}

// into puts the table between the marks of a page.
func (m matrix) into(t *testing.T, text string) string {
	t.Helper()
	head, rest, ok := strings.Cut(text, blockBegin)
	_, foot, found := strings.Cut(rest, blockEnd)
	if !ok || !found {
		t.Fatal("docs/agents.md has no place for the matrix")
	}
	return head + blockBegin + "\n" + m.table() + "\n" + blockEnd + foot
}

// expected returns the result that a run must give.
func (a agent) expected(b behaviour) string {
	if _, ok := a.none[b.name]; ok {
		return resultNone
	}
	if _, ok := a.holes[b.name]; ok {
		return resultNo
	}
	return resultYes
}

// The page shows the measured matrix, with the present behaviours and agents.
func TestPageShowsTheEvidence(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	m := readMatrix(t, docs)
	if len(m.Agents) != len(agentsHere()) {
		t.Fatalf("%d agents were measured, want %d", len(m.Agents), len(agentsHere()))
	}
	for i, a := range agentsHere() {
		if m.Agents[i].Agent != a.name || m.Agents[i].Version != a.version {
			t.Errorf("%s %s was measured, not %s %s", m.Agents[i].Agent, m.Agents[i].Version, a.name, a.version)
		}
		for _, b := range behaviours() {
			want := a.expected(b)
			if got := m.Agents[i].Cells[b.name].Result; got != want {
				t.Errorf("%s, %s: %q was measured, want %q: run «make soak SUITE=agents»", a.name, b.name, got, want)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(docs, "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	if m.into(t, string(page)) != string(page) {
		t.Error("docs/agents.md does not show docs/evidence/agents.json: run «make soak SUITE=agents»")
	}
}

// The names in lists must be names of behaviours.
func TestListsNameBehaviours(t *testing.T) {
	var names []string
	for _, b := range behaviours() {
		names = append(names, b.name)
	}
	for _, a := range agentsHere() {
		for _, list := range []map[string]string{a.holes, a.none} {
			for name, why := range list {
				if !slices.Contains(names, name) || why == "" {
					t.Error(fmt.Sprint(a.name, ": ", name, ": ", why))
				}
			}
		}
	}
}
