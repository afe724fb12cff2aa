// Bench asks three policy engines the same question in one process and says
// how long each takes: a tool call in a session with 200 sources, under 50
// rules of which 10 concern the tool. It first makes sure that all three give
// the same answers. It also times Floodmark's own kernel.
//
// Each engine is measured at its best: with its input already built in its own
// form, and with only the rules of the tool that is called. The second group of
// figures includes the building of the input.
//
// One JSON object for each figure goes to standard output, a table to standard
// error. The program is in a module of its own, so that Floodmark does not depend
// on the other engines.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/floodmark/floodmark"
)

// wantedCalls is how many calls the engines must agree on.
const wantedCalls = 1000

// evidence is the record of a run.
type evidence struct {
	Suite    string         `json:"suite"`
	Commit   string         `json:"commit"`
	Modified bool           `json:"modified"` // the tree had changes that are not in the commit
	Began    time.Time      `json:"began"`
	Seconds  float64        `json:"seconds"`
	Go       string         `json:"go"`
	Cores    int            `json:"cores"`
	Seed     uint64         `json:"seed"`
	Rounds   int            `json:"rounds"`
	Calls    int            `json:"calls"`
	Agreed   map[string]int `json:"agreed"` // how many calls got each answer, the same from all engines
	Figures  []figure       `json:"figures"`
}

func main() {
	seed := flag.Uint64("seed", 1, "chooses the calls and the order of the slices")
	rounds := flag.Int("rounds", 15, "how often everything is measured, at least 9")
	file := flag.String("json", "", "also write the figures to this file")
	flag.Parse()
	if err := run(*seed, max(*rounds, leastRounds), *file); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(seed uint64, rounds int, file string) error {
	out := evidence{Suite: "bench", Began: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), Cores: runtime.NumCPU(), Seed: seed, Rounds: rounds, Calls: wantedCalls, Agreed: map[string]int{}}
	out.Commit, out.Modified = commit(context.Background())
	counts, err := agree(seed, wantedCalls)
	if err != nil {
		return err
	}
	for v, n := range counts {
		out.Agreed[v.String()] = n
	}
	list, err := contenders(seed)
	if err != nil {
		return err
	}
	if out.Figures, err = measure(list, rounds, seed); err != nil {
		return err
	}
	out.Seconds = time.Since(out.Began).Round(time.Second).Seconds()
	if err := show(&out); err != nil || file == "" {
		return err
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// agree asks all engines about n calls and counts the answers. It returns an
// error if two engines answer differently.
func agree(seed uint64, n int) (map[floodmark.Verdict]int, error) {
	calls, err := workload(seed, n)
	if err != nil {
		return nil, err
	}
	all, err := engines()
	if err != nil {
		return nil, err
	}
	counts := map[floodmark.Verdict]int{}
	for i := range calls {
		var first floodmark.Verdict
		for j, e := range all {
			v, err := e.decide(e.build(&calls[i]))
			if err != nil {
				return nil, fmt.Errorf("call %d: %s: %w", i, e.name(), err)
			}
			if j == 0 {
				first = v
				counts[v]++
			}
			if v != first {
				return nil, fmt.Errorf("call %d (%s %v): %s says %s, %s says %s", i, calls[i].tool, calls[i].leaves, all[0].name(), first, e.name(), v)
			}
		}
	}
	return counts, nil
}

// contenders returns the engines, first all with built input, then all including
// the building, then the figures of the kernel.
func contenders(seed uint64) ([]contender, error) {
	calls, err := workload(seed, wantedCalls)
	if err != nil {
		return nil, err
	}
	all, err := engines()
	if err != nil {
		return nil, err
	}
	var built, building []contender
	for _, e := range all {
		forms := make([]form, len(calls))
		for i := range calls {
			forms[i] = e.build(&calls[i])
		}
		built = append(built, contender{name: "decide, " + e.name(), group: "decide", who: e.name(), run: func(n int) error {
			for i := range n {
				if _, err := e.decide(forms[i%len(forms)]); err != nil {
					return err
				}
			}
			return nil
		}})
		building = append(building, contender{name: "build and decide, " + e.name(), group: "build", who: e.name(), run: func(n int) error {
			for i := range n {
				if _, err := e.decide(e.build(&calls[i%len(calls)])); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	kernel, err := monitored()
	return append(append(built, building...), kernel...), err
}

// show prints the figures: objects for programs, a table for people.
func show(e *evidence) error {
	enc := json.NewEncoder(os.Stdout)
	table := tabwriter.NewWriter(os.Stderr, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tns\tfastest\tallocations\tof cedar-go\tof opa\t")
	for _, f := range e.Figures {
		if err := enc.Encode(f); err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%.1f\t%s\t%s\t\n", f.Name, f.NsOp, f.Fastest, f.AllocsOp, spread(f.VsCedar, f.CedarQ), spread(f.VsOPA, f.OPAQ))
	}
	return table.Flush()
}

func spread(ratio *float64, q *quartiles) string {
	if ratio == nil {
		return ""
	}
	return fmt.Sprintf("%.3f (%.3f to %.3f)", *ratio, q[0], q[1])
}

// commit returns the commit of HEAD, and whether files outside docs differ from it.
func commit(ctx context.Context) (hash string, modified bool) {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown", true
	}
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no", "--", "../..", ":!../../docs").Output()
	return strings.TrimSpace(string(head)), err != nil || len(changes) > 0
}
