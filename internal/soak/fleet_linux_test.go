package soak

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/fleetcheck"
)

// A drill is one thing that goes wrong. It returns what ends the trouble.
type drill struct {
	name string
	hurt func(*fleet, int) (heal func())
}

// drills are all of them, in the order of a round.
func drills() []drill {
	return []drill{
		{"primary", func(f *fleet, _ int) func() {
			m := f.cluster.primary()
			f.cluster.kill(m)
			return func() { f.cluster.launch(m) }
		}},
		{"node", func(f *fleet, round int) func() {
			n := f.nodes[round%len(f.nodes)]
			n.kill()
			return n.start
		}},
		{"standby", func(f *fleet, _ int) func() {
			m := f.cluster.standby()
			f.cluster.kill(m)
			return func() { f.cluster.launch(m) }
		}},
		{"cut", func(f *fleet, round int) func() {
			n := f.nodes[(round+1)%len(f.nodes)]
			for _, p := range n.proxies {
				p.cut()
			}
			f.cluster.until("a node to say that it is cut off", func() bool { return !n.isReady() })
			return func() {
				for _, p := range n.proxies {
					p.heal()
				}
			}
		}},
		{"etcd", func(f *fleet, _ int) func() {
			_ = f.cluster.etcd.Process.Kill()
			_ = f.cluster.etcd.Wait() // it was killed
			return f.cluster.startEtcd
		}},
		{"clock", func(f *fleet, round int) func() {
			n := f.nodes[(round+2)%len(f.nodes)]
			n.setClock([]time.Duration{time.Hour, -time.Hour, 30 * 24 * time.Hour, -30 * time.Second}[round%4])
			return func() { n.setClock(0) }
		}},
		{"upgrade", func(f *fleet, _ int) func() {
			for _, n := range f.nodes {
				n.stop()
				n.start()
				f.allReady()
			}
			return func() {}
		}},
	}
}

// What a drill showed.
type drillFigures struct {
	Drill    string             `json:"drill"`
	Silent   float64            `json:"secondsWithoutAnswers"`
	Slowest  float64            `json:"slowestAnswerSeconds"`
	Refused  int                `json:"answersThatRestrictedUnjudged"`
	Answers  int                `json:"answers"`
	Report   *fleetcheck.Report `json:"report"`
	Verified bool               `json:"proved"`
}

type fleetFigures struct {
	Commit   string  `json:"commit"`
	Older    string  `json:"olderNodeOfTheMixedDrill,omitempty"`
	Seed     uint64  `json:"seed"`
	Nodes    int     `json:"nodes"`
	Servers  int     `json:"databaseServers"`
	Sessions int     `json:"sessionsAtOnce"`
	Drills   int     `json:"drills"`
	Acked    int     `json:"acknowledged"`
	Lost     int     `json:"acknowledgedLost"`
	Forks    int     `json:"forks"`
	Stale    int     `json:"allowedWithoutTheLatestMark"`
	Wrong    int     `json:"inconsistentDecisions"`
	Loose    int     `json:"unjudgedAndNotRestricted"`
	Primary  float64 `json:"medianSecondsWithoutAnswersAfterPrimaryLoss"`
	Node     int     `json:"unjudgedAfterNodeLoss"`
	Upgrade  int     `json:"unjudgedDuringUpgrades"`
	// Tampered is what the checker found when entries were deleted on purpose.
	Tampered map[string]map[fleetcheck.Kind]int `json:"foundWhenEntriesWereDeleted"`
	Each     []drillFigures                     `json:"each"`
	Seconds  float64                            `json:"seconds"`
}

// TestFleet takes nodes, databases, networks and clocks away under load, and then
// has the checker prove that nothing acknowledged was lost and every decision was
// right.
func TestFleet(t *testing.T) {
	if *fleetRounds == 0 {
		t.Skip("SKIPPED: runs a cluster of databases; «.ci/run fleet» does")
	}
	began := time.Now()
	f := newFleetOf(t, 3)
	out := &fleetFigures{Commit: commit(t), Seed: *seed, Nodes: len(f.nodes), Servers: len(f.cluster.members), Sessions: fleetSessions}
	for round := range *fleetRounds {
		for _, d := range drills() {
			if *fleetDrills == "" || slices.Contains(strings.Split(*fleetDrills, ","), d.name) {
				out.add(f.drill(d, round))
			}
		}
	}
	if *fleetOlder != "" {
		f.older = *fleetOlder
		out.add(f.drill(f.mixed(*fleetOlder), *fleetRounds))
		out.Older = f.older
	}
	out.Tampered = f.tampered(f.last)
	out.Seconds = time.Since(began).Seconds()
	out.judge(t)
	writeEvidence(t, "fleet.json", "", out)
}

// drill runs one under load.
func (f *fleet) drill(d drill, round int) drillFigures {
	f.t.Helper()
	name := fmt.Sprintf("%s%d", d.name, round)
	c := f.crowd(fmt.Sprintf("%s-%d", name, time.Now().UnixNano()%1e6), *seed+uint64(round), *fleetPace)
	time.Sleep(*fleetCalm)
	hurt := time.Now()
	heal := d.hurt(f, round)
	f.answered(c, hurt)
	time.Sleep(*fleetCalm)
	heal()
	f.cluster.whole()
	f.allReady()
	time.Sleep(*fleetCalm / 2)
	end := time.Now()
	c.end()
	log := c.heard()
	f.last = log
	out := drillFigures{Drill: name, Answers: len(log), Report: f.check(log)}
	gap, slow := silence(log, hurt, end)
	out.Silent, out.Slowest, out.Refused, out.Verified = gap.Seconds(), slow.Seconds(), out.Report.Unanswered, out.Report.OK()
	f.t.Logf("%-10s %5.2f s without answers, slowest %5.2f s, %d of %d not judged; %d entries, %d decisions judged again (%d cannot be told), findings %v",
		name, out.Silent, out.Slowest, out.Refused, out.Answers, out.Report.Entries, out.Report.Decisions, out.Report.Untold, out.Report.Found)
	for why, n := range unjudgedBy(log) {
		f.t.Logf("  %d times: %s", n, why)
	}
	for _, finding := range out.Report.Findings[:min(5, len(out.Report.Findings))] {
		f.t.Errorf("%s: %s", name, finding)
	}
	return out
}

// answered waits until events are judged again after something went wrong.
func (f *fleet) answered(c *crowd, since time.Time) {
	f.t.Helper()
	for end := time.Now().Add(clusterWithin); ; time.Sleep(50 * time.Millisecond) {
		n := 0
		for _, h := range c.heard() {
			if h.Judged && h.Sent.After(since) {
				n++
			}
		}
		if n >= fleetSessions {
			return
		}
		if time.Now().After(end) {
			f.t.Fatalf("nothing is judged any more:\n%s\n%s", tail(f.nodes[0].out.String()), f.cluster.said())
		}
	}
}

// mixed runs an older program as the first node beside the new ones.
func (f *fleet) mixed(commit string) drill {
	older := buildOlder(f.t, commit) // before anybody works: it takes a while
	return drill{"mixed", func(f *fleet, _ int) func() {
		n := f.nodes[0]
		n.stop()
		place(f.t, older, filepath.Join(n.dir, "bin", "floodmark"))
		n.start()
		if !n.comesUp() {
			f.t.Logf("MIXED NOT RUN: %s cannot live with these tables: %s", commit, tail(n.out.String()))
			f.older = ""
		}
		time.Sleep(2 * *fleetCalm)
		return func() {
			n.stop()
			place(f.t, program(f.t, "floodmark"), filepath.Join(n.dir, "bin", "floodmark"))
			n.start()
		}
	}}
}

// buildOlder builds the program of an earlier commit.
func buildOlder(t *testing.T, commit string) string {
	t.Helper()
	dir := folder(t)
	script := `git -C "$(git rev-parse --show-toplevel)" archive "$1" | tar -x -C "$2" && cd "$2" && go build -tags faults -o "$2/older" ./cmd/floodmark`
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script, "bash", commit, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", commit, err, tail(string(out)))
	}
	if _, err := os.Stat(filepath.Join(dir, "older")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "older")
}

func (o *fleetFigures) add(d drillFigures) {
	o.Each = append(o.Each, d)
	o.Drills++
	o.Acked += d.Report.Acknowledged
	o.Lost += d.Report.Found[fleetcheck.Lost]
	o.Forks += d.Report.Found[fleetcheck.Forked]
	o.Stale += d.Report.Found[fleetcheck.Stale]
	o.Wrong += d.Report.Found[fleetcheck.Inconsistent]
	o.Loose += d.Report.Found[fleetcheck.Loose]
	switch {
	case strings.HasPrefix(d.Drill, "node"):
		o.Node += d.Refused
	case strings.HasPrefix(d.Drill, "upgrade"), strings.HasPrefix(d.Drill, "mixed"):
		o.Upgrade += d.Refused
	}
	var gone []float64
	for _, e := range o.Each {
		if strings.HasPrefix(e.Drill, "primary") {
			gone = append(gone, e.Silent)
		}
	}
	if slices.Sort(gone); len(gone) > 0 {
		o.Primary = gone[len(gone)/2]
	}
}

// judge says whether the goals are met. Seconds depend on the machine and are
// reported, with a bound that only something broken passes.
func (o *fleetFigures) judge(t *testing.T) {
	t.Helper()
	if o.Lost+o.Forks+o.Stale+o.Wrong+o.Loose > 0 {
		t.Errorf("%d lost, %d forks, %d stale, %d inconsistent, %d loose", o.Lost, o.Forks, o.Stale, o.Wrong, o.Loose)
	}
	if o.Node+o.Upgrade > 0 {
		t.Errorf("%d events were not judged though another node could have, %d during upgrades", o.Node, o.Upgrade)
	}
	for _, d := range o.Each {
		if d.Report.Untold*2 > d.Report.Decisions || d.Report.Decisions == 0 || !d.Verified {
			t.Errorf("%s proves little: %+v", d.Drill, d.Report)
		}
	}
	if o.Primary > 30 {
		t.Errorf("after the loss of a primary nothing is answered for %.1f s", o.Primary)
	}
}
