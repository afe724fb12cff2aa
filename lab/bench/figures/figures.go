// Package figures contains what the measuring programs share: where and when a run was made, how a
// figure is distributed, and the file that the figures are written to.
package figures

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A Run says where and when figures were measured. It is at the beginning of a suite's evidence.
type Run struct {
	Suite    string    `json:"suite"`
	Commit   string    `json:"commit"`
	Modified bool      `json:"modified"` // the tree had uncommitted changes
	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`
	Go       string    `json:"go"`
	Cores    int       `json:"cores"`
	Load     string    `json:"load"` // the machine's load before the run
	Seed     uint64    `json:"seed"`
}

// Begin returns a Run that begins now.
func Begin(ctx context.Context, suite string, seed uint64) Run {
	r := Run{Suite: suite, Began: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), Cores: runtime.NumCPU(), Load: load(), Seed: seed}
	r.Commit, r.Modified = Commit(ctx)
	return r
}

// End sets the duration of the run.
func (r *Run) End() { r.Seconds = time.Since(r.Began).Round(time.Second).Seconds() }

// Write prints evidence as JSON, and writes it to a file if one is named.
func Write(evidence any, file string) error {
	data, err := json.MarshalIndent(evidence, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if _, err := os.Stdout.Write(data); err != nil || file == "" {
		return err
	}
	return os.WriteFile(file, data, 0o644) //nolint:gosec // it is public
}

// A Spread is how a figure is distributed.
type Spread struct {
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
}

// SpreadOf returns the spread of a list; zero for an empty one.
func SpreadOf(list []float64) Spread {
	if len(list) == 0 {
		return Spread{}
	}
	list = slices.Sorted(slices.Values(list))
	return Spread{Median: list[len(list)/2], P99: list[min(len(list)-1, len(list)*99/100)]}
}

// MS returns a duration in milliseconds.
func MS(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// load returns the machine's load.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	first, _, _ := bytes.Cut(data, []byte(" "))
	return string(first)
}

// Commit returns the measured commit, and whether the tree had uncommitted changes.
func Commit(ctx context.Context) (hash string, modified bool) {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "", true
	}
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(head)), err != nil || len(bytes.TrimSpace(changes)) > 0
}
