// Fleet computes what a fleet needs for one to a million decisions a second. It reads the results
// of «make bench-fleet», computes the cost of each part of a decision, checks a discrete-event
// simulation against the measured points, and then simulates larger fleets. It measures nothing
// itself.
//
// It updates docs/evidence/scale.json, docs/images/scale.svg, and the marked parts of docs/scale.md
// and docs/guide/capacity.md.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// scaled is the content of docs/evidence/scale.json.
type scaled struct {
	Suite string `json:"suite"`
	// Simulated is always true: the values in Decades were not measured.
	Simulated bool      `json:"simulated"`
	Commit    string    `json:"measured_commit"`
	Measured  time.Time `json:"measured"`
	Constants constants `json:"constants_per_decision"`
	// Speed is the share of a core that the measured run had, according to the simulation.
	Speed    float64  `json:"speed_of_a_core_while_measured"`
	Checks   []check  `json:"checks"`
	Worst    float64  `json:"worst_error"` // of the predicted points with at least 16 in flight
	Hardware hardware `json:"example_hardware"`
	Decades  []decade `json:"decades"`
}

// leastInflight is the least number in flight for which the simulation is checked. With fewer, most
// of the time is spent on waking sleeping processes, which is not simulated.
const leastInflight = 16

func main() {
	docs := flag.String("docs", "../../docs", "the folder of the pages")
	flag.Parse()
	if err := renew(*docs); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

func renew(docs string) error {
	m, err := readMeasured(filepath.Join(docs, "evidence", "fleet-bench.json"))
	if err != nil {
		return err
	}
	s := compute(m)
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(docs, "evidence", "scale.json"), append(data, '\n'), 0o644); err != nil { //nolint:gosec // it is public
		return err
	}
	if err := os.WriteFile(filepath.Join(docs, "images", "scale.svg"), picture(s), 0o644); err != nil { //nolint:gosec // it is public
		return err
	}
	for page, parts := range pages(m, s) {
		if err := renewPage(filepath.Join(docs, page), parts); err != nil {
			return err
		}
	}
	return nil
}

// compute computes all results.
func compute(m *measured) *scaled {
	s := &scaled{Suite: "scale", Simulated: true, Commit: m.Commit, Measured: m.Began, Constants: constantsOf(m), Hardware: example()}
	s.Checks, s.Speed = checks(m, s.Constants.costs)
	s.Speed = digits(s.Speed)
	for _, c := range s.Checks {
		if !c.Fitted && c.Inflight >= leastInflight {
			s.Worst = max(s.Worst, math.Abs(c.Error))
		}
	}
	for rate := 1.0; rate <= 1e6; rate *= 10 {
		s.Decades = append(s.Decades, s.Constants.plan(s.Hardware, rate).rounded())
	}
	return s
}

// rounded rounds to three digits, which is the precision of the results.
func (d decade) rounded() decade {
	for _, v := range []*float64{
		&d.PerSecond, &d.P50, &d.P99, &d.Commits, &d.Looks, &d.Flushes, &d.NodeLoad, &d.PrimaryLoad, &d.ReplicaLoad, &d.DiskLoad,
		&d.LogMBs, &d.ShardGbs, &d.AllGbs, &d.StoredTB, &d.DiskTB, &d.FreezeHours, &d.Cost, &d.Backlog, &d.CatchUp, &d.NodeLost, &d.Room,
	} {
		*v = digits(*v)
	}
	return d
}

func digits(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return short
}
