package soak

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/fleet/fleetlink"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

func poolOf(t *testing.T, ca string) *tls.Config {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(ca)) {
		t.Fatal("no certificate")
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}
}

// A softLaptop is a laptop in this process. It has a real journal, a real link to the fleet and a
// real store of bundles, but no agent whose calls are judged.
type softLaptop struct {
	f      *laptopFleet
	dir    string
	member fleetlink.Membership
	j      *sqlitejournal.Journal
	quit   chan struct{}
	work   sync.WaitGroup

	mu      sync.Mutex // guards all below
	kept    fleetlink.Kept
	on      bool
	cut     context.CancelFunc // ends the contact that is under way
	link    *fleetlink.Link    // nil if a new one must be made
	resting bool
	heads   map[floodmark.SessionID]journal.Link
	synced  bool // a contact succeeded after the last write
}

func (f *laptopFleet) softLaptop(name string) *softLaptop {
	f.t.Helper()
	l := &softLaptop{f: f, dir: filepath.Join(f.dir, name), quit: make(chan struct{}), on: true, heads: map[floodmark.SessionID]journal.Link{}}
	paths := config.DirPaths(l.dir)
	if err := os.MkdirAll(filepath.Dir(paths.Journal), 0o700); err != nil {
		f.t.Fatal(err)
	}
	keys, err := config.LoadKeys(paths.Keys, "floodmark/journal")
	if err != nil {
		f.t.Fatal(err)
	}
	url := f.urls[len(name)%len(f.urls)]
	if l.member, err = fleetlink.Enrol(f.t.Context(), url, f.ca, f.enrol, &wire.EnrolRequest{Name: name, JournalKey: keys.Signing.Public}, time.Now()); err != nil {
		f.t.Fatal(err)
	}
	if l.j, err = sqlitejournal.Open(f.t.Context(), paths.Journal, sqlitejournal.Options{}); err != nil {
		f.t.Fatal(err)
	}
	l.work.Go(l.write)
	l.work.Go(l.stay)
	f.t.Cleanup(l.close)
	return l
}

// pace returns a longer pause if there are many laptops, because all of them share this machine.
func pace(d time.Duration) time.Duration { return d * time.Duration(max(1, *laptops/20)) }

// write adds facts until the laptop rests or is closed, whether it is online or not.
func (l *softLaptop) write() {
	for n := 0; ; n++ {
		select {
		case <-l.quit:
			return
		case <-time.After(pace(300 * time.Millisecond)):
		}
		l.mu.Lock()
		resting := l.resting
		l.mu.Unlock()
		if resting {
			return
		}
		s := journal.Session{ID: floodmark.SessionID(fmt.Sprint("session-", n%4))}
		facts := []floodmark.Fact{floodmark.IncidentSeen{Kind: "work", Text: strings.Repeat("x", n*37%500)}, floodmark.IncidentSeen{Kind: "work", Text: fmt.Sprint(n)}}
		entries, err := journal.Seal(s, l.heads[s.ID], time.Now(), facts)
		if err == nil {
			err = l.j.Append(context.Background(), journal.Batch{Records: []journal.Record{{Session: s, After: l.heads[s.ID], Entries: entries}}})
		}
		if err != nil {
			l.f.t.Errorf("write: %v", err)
			return
		}
		l.heads[s.ID] = entries[len(entries)-1].Link()
	}
}

// stay contacts the fleet again and again while the laptop is online. A laptop that was killed
// makes a new link from its files.
func (l *softLaptop) stay() {
	for {
		select {
		case <-l.quit:
			return
		case <-time.After(pace(100 * time.Millisecond)):
		}
		link, ctx, cancel := l.next()
		if link == nil {
			continue
		}
		l.mu.Lock()
		last := l.resting
		l.mu.Unlock()
		err := link.Once(ctx)
		cancel()
		l.mu.Lock()
		l.synced = l.synced || last && err == nil
		l.mu.Unlock()
	}
}

func (l *softLaptop) next() (*fleetlink.Link, context.Context, context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.on {
		return nil, nil, nil
	}
	if l.link == nil {
		l.kept, _ = fleetlink.LoadKept(config.DirPaths(l.dir).FleetBundle) // what cannot be read is fetched again
		link, err := fleetlink.New(fleetlink.Options{
			Membership: l.member, Journal: l.j, Now: time.Now, Have: l.version, Take: l.take,
			Report: func(context.Context) *wire.ReportMachineRequest {
				return &wire.ReportMachineRequest{Version: "soak", Bundle: l.version()}
			},
		})
		if err != nil {
			l.f.t.Error(err)
			return nil, nil, nil
		}
		l.link = link
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.cut = cancel
	return l.link, ctx, cancel
}

func (l *softLaptop) version() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept.Version
}

func (l *softLaptop) take(version, floor uint64, sealed []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	next, err := l.kept.Take(l.member, sealed, version, floor, time.Now())
	if err == nil {
		err = next.Save(config.DirPaths(l.dir).FleetBundle)
	}
	if err == nil {
		l.kept = next
	}
	return err
}

func (l *softLaptop) online(is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on = is
	if !is && l.cut != nil {
		l.cut()
	}
}

// kill ends a contact that is under way and drops the link, as if the program had been killed.
func (l *softLaptop) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut != nil {
		l.cut()
	}
	l.link = nil
}

// rest makes the laptop stop writing.
func (l *softLaptop) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resting = true
}

func (l *softLaptop) done() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.synced
}

func (l *softLaptop) close() {
	l.mu.Lock()
	select {
	case <-l.quit:
		l.mu.Unlock()
		return
	default:
		close(l.quit)
	}
	if l.cut != nil {
		l.cut()
	}
	l.mu.Unlock()
	l.work.Wait()
	_ = l.j.Close()
}

// heldBack checks that a revoked laptop knows that it is revoked, and that the fleet took no more
// entries from it. It returns the sentence for the report.
func (f *laptopFleet) heldBack(l *softLaptop) string {
	f.t.Helper()
	if s := l.link.State(); !s.Ended {
		f.t.Errorf("the revoked laptop does not know it: %+v", s)
	}
	wrote := int64(0)
	for _, head := range l.heads {
		wrote += int64(head.Seq)
	}
	if n := f.kept(l.member.Machine); n >= wrote || n == 0 {
		f.t.Errorf("a revoked laptop wrote %d entries, and %d are kept", wrote, n)
	}
	return "refused from then on; what it had sent stays"
}

// A hardLaptop runs the real program, which joined the fleet with the real command.
type hardLaptop struct {
	f       *laptopFleet
	dir     string
	machine string
	cmd     *exec.Cmd
	events  int
}

func (f *laptopFleet) hardLaptop(name string) *hardLaptop {
	f.t.Helper()
	l := &hardLaptop{f: f, dir: filepath.Join(f.dir, name)}
	l.start()
	put(f.t, filepath.Join(l.dir, "ca.pem"), f.ca)
	put(f.t, filepath.Join(l.dir, "token"), f.enrol)
	cmd := exec.Command(program(f.t, "floodmark"), "fleet", "join", f.urls[0], "--dir", l.dir, "--token", filepath.Join(l.dir, "token"), "--ca", filepath.Join(l.dir, "ca.pem"), "--name", name)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + l.dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("join: %v\n%s", err, out)
	}
	m, is, err := fleetlink.Load(config.DirPaths(l.dir).Fleet)
	if err != nil || !is {
		f.t.Fatal(is, err)
	}
	l.machine = m.Machine
	l.load()
	return l
}

// start starts the program and waits until its owner's socket accepts connections. It sends no
// event, because then this process would be an agent, and an agent is not allowed to join.
func (l *hardLaptop) start() {
	l.f.t.Helper()
	l.cmd = run(l.f.t, l.dir, []string{"FLOODMARK_FAULT_FLEET_EVERY=100ms"})
	for end := patience(l.f.t); ; time.Sleep(20 * time.Millisecond) {
		if c, err := new(net.Dialer).DialContext(context.Background(), "unix", config.DirPaths(l.dir).OwnerSocket); err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			l.f.t.Fatal("a laptop does not answer")
		}
	}
}

func (l *hardLaptop) tell(ev hook.Event) error {
	c, err := client.Dial(config.DirPaths(l.dir).HookSocket, client.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	ev.Agent = "openclaw"
	_, err = c.Handle(context.Background(), ev)
	return err
}

// load sends five calls of an agent.
func (l *hardLaptop) load() {
	l.f.t.Helper()
	for range 5 {
		l.events++
		ev := hook.Event{Point: hook.BeforeToolCall, Session: floodmark.SessionID(fmt.Sprint("work-", l.events%3)), Call: hook.Call{ID: floodmark.CallID(fmt.Sprint("c", l.events)), Name: "web_fetch", Args: fmt.Appendf(nil, `{"url":"https://x.example/%d"}`, l.events)}}
		if err := l.tell(ev); err != nil {
			l.f.t.Errorf("an agent is not answered: %v", err)
		}
	}
}

// version returns the version of the bundle on the laptop's disk, or 0 if there is none.
func (l *hardLaptop) version() uint64 {
	k, err := fleetlink.LoadKept(config.DirPaths(l.dir).FleetBundle)
	if err != nil {
		return 0
	}
	return k.Version
}

// kill kills the program and waits for its end.
func (l *hardLaptop) kill() {
	_ = l.cmd.Process.Kill()
	_ = l.cmd.Wait()
}

// stop asks the program to end, and waits.
func (l *hardLaptop) stop() {
	_ = l.cmd.Process.Signal(syscall.SIGTERM)
	_ = l.cmd.Wait()
}
