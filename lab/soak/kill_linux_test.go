package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// A point is a place at which the monitor ends itself.
type point struct {
	name string
	most int // the monitor ends when it passes the point for the n-th time, n being 1 to most
	// early means that no caller can ask yet.
	early bool
}

// points returns all points. The daemon's own are named in internal/service/daemon.
func points() []point {
	return []point{
		{name: sqlitejournal.InMigration, most: 1, early: true},
		{name: "opened", most: 1, early: true},
		{name: "looked-back", most: 1, early: true},
		{name: "before-listen", most: 1, early: true},
		{name: sqlitejournal.BeforeAppend, most: 150},
		{name: sqlitejournal.InSnapshot, most: 8},
		{name: sqlitejournal.InCommit, most: 150},
		{name: sqlitejournal.AfterCommit, most: 150},
		{name: "before-reply", most: 400},
		{name: sqlitejournal.InCheckpoint, most: 1},
		{name: "sign", most: 3},
		{name: "witness-append", most: 3},
		{name: "witness-publish", most: 3},
		{name: "reload", most: 1},
		{name: "erase", most: 1},
		{name: "erased", most: 1},
		{name: "stop", most: 1},
		{name: "closed", most: 1},
	}
}

const (
	atRandom = "at random"
	// pointWithin is how long a point may take to be reached under load.
	pointWithin = 15 * time.Second
	service     = "version: 1\njournal:\n  checkpoint: 250ms\n"
)

// A soak drives the test: it starts and kills monitors, and knows what they acknowledged.
type soak struct {
	t      *testing.T
	random *rand.Rand
	agents io.Writer     // commands to the load
	idle   chan struct{} // the load has stopped asking
	ledger *ledger

	dir    string
	store  int  // how many stores there were
	killed int  // how many monitors were killed with this store
	seen   int  // how many incidents of killed monitors were found in this store
	owed   bool // the last monitor was killed while it ran, so the next one must record an incident
	figure figures
}

// figures are the counts of a run.
type figures struct {
	Commit       string         `json:"commit"`
	Seed         uint64         `json:"seed"`
	Sessions     int            `json:"concurrentSessions"`
	Kills        int            `json:"kills"`
	ByPoint      map[string]int `json:"killsByPoint"`
	Unreached    map[string]int `json:"pointsNotReachedInTime"`
	Stores       int            `json:"stores"`
	Journaled    int            `json:"sessionsJournaled"`
	Acknowledged int            `json:"acknowledged"`
	Unjudged     int            `json:"answeredWithANoForWantOfJudgement"`
	Lost         int            `json:"lost"`
	Checks       int            `json:"checksAfterARestart"`
	Verified     int64          `json:"entriesVerified"`
	KilledNoted  int            `json:"incidentsMonitorKilled"`
	Seconds      float64        `json:"seconds"`
}

// TestKilled kills the real program under load, at random and at each named point. Nothing that was
// acknowledged may be lost, every chain must verify, no mark may rise, and the next start must
// record an incident.
func TestKilled(t *testing.T) {
	long(t)
	s := newSoak(t)
	began := time.Now()
	var plan []point
	for _, p := range points() {
		for range *each {
			plan = append(plan, p)
		}
	}
	for len(plan) < *kills {
		plan = append(plan, point{name: atRandom})
	}
	s.random.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
	// A store is migrated only when it is new, so kills in a migration come first in each store.
	fresh := slices.DeleteFunc(slices.Clone(plan), func(p point) bool { return p.name != sqlitejournal.InMigration })
	plan = slices.DeleteFunc(plan, func(p point) bool { return p.name == sqlitejournal.InMigration })
	share := (len(plan) + len(fresh) - 1) / max(1, len(fresh))
	for i := 0; i < len(plan); i += share {
		s.newStore()
		if len(fresh) > 0 {
			s.life(fresh[0])
			fresh = fresh[1:]
		}
		for todo := plan[i:min(len(plan), i+share)]; len(todo) > 0; {
			p := todo[0]
			todo = todo[1:]
			if again := !s.life(p); again && s.killed < 2*share {
				todo = append(slices.Clone(todo), p) // it was not reached; later it may be
			}
		}
		s.finish()
	}
	s.figure.Seconds = time.Since(began).Seconds()
	s.report()
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{t: t, random: rand.New(rand.NewPCG(*seed, 0)), idle: make(chan struct{}, 1), ledger: newLedger()}
	s.figure = figures{Commit: commit(t), Seed: *seed, Sessions: sessions, ByPoint: map[string]int{}, Unreached: map[string]int{}}
	s.agents = startLoad(t, s.random.Uint64(), func(line told) {
		if line.Idle {
			s.idle <- struct{}{}
			return
		}
		s.ledger.note(line)
	})
	return s
}

// startLoad starts the agents' process and passes each line that it prints to take. It returns
// the writer for commands to the agents.
func startLoad(t *testing.T, seed uint64, take func(told)) io.Writer {
	t.Helper()
	return asAgent(t, fmt.Sprintf("%s=%d", loadVariable, seed), func(d *json.Decoder) error {
		var line told
		err := d.Decode(&line)
		if err == nil {
			take(line)
		}
		return err
	})
}

// asAgent starts a copy of this program under the name of an agent, so that this process itself is
// not taken for an agent. next is called to read the output of the copy until it returns an error.
// asAgent returns the standard input of the copy.
func asAgent(t *testing.T, variable string, next func(*json.Decoder) error) io.Writer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	agent := filepath.Join(folder(t), "openclaw")
	data, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(agent, data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(agent)
	cmd.Env = append(os.Environ(), variable)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for d := json.NewDecoder(bufio.NewReader(out)); next(d) == nil; {
		}
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill() // it has nothing to lose
		<-done
		_ = cmd.Wait()
	})
	return in
}

// newStore begins with an empty store and empty accounts.
func (s *soak) newStore() {
	s.store++
	s.killed, s.seen, s.owed = 0, 0, false
	s.dir = folder(s.t)
	paths := config.DirPaths(s.dir)
	put(s.t, paths.Service, service)
	put(s.t, paths.Policy, "version: 1\n")
	s.ledger = &ledger{sessions: map[string]*account{}, acked: s.ledger.acked, refused: s.ledger.refused}
}

// life runs the monitor from its start until it is killed. It returns false if the monitor was not
// killed at point p.
func (s *soak) life(p point) bool {
	s.t.Helper()
	fault := ""
	if p.name != atRandom {
		times := 1 + s.random.IntN(p.most)
		if p.most > 1 {
			times++ // the start itself records that the last monitor was killed
		}
		fault = fmt.Sprintf("%s:%d", p.name, times)
	}
	r := launch(s.t, s.dir, fault)
	if r.ready() && s.check(r, false) {
		s.burden(r, p)
	}
	return s.died(r, p)
}

// burden lets the agents work, causes what point p needs, and waits until the monitor is gone.
func (s *soak) burden(r *running, p point) {
	fmt.Fprintf(s.agents, "go g%03d %s\n", s.store, r.paths.HookSocket)
	pause := time.Duration(20+s.random.IntN(500)) * time.Millisecond
	switch p.name {
	case atRandom:
		time.Sleep(pause)
		r.kill()
	case "reload":
		put(s.t, r.paths.Policy, fmt.Sprintf("version: 1\n# %d\ntoolOverrides: {exec: {untrusted: restrict}}\n", s.random.Int()))
	case "erase", "erased":
		time.Sleep(pause)
		if !s.eraseOne(r) {
			r.kill() // no session has ended yet
		}
	case "stop", "closed":
		time.Sleep(pause)
		_ = r.cmd.Process.Signal(os.Interrupt)
	}
	if !r.gone(pointWithin) {
		s.figure.Unreached[p.name]++
		r.kill()
	}
	<-s.idle
}

// eraseOne asks the monitor to forget a finished session. It returns false if there is none.
func (s *soak) eraseOne(r *running) bool {
	name := s.ledger.finished()
	if name == "" {
		return false
	}
	s.ledger.forget(name, false)
	// A terminal, because only a person at a terminal may erase.
	line := fmt.Sprintf("%s journal forget %s --yes --dir %s", program(s.t, "floodmark"), name, s.dir)
	if exec.CommandContext(s.t.Context(), "script", "-qec", line, "/dev/null").Run() == nil {
		s.ledger.forget(name, true)
	}
	return true
}

// died counts where the monitor was killed, and reports whether that was at point p. If the monitor
// ended in another way, the test fails.
func (s *soak) died(r *running, p point) bool {
	s.t.Helper()
	if !r.gone(pointWithin) {
		s.figure.Unreached[p.name]++
		r.kill()
	}
	at := r.endedAt()
	switch {
	case !r.killed():
		s.t.Fatalf("life for %q ended by itself: %s\n%s", p.name, r.cmd.ProcessState, r.out)
	case at == "":
		at = atRandom
	case at != p.name:
		s.t.Fatalf("it ended at %q, wanted %q", at, p.name)
	}
	s.figure.Kills++
	s.killed++
	s.figure.ByPoint[at]++
	if _, err := os.Stat(r.paths.Running); err == nil {
		s.owed = true
	}
	return at == p.name
}

// check compares what was acknowledged with the journal. It returns false if the monitor ended
// meanwhile.
func (s *soak) check(r *running, whole bool) bool {
	s.t.Helper()
	ctx := s.t.Context()
	o, end := r.owner()
	defer end()
	err := s.ledger.check(ctx, o, whole)
	if err == nil {
		err = s.incidents(ctx, o)
	}
	var report *wire.VerifyReport
	if err == nil {
		report, err = r.verify(ctx)
	}
	switch {
	case errors.Is(err, errLost):
		s.figure.Lost++
		s.t.Fatalf("after kill %d (store %d, kill %d there): %v\n%s", s.figure.Kills, s.store, s.killed, err, r.out)
	case err != nil:
		if r.gone(startWithin) { // the monitor is being killed
			return false
		}
		s.t.Fatalf("check: %v\n%s", err, r.out)
	case !report.GetOk():
		s.t.Fatalf("after kill %d the journal does not verify: %q", s.figure.Kills, report.GetProblems())
	}
	s.figure.Checks++
	s.figure.Verified += report.GetEntries()
	return true
}

// incidents checks that the monitor recorded an incident for the last kill, if it owes one.
func (s *soak) incidents(ctx context.Context, o wire.OwnerServiceClient) error {
	if !s.owed {
		return nil
	}
	got, err := o.Show(ctx, &wire.ShowRequest{Session: string(monitor.Incidents)})
	if err != nil {
		return err
	}
	n := 0
	for _, i := range got.GetIncidents() {
		if i.GetKind() != "monitor-killed" {
			return fmt.Errorf("%w: an incident of another kind: %s: %s", errLost, i.GetKind(), i.GetText())
		}
		n++
	}
	if n <= s.seen {
		return fmt.Errorf("%w: %d incidents, as before: that it was killed is not written down", errLost, n)
	}
	s.figure.KilledNoted += n - s.seen
	s.seen, s.owed = n, false
	return nil
}

// finish checks a whole store once more, and verifies it with «journal verify --offline».
func (s *soak) finish() {
	s.t.Helper()
	r := serve(s.t, s.dir, "")
	if !s.check(r, true) {
		s.t.Fatalf("the monitor ended while it was looked at:\n%s", r.out)
	}
	if err := r.stop(); err != nil {
		s.t.Fatal(err)
	}
	if out, code := runCommand(s.t, "journal", "verify", "--offline", "--dir", s.dir); code != 0 {
		s.t.Fatalf("journal verify: %d\n%s", code, out)
	}
	s.figure.Journaled += len(s.ledger.sessions)
	s.figure.Stores++
	s.figure.Acknowledged, s.figure.Unjudged = s.ledger.acked, s.ledger.refused
	_ = os.RemoveAll(s.dir)
}

// report writes the evidence. It fails the test unless every point was reached often enough.
func (s *soak) report() {
	for _, p := range points() {
		if got := s.figure.ByPoint[p.name]; got < *each {
			s.t.Errorf("%q: killed there %d times, want %d", p.name, got, *each)
		}
	}
	if s.figure.Kills < *kills || s.figure.Acknowledged == 0 {
		s.t.Errorf("%d kills, %d acknowledged", s.figure.Kills, s.figure.Acknowledged)
	}
	writeEvidence(s.t, "service.json", "kills", s.figure)
}
