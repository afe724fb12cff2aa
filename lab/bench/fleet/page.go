package main

import (
	"fmt"
	"math"
	"os"
	"strings"
)

// The marks around the generated parts of a page. The first mark names the part.
const (
	markBegins = "<!-- %s: from docs/evidence, renewed by «make scale» -->\n"
	markEnds   = "<!-- end -->\n"
)

// renewPage replaces the parts of a page.
func renewPage(file string, parts map[string]string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := replaceParts(string(data), parts)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // it is public
}

// replaceParts returns a page with its parts replaced. It is an error if the page has no place for
// a part.
func replaceParts(text string, parts map[string]string) (string, error) {
	for name, part := range parts {
		begins := fmt.Sprintf(markBegins, name)
		before, rest, ok := strings.Cut(text, begins)
		if !ok {
			return "", fmt.Errorf("there is no place for %q", name)
		}
		_, after, ok := strings.Cut(rest, markEnds)
		if !ok {
			return "", fmt.Errorf("the part %q does not end", name)
		}
		text = before + begins + "\n" + part + "\n" + markEnds + after
	}
	return text, nil
}

// pages returns the parts of all pages.
func pages(m *measured, s *scaled) map[string]map[string]string {
	return map[string]map[string]string{
		"scale.md": {
			"run": runPart(m), "ratios": ratiosPart(m), "shards": shardsPart(m.Figures.Shards), "paced": shardsPart(m.Figures.Paced), "checks": checksPart(s),
			"decades": decadesPart(s), "breaks": breaksPart(s),
		},
		"guide/capacity.md": {"constants": constantsPart(s), "examples": examplesPart(s)},
	}
}

// table formats a Markdown table.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	return b.String()
}

func runPart(m *measured) string {
	load := "not known"
	if len(m.Load) > 0 {
		load = strings.Fields(m.Load[0])[0] + " before, " + strings.Fields(m.Load[len(m.Load)-1])[0] + " after"
	}
	rounds, sessions := 0, 0
	if list := m.Figures.Ratios; len(list) > 0 {
		rounds, sessions = list[0].Rounds, list[0].Sessions
	}
	return fmt.Sprintf("%s, %d cores for all of it, load of the machine %s; %s sessions, %d rounds; %s, commit %.7s.\n",
		m.Figures.Server, m.Cores, load, number(float64(sessions)), rounds, m.Began.Format("2 January 2006"), m.Commit)
}

func ratiosPart(m *measured) string {
	var rows [][]string
	for _, r := range m.Figures.Ratios {
		met := "missed"
		if r.Met {
			met = "met"
		}
		rows = append(rows, []string{
			strings.TrimPrefix(r.Name, "fleet, "), fmt.Sprint(r.Inflight),
			fmt.Sprintf("%.2f (%.2f to %.2f)", r.Ratio, r.Lower, r.Upper), fmt.Sprintf("%g, %s", r.Goal, met), number(r.PerSecond),
		})
	}
	return table([]string{"", "in flight", "ratio (quartiles)", "goal", "a second"}, rows)
}

func shardsPart(points []point) string {
	var rows [][]string
	of := func(s *share) string {
		if s == nil {
			return ""
		}
		return fmt.Sprintf("%.2f (%.2f to %.2f)", s.Ratio, s.Lower, s.Upper)
	}
	met := func(p point) string {
		if p.CPUOfOne != nil && p.CPUOfOne.Met && p.FlushOfOne.Met {
			return "met"
		}
		return "missed"
	}
	for _, p := range points {
		rows = append(rows, []string{
			fmt.Sprint(p.Shards), number(p.PerSecond), fmt.Sprintf("%.0f, %.0f, %.0f", p.Node, p.Primary, p.Replica), fmt.Sprintf("%.3f", p.Flushes),
			of(p.CPUOfOne), of(p.FlushOfOne), fmt.Sprint(p.Crossing), met(p),
		})
	}
	return table([]string{"shards", "a second", "µs of node, primaries, replicas", "flushes", "processor time of one shard's", "flushes of one shard's", "across shards", "at most 1.10"}, rows)
}

func checksPart(s *scaled) string {
	var rows [][]string
	for _, c := range s.Checks {
		said := fmt.Sprintf("%+.0f %%", c.Error*100)
		if c.Fitted {
			said = "the point it was fitted by"
		}
		rows = append(rows, []string{fmt.Sprint(c.Shards), fmt.Sprint(c.Inflight), number(c.Measured), number(c.Simulated), said})
	}
	return table([]string{"shards", "in flight", "measured, a second", "simulated, a second", "off by"}, rows) +
		fmt.Sprintf("\nFrom %d in flight on it is off by at most %.0f %%. With fewer it is not to be relied on.\n", leastInflight, math.Ceil(s.Worst*100))
}

func decadesPart(s *scaled) string {
	var rows [][]string
	for _, d := range s.Decades {
		fits := ""
		if !d.Fits {
			fits = ", not enough"
		}
		rows = append(rows, []string{
			number(d.Rate), fmt.Sprintf("%d × %d", d.Nodes, d.NodeCores), fmt.Sprintf("%d × 2 × %d%s", d.Shards, d.ServerCores, fits), fmt.Sprintf("%.3g, %.3g", d.P50/1000, d.P99/1000), fmt.Sprintf("%.2g", d.Commits),
			bits(d.AllGbs), stored(d.StoredTB), stored(d.DiskTB), fmt.Sprint(d.Cores), fmt.Sprintf("%.3g", d.Cost),
		})
	}
	return table([]string{"decisions a second", "nodes × cores", "shards × servers × cores", "p50, p99 ms", "commits for one", "network", "stored a day", "disk of a server", "cores", "cost of a million"}, rows)
}

func breaksPart(s *scaled) string {
	var rows [][]string
	for _, d := range s.Decades {
		rows = append(rows, []string{
			number(d.Rate), d.First, fmt.Sprintf("%.2g", d.Room), fmt.Sprint(d.Connections), fmt.Sprintf("%.2g MB/s", d.LogMBs),
			hours(d.FreezeHours), fmt.Sprintf("%.0f %%", d.NodeLost*100), number(d.Backlog), fmt.Sprintf("%.2g s", math.Max(d.CatchUp, 0.01)),
		})
	}
	return table([]string{"decisions a second", "breaks first", "at times the load", "connections of a primary", "log of a shard", "between freezes", "nodes, one lost", "waiting after 5 s without a primary", "caught up in"}, rows)
}

func constantsPart(s *scaled) string {
	c := s.Constants
	us := func(v float64) string { return fmt.Sprintf("%.3g µs", v) }
	return table([]string{"for one decision", "", "measured"}, [][]string{
		{"processor time of a node, 64 in flight", "`node`", us(c.NodeCPU)},
		{"processor time of a primary, 64 in flight", "`primary`", us(c.ServerCPU)},
		{"— of it for each commit, which many share", "", us(c.PrimaryGroup)},
		{"processor time of a replica, without its share of a commit", "`replica`", us(c.ReplicaEach)},
		{"one look at what sessions left behind, in each shard", "`look`", us(c.LookEach)},
		{"written to the log, and sent to the replica", "`log`", number(c.LogBytes) + " bytes"},
		{"sent by a node", "`sent`", number(c.SentBytes) + " bytes"},
		{"kept on disk, indexes included", "`stored`", number(c.StoredBytes) + " bytes"},
		{"— of it indexes", "", number(c.IndexBytes) + " bytes"},
	})
}

// examples returns how many agents make that many decisions a second, for the sizes that people ask
// about most.
func examples() map[float64]int { return map[float64]int{1: 10, 100: 1_000, 10_000: 100_000} }

func examplesPart(s *scaled) string {
	var rows [][]string
	for _, d := range s.Decades {
		agents, ok := examples()[d.Rate]
		if !ok {
			continue
		}
		rows = append(rows, []string{
			number(float64(agents)), number(d.Rate), fmt.Sprintf("%d of %d cores", d.Nodes, d.NodeCores),
			fmt.Sprintf("%d, each two servers of %d cores", d.Shards, d.ServerCores), fmt.Sprintf("%.2g %%, %.2g %%", d.NodeLoad*100, d.PrimaryLoad*100),
			stored(d.StoredTB), stored(d.DiskTB), fmt.Sprint(d.Connections),
		})
	}
	return table([]string{"agents", "decisions a second", "nodes", "shards", "busy: nodes, primaries", "stored a day", "disk of a server", "connections of a primary"}, rows)
}

// number formats a number for people.
func number(v float64) string {
	text := fmt.Sprintf("%.0f", v)
	if math.Abs(v) < 10 && v != math.Trunc(v) {
		text = fmt.Sprintf("%.2g", v)
	}
	if strings.ContainsAny(text, ".e") {
		return text
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func bits(g float64) string {
	if g < 1 {
		return fmt.Sprintf("%.3g Mbit/s", g*1000)
	}
	return fmt.Sprintf("%.3g Gbit/s", g)
}

func stored(tb float64) string {
	if tb < 1 {
		return fmt.Sprintf("%.3g GB", tb*1000)
	}
	return fmt.Sprintf("%.3g TB", tb)
}

func hours(h float64) string {
	if h > 48 {
		return number(math.Round(h/24)) + " days"
	}
	return fmt.Sprintf("%.2g hours", h)
}
