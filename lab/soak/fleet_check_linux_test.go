package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/fleet/fleetcheck"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/postgresjournal"
)

// checkVariable makes this program the checker: it reads clients' lines on standard input and
// prints a report. It runs where nodes run, with the same network rules.
const checkVariable = "FLOODMARK_SOAK_CHECK"

func runCheck(dsn string) {
	report, err := checkNow(dsn)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(report) // the reader notices an error
}

func checkNow(dsn string) (*fleetcheck.Report, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	lines, err := fleetcheck.ReadLog(os.Stdin)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	paths := config.DirPaths(filepath.Dir(filepath.Dir(self)))
	own, err := paths.Guarded()
	if err != nil {
		return nil, err
	}
	rules, err := config.LoadRules(paths.Policy, own)
	if err != nil {
		return nil, err
	}
	j, err := postgresjournal.Open(ctx, dsn, postgresjournal.Options{})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	return fleetcheck.Check(ctx, j, "", rules.Rules, lines)
}

// check compares what a crowd of clients received with the databases.
func (f *fleet) check(log []fleetcheck.Heard) *fleetcheck.Report {
	f.t.Helper()
	dir := filepath.Join(f.dir, "checker")
	if _, err := os.Stat(dir); err != nil {
		f.prepare("checker")
		self, err := os.Executable()
		if err != nil {
			f.t.Fatal(err)
		}
		place(f.t, self, filepath.Join(dir, "bin", "floodmark"))
	}
	var in, out, wrong bytes.Buffer
	for _, h := range log {
		line, err := json.Marshal(h)
		if err != nil {
			f.t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := f.inside(dir, filepath.Join(f.seen(), "bin", "floodmark"))
	cmd.Env = append(cmd.Env, checkVariable+"="+f.cluster.dsn(nil))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &wrong
	if err := cmd.Run(); err != nil {
		f.t.Fatalf("the checker: %v\n%s", err, tail(wrong.String()))
	}
	report := &fleetcheck.Report{}
	if err := json.Unmarshal(out.Bytes(), report); err != nil {
		f.t.Fatal(err)
	}
	return report
}

// silence returns the longest time without a judged answer between two moments, and the time of the
// slowest answer.
func silence(log []fleetcheck.Heard, from, to time.Time) (gap, slowest time.Duration) {
	times := []time.Time{from}
	for _, h := range log {
		if h.Answered.Before(from) || h.Answered.After(to) {
			continue
		}
		slowest = max(slowest, h.Answered.Sub(h.Sent))
		if h.Judged {
			times = append(times, h.Answered)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	for i := range times[1:] {
		gap = max(gap, times[i+1].Sub(times[i]))
	}
	return max(gap, to.Sub(times[len(times)-1])), slowest
}

// unjudgedBy counts the answers without a judgement, by event and reason.
func unjudgedBy(log []fleetcheck.Heard) map[string]int {
	count := map[string]int{}
	for _, h := range log {
		if !h.Judged {
			count[string(h.Point)+": "+h.Why]++
		}
	}
	return count
}

// ended returns a session whose end was acknowledged and to which nothing was sent since.
func (f *fleet) ended(log []fleetcheck.Heard) floodmark.SessionID {
	f.t.Helper()
	for _, end := range log {
		if end.Point == hook.SessionEnd && end.Judged &&
			!slices.ContainsFunc(log, func(h fleetcheck.Heard) bool { return h.Session == end.Session && h.Answered.After(end.Answered) }) &&
			!slices.ContainsFunc(log, func(h fleetcheck.Heard) bool { return h.Session == end.Session && !h.Judged }) {
			return end.Session
		}
	}
	f.t.Fatal("no session ended")
	return ""
}

// tampered deletes entries from the real journal, past everything that forbids it, and returns what
// the checker finds in each case: this tests the checker itself.
func (f *fleet) tampered(log []fleetcheck.Heard) map[string]map[fleetcheck.Kind]int {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, f.cluster.dsn(nil)+"&target_session_attrs=read-write")
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SET session_replication_role = replica; SET search_path = floodmark; SET floodmark.tenants = '*'"); err != nil {
		f.t.Fatal(err)
	}
	session := f.ended(log)
	one := slices.DeleteFunc(slices.Clone(log), func(h fleetcheck.Heard) bool { return h.Session != session })
	found := map[string]map[fleetcheck.Kind]int{}
	for _, c := range []struct{ what, which string }{
		// The session's end, and what followed it.
		{"lastEntryGone", "seq >= (SELECT max(seq) FROM facts WHERE session = $1 AND kind = 'session-closed')"},
		{"entryInTheMiddleGone", "seq = (SELECT max(seq) / 2 FROM facts WHERE session = $1)"},
	} {
		tag, err := conn.Exec(ctx, "DELETE FROM facts WHERE session = $1 AND "+c.which, []byte(session))
		if err != nil || tag.RowsAffected() == 0 {
			f.t.Fatalf("%s: %v, %v", c.what, tag, err)
		}
		r := f.check(one)
		if found[c.what] = r.Found; r.OK() {
			f.t.Errorf("%s (%d rows of session %s), and the checker found nothing", c.what, tag.RowsAffected(), session)
		}
	}
	return found
}
