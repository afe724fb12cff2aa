package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/fleetcheck"
)

// drillFigures are the figures of one drill.
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
	Commit   string   `json:"commit"`
	Partial  string   `json:"partial,omitempty"` // how far the run came, if it is not complete
	Missed   []string `json:"missed,omitempty"`  // goals that were not met
	Older    string   `json:"upgradedFrom,omitempty"`
	Seed     uint64   `json:"seed"`
	Nodes    int      `json:"nodes"`
	Servers  int      `json:"databaseServers"`
	Sessions int      `json:"sessionsAtOnce"`
	Drills   int      `json:"drills"`
	Acked    int      `json:"acknowledged"`
	Lost     int      `json:"acknowledgedLost"`
	Forks    int      `json:"forks"`
	Stale    int      `json:"allowedWithoutTheLatestMark"`
	Wrong    int      `json:"inconsistentDecisions"`
	Loose    int      `json:"unjudgedAndNotRestricted"`
	Primary  float64  `json:"medianSecondsWithoutAnswersAfterPrimaryLoss"`
	Node     int      `json:"unjudgedAfterNodeLoss"`
	Upgrade  int      `json:"unjudgedDuringUpgrades"`
	// Tampered is what the checker found after entries had been deleted on purpose.
	Tampered map[string]map[fleetcheck.Kind]int `json:"foundWhenEntriesWereDeleted"`
	Each     []drillFigures                     `json:"each"`
	Seconds  float64                            `json:"seconds"`

	began time.Time
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
	case strings.HasPrefix(d.Drill, "upgrade"), strings.HasPrefix(d.Drill, "rolling"):
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

// misses returns the goals that were not met. Seconds depend on the machine, so their bound in
// the gate is one that only a fault exceeds. On a slow machine events time out and stay unjudged:
// in the long run no event may, and in the gate one in ten after the loss of a node may.
func (o *fleetFigures) misses() (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if o.Lost+o.Forks+o.Stale+o.Wrong+o.Loose > 0 {
		say("%d lost, %d forks, %d stale, %d inconsistent, %d loose", o.Lost, o.Forks, o.Stale, o.Wrong, o.Loose)
	}
	slow := 0
	for _, d := range o.Each {
		if *evidence == "" && strings.HasPrefix(d.Drill, "node") {
			slow += d.Answers / 10
		}
	}
	if o.Node+o.Upgrade > slow {
		say("%d events were not judged after the loss of a node though another could have, %d during upgrades", o.Node, o.Upgrade)
	}
	for _, d := range o.Each {
		if d.Report.Untold*2 > d.Report.Decisions || d.Report.Decisions == 0 || !d.Verified {
			say("%s proves little: %d decisions, %d that cannot be told, %v", d.Drill, d.Report.Decisions, d.Report.Untold, d.Report.Found)
		}
	}
	if o.Primary > 30 && *evidence != "" || o.Primary > 300 {
		say("after the loss of a primary nothing is answered for %.1f s", o.Primary)
	}
	return list
}

// keep writes the figures so far. The figures of a run that was interrupted say so in Partial.
func (o *fleetFigures) keep(t *testing.T) {
	t.Helper()
	o.Seconds = time.Since(o.began).Seconds()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(o)
	if err == nil && *evidence != "" {
		err = os.WriteFile(filepath.Join(*evidence, "fleet.json"), b.Bytes(), 0o644) //nolint:gosec // it is published
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (o *fleetFigures) sofar() time.Duration { return time.Since(o.began).Round(time.Second) }
