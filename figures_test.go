package floodmark_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The figures on pages must be those that the measuring programs wrote. After a change of a file in
// docs/evidence, these tests name the rows to change.

func TestHouseFiguresOfProtection(t *testing.T) {
	var file struct{ Sets []measuredSet }
	evidence(t, "protection", &file)
	sets := map[string]measuredSet{}
	worked := 0
	for _, s := range file.Sets {
		sets[s.Set+" "+s.Policy] = s
		if s.Policy == "none" && strings.HasPrefix(s.Set, "agentd") {
			worked += s.Passed
		}
	}
	for name, s := range sets {
		if s.Policy == "floodmark" && s.Passed > 0 {
			t.Errorf("docs/evidence/protection.json: %s: %d attacks passed: that is not to be published but mended", name, s.Passed)
		}
	}
	all := sets["agentdojo-recorded floodmark"]
	want := []string{fmt.Sprintf("| | **floodmark** | | **%d** | %s | %s | %.2f |", all.Passed, share(all.Silent, all.Benign), share(all.AtMostOne, all.Benign), all.Questions)}
	for _, set := range []string{"agentdojo-ground-truth", "agentdyn-recorded-dev", "agentdyn-recorded-test", "agentdyn-ground-truth-dev", "agentdyn-ground-truth-test"} {
		a, b, f := sets[set+" A"], sets[set+" B"], sets[set+" floodmark"]
		want = append(want, fmt.Sprintf("| %d | %d / %d / **%d** |", f.Succeeded, a.Passed, b.Passed, f.Passed),
			fmt.Sprintf("| %.2f / %.2f / %.2f |", a.Questions, b.Questions, f.Questions))
	}
	says(t, "docs/protection.md", want...)
	var coding struct{ Sets []measuredSet }
	evidence(t, "coding", &coding)
	want = nil
	for _, s := range coding.Sets {
		sets[s.Set+" "+s.Policy] = s
		if s.Policy == "floodmark" {
			want = append(want, fmt.Sprintf("| `%s` | %d of %d | %s | %s | %.2f |", s.Set, s.Passed, s.Attacks, share(s.Silent, s.Benign), share(s.AtMostOne, s.Benign), s.Questions))
		}
	}
	a, b := sets["coding-third A"], sets["coding-third B"]
	want = append(want, fmt.Sprintf("A lets %d of its %d attacks pass, is silent in %s of the tasks and asks %.2f questions a task; B %d, %s and %.2f.",
		a.Passed, a.Attacks, share(a.Silent, a.Benign), a.Questions, b.Passed, share(b.Silent, b.Benign), b.Questions))
	says(t, "docs/coding-day.md", want...)
	want = []string{thousands(worked) + " need a tool call", fmt.Sprintf("Of %d honest tasks of AgentDojo, %d finish", all.Benign, all.Silent)}
	var live struct {
		Sets []struct{ Tasks, AttacksReached, AttacksReachedWithout, Silent, SilentButPushes int }
	}
	evidence(t, "coding-live", &live)
	for _, s := range live.Sets {
		want = append(want, fmt.Sprintf("| %d | %d | %d | %d |", s.AttacksReachedWithout, s.AttacksReached, s.Silent, s.SilentButPushes))
	}
	says(t, "README.md", want...)
}

type measuredSet struct {
	Set, Policy                        string
	Attacks, Succeeded, Passed, Benign int
	Silent                             int
	AtMostOne                          int     `json:"at_most_one"`
	Questions                          float64 `json:"questions_per_task"`
}

func TestHouseFiguresOfSpeed(t *testing.T) {
	const page = "docs/performance.md"
	var engines struct{ Figures []engineFigure }
	evidence(t, "bench", &engines)
	for _, f := range engines.Figures {
		if strings.Contains(f.Name, "decide") {
			name := strings.Replace(f.Name, "opa", "OPA", 1)
			says(t, page, fmt.Sprintf("| %s | %s | %s | %.1f |", name, thousands(round(f.NS)), thousands(round(f.Fastest)), f.Allocs))
		}
	}
	var journal struct{ Figures []journalFigure }
	evidence(t, "journal", &journal)
	for _, f := range journal.Figures {
		goal := strconv.FormatFloat(f.Goal, 'g', -1, 64)
		if goal == "0.8" {
			goal = "0.80"
		}
		says(t, page, fmt.Sprintf("| %d | %.2f (%.2f to %.2f) | %s, %s | %s | %.1f, %.0f |",
			f.InFlight, f.Ratio, f.Lower, f.Upper, goal, met(f.Met), thousands(f.PerSecond), f.P50/1000, f.P99/1000))
	}
	var precision struct{ Figures []precisionFigure }
	evidence(t, "precision", &precision)
	for _, f := range precision.Figures {
		if strings.HasPrefix(f.Name, "decision") {
			says(t, page, fmt.Sprintf("| %s, %s | %s, %s |", thousands(round(f.P50)), thousands(round(f.P99)), thousands(round(f.CPU50)), thousands(round(f.CPU99))))
		}
	}
	var hook struct {
		Empty median `json:"empty_ms"`
		Hook  median `json:"hook_ms"`
		Ratio median
	}
	evidence(t, "hook", &hook)
	says(t, page, fmt.Sprintf("| a hook call, median and p99 ms | %.1f, %.1f |", hook.Hook.Median, hook.Hook.P99),
		fmt.Sprintf("| an empty program, median and p99 ms | %.2f, %.1f |", hook.Empty.Median, hook.Empty.P99),
		fmt.Sprintf("| ratio of a pair, median | %.1f |", hook.Ratio.Median), fmt.Sprintf("| ratio of a pair, p99 | %.1f |", hook.Ratio.P99))
}

func TestHouseFiguresOfALongSession(t *testing.T) {
	var file struct {
		Figures []struct {
			Calls    int
			P50      float64 `json:"decision_cpu_p50_us"`
			P99      float64 `json:"decision_cpu_p99_us"`
			Heap     float64 `json:"heap_bytes"`
			Resident float64 `json:"resident_bytes"`
			Most     float64 `json:"most_resident_bytes"`
			Resting  float64 `json:"resting_resident_bytes"`
			Disk     float64 `json:"disk_bytes"`
			PerCall  float64 `json:"disk_bytes_a_call"`
		}
	}
	evidence(t, "long", &file)
	for _, f := range file.Figures {
		const mb = 1e6
		says(t, "docs/performance.md", fmt.Sprintf("| %s | %d, %d µs | %d MB | %d, %d, %d MB | %d MB | %.1f kB |", thousands(f.Calls), round(f.P50), round(f.P99),
			round(f.Heap/mb), round(f.Resident/mb), round(f.Most/mb), round(f.Resting/mb), round(f.Disk/mb), f.PerCall/1000))
	}
}

func TestHouseFiguresOfTheGateway(t *testing.T) {
	var f struct {
		Direct median `json:"direct_ms"`
		Bare   median `json:"bare_ms"`
		Floor  median `json:"floor_ms"`
		Wrap   median `json:"wrap_ms"`
		Serve  median `json:"serve_ms"`
		Ratio  median
		Served median `json:"serve_ratio"`
		Crowd  struct {
			Bare  float64 `json:"bare_per_second"`
			Wrap  float64 `json:"wrap_per_second"`
			Serve float64 `json:"serve_per_second"`
		}
	}
	evidence(t, "mcp-bench", &f)
	says(t, "docs/performance.md",
		fmt.Sprintf("| one call, median | %.2f ms | %.2f ms | %.2f ms | %.1f ms | %.1f ms |", f.Direct.Median, f.Bare.Median, f.Floor.Median, f.Wrap.Median, f.Serve.Median),
		fmt.Sprintf("| %.1f | %.1f |", f.Ratio.Median, f.Served.Median),
		fmt.Sprintf("| 64 calls at once, a second | | %s | | %s | %s |", thousands(round(f.Crowd.Bare)), thousands(round(f.Crowd.Wrap)), thousands(round(f.Crowd.Serve))))
}

type median struct{ Median, P99 float64 }

type engineFigure struct {
	Name    string
	NS      float64 `json:"ns_op"`
	Fastest float64 `json:"ns_op_fastest_round"`
	Allocs  float64 `json:"allocs_op"`
}

type journalFigure struct {
	InFlight  int
	Ratio     float64
	Lower     float64 `json:"lower_quartile"`
	Upper     float64 `json:"upper_quartile"`
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`
	Goal      float64
	Met       bool
	PerSecond int `json:"per_second"`
}

type precisionFigure struct {
	Name  string
	P50   float64 `json:"p50_us"`
	P99   float64 `json:"p99_us"`
	CPU50 float64 `json:"cpu_p50_us"`
	CPU99 float64 `json:"cpu_p99_us"`
}

// evidence reads the output of a measuring program.
func evidence(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("docs/evidence/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// says checks that a page has each of these texts, wherever its lines break.
func says(t *testing.T, page string, wants ...string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(string(text)), " ")
	for _, want := range wants {
		if !strings.Contains(flat, want) {
			t.Errorf("%s does not say what was measured: %s", page, want)
		}
	}
}

func share(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of)) }

func met(yes bool) string {
	if yes {
		return "met"
	}
	return "missed"
}

func round(f float64) int { return int(f + 0.5) }

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
