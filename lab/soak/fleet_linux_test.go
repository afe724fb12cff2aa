package soak

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A drill is one kind of failure. Its function hurt causes the failure and returns a function
// that ends it.
type drill struct {
	name string
	hurt func(*fleet, int) (heal func())
}

// drills returns all drills of a round, in order.
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

// TestFleet breaks nodes, databases, networks and clocks under load. After each drill the checker
// proves that nothing acknowledged was lost and that every decision was right. With -older the
// fleet begins with the program of that commit and is first upgraded under load, so that all
// drills run on tables which the older program made.
func TestFleet(t *testing.T) {
	if *fleetRounds == 0 {
		t.Skip("SKIPPED: runs a cluster of databases; «.ci/run fleet» does")
	}
	out := &fleetFigures{Commit: commit(t), Seed: *seed, Sessions: fleetSessions, began: time.Now()}
	newer := program(t, "floodmark")
	first := newer
	if *fleetOlder != "" {
		first = buildOlder(t, *fleetOlder) // before there is any load, because it uses every core
	}
	t.Logf("built what runs after %s", out.sofar())
	f := newFleetOf(t, 3, first)
	out.Nodes, out.Servers = len(f.nodes), len(f.cluster.members)
	if *fleetOlder != "" {
		out.Older = *fleetOlder
		out.add(f.drill(rolling(newer), 0))
	}
	rounds := out.rounds(f)
	out.Tampered = f.tampered(f.last)
	out.Missed = out.misses()
	for _, m := range out.Missed {
		t.Error(m)
	}
	if rounds < *fleetRounds {
		out.Partial = fmt.Sprintf("%d of %d rounds: there was no time for more", rounds, *fleetRounds)
		t.Error(out.Partial)
	}
	out.keep(t)
	t.Logf("%d drills, %d acknowledged, %d lost, %d forks, %d without the latest mark; primary loss %.1f s (median), %s in all",
		out.Drills, out.Acked, out.Lost, out.Forks, out.Stale, out.Primary, out.sofar())
}

// rounds runs *fleetRounds rounds of drills, or as many as there is time for, and returns how many
// it finished. It writes the figures after each round.
func (o *fleetFigures) rounds(f *fleet) int {
	for round := range *fleetRounds {
		for _, d := range drills() {
			if *fleetDrills != "" && !slices.Contains(strings.Split(*fleetDrills, ","), d.name) {
				continue
			}
			if *fleetWithin > 0 && time.Since(o.began) > *fleetWithin {
				return round
			}
			o.add(f.drill(d, round))
		}
		o.Partial = fmt.Sprintf("%d of %d rounds", round+1, *fleetRounds)
		o.keep(f.t)
		f.t.Logf("round %d of %d is over after %s", round+1, *fleetRounds, o.sofar())
	}
	o.Partial = ""
	return *fleetRounds
}

// drill runs one drill under load and returns its figures.
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

// answered waits until as many events as there are sessions were judged that were sent after
// since.
func (f *fleet) answered(c *crowd, since time.Time) {
	f.t.Helper()
	for end := patience(f.t); ; time.Sleep(50 * time.Millisecond) {
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
