package codingday

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/story/tape"
)

var (
	wholeWeeks = flag.Bool("replay", false, "replay recorded weeks as a whole, and compare with docs/evidence/week.json; -week names one, and what it asks is said")
	estimates  = flag.Bool("estimate", false, "replay the rehearsal of the week that -week names, and say what would be asked")
	renew      = flag.String("renew", "", "the week whose life in .cache is to be published: its recording, and its row of docs/evidence/week.json")
)

const (
	weekFigures = "../../docs/evidence/week.json"
	// maxRecorded is the largest size of a week's recording on disk.
	maxRecorded = 6 << 20
	// fewEvents is how many events are replayed if there is little time.
	fewEvents = 300
)

// A weekRow holds the published figures of one week.
type weekRow struct {
	weekReport

	HeldOut bool `json:"heldOut"`
	// Written is how many sessions the week has. A run may have ended before the last one.
	Written      int     `json:"sessionsWritten"`
	PolicyHash   string  `json:"policyHash"`
	CatalogHash  string  `json:"catalogHash"`
	Per100       float64 `json:"questionsPer100"` // without pushes
	PushesPer100 float64 `json:"pushesPer100"`
	// Replay is the replay of this run's recording at the same commit. Held-out weeks are not
	// recorded.
	Replay *weekReplay `json:"replay,omitempty"`
}

func recordingOf(week string) string { return filepath.Join("testdata/lived", week+".jsonl.gz") }

// readTape reads a kept recording.
func readTape(file string) ([]tape.Line, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if len(data) > maxRecorded {
		return nil, fmt.Errorf("%s: more than %d bytes", file, maxRecorded)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return tape.Read(z)
}

// packTape returns a compressed recording. Its times begin at the same start as those of all
// recorded days.
func packTape(lines []tape.Line) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	enc := json.NewEncoder(z)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		l.At += start().UnixMilli() - lines[0].At
		if err := enc.Encode(l); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if b.Len() > maxRecorded {
		return nil, fmt.Errorf("the recording has %d bytes, at most %d", b.Len(), maxRecorded)
	}
	return b.Bytes(), nil
}

func readRows(t *testing.T) (rows []weekRow) {
	t.Helper()
	data, err := os.ReadFile(weekFigures)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no week is published yet
	}
	if err == nil {
		err = json.Unmarshal(data, &rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Every recorded week is replayed. No attack may get further than when the figures were published,
// and no more questions may be asked.
func TestWeekReplay(t *testing.T) {
	if *renew != "" {
		publish(t, *renew)
		return
	}
	rows := readRows(t)
	files, err := filepath.Glob(recordingOf("*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Replay != nil && !slices.Contains(files, recordingOf(r.Week)) {
			t.Errorf("the recording of %s is gone", r.Week)
		}
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl.gz")
		i := slices.IndexFunc(rows, func(r weekRow) bool { return r.Week == name && r.Replay != nil })
		if i < 0 {
			t.Errorf("%s has no row for %s", weekFigures, name)
			continue
		}
		lines, err := readTape(file)
		if err != nil {
			t.Fatal(err)
		}
		most := len(lines)
		if !*wholeWeeks {
			most = fewEvents
		}
		got, err := replayWeek(t.Context(), t.TempDir(), lines, most)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Calls == 0 {
			t.Errorf("%s: no call was played", name)
		}
		if !*wholeWeeks {
			continue
		}
		text, _ := json.Marshal(got) // numbers and words
		t.Logf("%s: %s", name, text)
		if strings.HasSuffix(*week, "/"+name) {
			t.Log(got.reasons())
		}
		for _, line := range got.worse(*rows[i].Replay) {
			t.Errorf("%s: %s", name, line)
		}
	}
}

// TestWeekEstimate logs what a monitor with the rules of today would ask in a whole rehearsed week
// («.ci/coding-live week NAME -rehearse»). This is only an estimate, because the rehearsal had no
// agent and no box, the model tried no other ways, and honest calls ran as without a monitor. It is
// not published.
func TestWeekEstimate(t *testing.T) {
	if !*estimates {
		t.Skip("-estimate -week testdata/weeks/NAME replays a rehearsal that is in .cache")
	}
	lines, err := readRehearsal(rehearsalOf(*week))
	if err != nil {
		t.Fatal(err)
	}
	got, err := replayWeek(t.Context(), t.TempDir(), lines, len(lines))
	if err != nil || got.Calls == 0 {
		t.Fatalf("%d calls, %v", got.Calls, err)
	}
	text, _ := json.Marshal(got) // numbers and words
	t.Logf("an estimate, of a rehearsal without agents and boxes: %s\n%s", text, got.reasons())
}

// rehearsalOf returns the path of the tape of a week's rehearsal.
func rehearsalOf(week string) string {
	return filepath.Join("../../.cache", "week-"+filepath.Base(week)+"-rehearse", "out", "tape.jsonl")
}

func readRehearsal(file string) ([]tape.Line, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return tape.Read(f)
}

// publish keeps the results that a run of a week left in .cache.
func publish(t *testing.T, name string) {
	t.Helper()
	w, err := ReadWeek(os.DirFS(filepath.Join("testdata/weeks", name)))
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join("../../.cache", "week-"+name, "out")
	row := weekRow{HeldOut: w.HeldOut, Written: len(w.Sessions())}
	data, err := os.ReadFile(filepath.Join(out, "total.json"))
	if err == nil {
		err = json.Unmarshal(data, &row.weekReport)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := shipped("coding", false)
	if err != nil {
		t.Fatal(err)
	}
	row.PolicyHash, row.CatalogHash = m.rules.Policy.Hash().String(), m.rules.Catalog.Hash().String()
	row.Per100, row.PushesPer100 = per100(row.Total.Packages+row.Total.Others, row.Total.Calls), per100(row.Total.Pushes, row.Total.Calls)
	if !w.HeldOut {
		row.Replay = keepTape(t, name, out)
	}
	rows := append(slices.DeleteFunc(readRows(t), func(r weekRow) bool { return r.Week == name }), row)
	slices.SortFunc(rows, func(a, b weekRow) int { return strings.Compare(a.Week, b.Week) })
	if data, err = json.MarshalIndent(rows, "", " "); err == nil {
		err = os.WriteFile(weekFigures, append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// keepTape keeps the tape of a run, and returns its replay.
func keepTape(t *testing.T, name, out string) *weekReplay {
	t.Helper()
	f, err := os.Open(filepath.Join(out, "tape.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := tape.Read(f)
	if err != nil || len(lines) == 0 {
		t.Fatalf("%s: %d lines, %v", f.Name(), len(lines), err)
	}
	data, err := packTape(lines)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(recordingOf(name)), 0o755)
	}
	if err == nil {
		err = os.WriteFile(recordingOf(name), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if lines, err = readTape(recordingOf(name)); err != nil {
		t.Fatal(err)
	}
	r, err := replayWeek(t.Context(), t.TempDir(), lines, len(lines))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes\n%s", len(data), r.reasons())
	return &r
}
