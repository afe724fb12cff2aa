package fleetlink

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fakeFleet stores what one laptop sends, in a real book, over real TLS.
type fakeFleet struct {
	wire.UnimplementedMachineServiceHandler
	t    *testing.T
	book *machines.Memory
	url  string
	ca   string
	gone chan struct{} // connections that ended

	mu      sync.Mutex // guards all below
	fail    error      // error of the next uploads
	bad     string     // name of a session that is refused
	away    bool       // it does not answer what it has
	uploads int
	asked   int // sessions
	answer  *wire.FetchBundleResponse
	seen    *wire.ReportMachineRequest
	enrols  *wire.EnrolResponse
	refuses error
	tokens  []string
	at      time.Time
}

// now returns the time of the fleet and of its laptops. Each call takes a moment.
func (f *fakeFleet) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = f.at.Add(time.Millisecond)
	return f.at
}

func newFakeFleet(t *testing.T) *fakeFleet {
	t.Helper()
	f := &fakeFleet{t: t, book: machines.NewMemory(), answer: &wire.FetchBundleResponse{}, at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	f.gone = make(chan struct{}, 100)
	machinestest.Enrolled(t, f.book, "acme", "m1")
	mux := http.NewServeMux()
	path, handler := wire.NewMachineServiceHandler(f)
	mux.Handle(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.tokens = append(f.tokens, r.Header.Get("Authorization"))
		f.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	s := httptest.NewUnstartedServer(mux)
	s.EnableHTTP2 = true
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			f.gone <- struct{}{}
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	f.url, f.ca = s.URL, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	return f
}

func (f *fakeFleet) member() Membership {
	return Membership{URL: f.url, Authority: f.ca, Tenant: "acme", Machine: "m1", Token: "fm_machine_m1_secret"}
}

// Mirrored implements the service.
func (f *fakeFleet) Mirrored(ctx context.Context, r *wire.MirroredRequest) (*wire.MirroredResponse, error) {
	away := false
	f.set(func() { f.asked += len(r.GetSessions()); away = f.away })
	if away {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("busy"))
	}
	out := &wire.MirroredResponse{}
	for _, s := range r.GetSessions() {
		links, err := f.book.Heads(ctx, "acme", "m1", []floodmark.SessionID{floodmark.SessionID(s)})
		if err != nil {
			return nil, err
		}
		h := &wire.MirrorHead{Seq: links[0].Seq}
		if links[0].Seq > 0 {
			h.Hash = links[0].Hash[:]
		}
		out.Heads = append(out.Heads, h)
	}
	return out, nil
}

// Upload implements the service.
func (f *fakeFleet) Upload(ctx context.Context, r *wire.UploadRequest) (*wire.UploadResponse, error) {
	f.mu.Lock()
	f.uploads++
	err := f.fail
	if f.bad != "" && f.bad == string(r.GetSession()) {
		err = connect.NewError(connect.CodeInvalidArgument, errors.New("no journal can hold this"))
	}
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	u := machines.Upload{Session: floodmark.SessionID(r.GetSession())}
	u.After.Seq = r.GetAfter().GetSeq()
	copy(u.After.Hash[:], r.GetAfter().GetHash())
	prev := u.After
	if prev.Seq == 0 {
		prev.Hash = journal.Genesis(journal.Session{ID: u.Session})
	}
	for _, e := range r.GetEntries() {
		next := journal.Entry{Seq: prev.Seq + 1, At: e.GetAt(), Prev: prev.Hash, Kind: e.GetKind(), Body: e.GetBody()}
		copy(next.Hash[:], e.GetHash())
		u.Entries, prev = append(u.Entries, next), next.Link()
	}
	if len(r.GetTombstone()) > 0 {
		u.Stone = &journal.Tombstone{Session: journal.Session{ID: u.Session}, Link: u.After, Note: r.GetTombstone()}
	}
	bare := u
	if bare.Stone = nil; len(bare.Entries) > 0 {
		if err := bare.Check(nil); err != nil {
			f.t.Errorf("sent what cannot be: %v", err)
		}
	}
	outcome, head, err := f.book.Add(ctx, "acme", "m1", u, f.now())
	return &wire.UploadResponse{Head: &wire.MirrorHead{Seq: head.Seq, Hash: head.Hash[:]}, Outcome: string(outcome)}, err
}

// Enrol implements the service.
func (f *fakeFleet) Enrol(context.Context, *wire.EnrolRequest) (*wire.EnrolResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.enrols, f.refuses
}

// FetchBundle implements the service.
func (f *fakeFleet) FetchBundle(context.Context, *wire.FetchBundleRequest) (*wire.FetchBundleResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.answer, nil
}

// ReportMachine implements the service.
func (f *fakeFleet) ReportMachine(_ context.Context, r *wire.ReportMachineRequest) (*wire.ReportMachineResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = r
	return &wire.ReportMachineResponse{}, nil
}

func (f *fakeFleet) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// write appends facts to a session of a laptop's journal.
func write(t *testing.T, j journal.Journal, s floodmark.SessionID, n int, word string) {
	t.Helper()
	var after journal.Link
	for e, err := range j.Read(t.Context(), journal.Session{ID: s}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		after = e.Link()
	}
	b := journal.Batch{Records: []journal.Record{{Session: journal.Session{ID: s}, After: after, Entries: machinestest.Entries(t, s, after, n, word)}}}
	if err := j.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// same compares the copies of all sessions with the journal.
func (f *fakeFleet) same(j journal.Journal) {
	f.t.Helper()
	for h, err := range j.Heads(f.t.Context(), 0) {
		if err != nil {
			f.t.Fatal(err)
		}
		links, err := f.book.Heads(f.t.Context(), "acme", "m1", []floodmark.SessionID{h.Session.ID})
		if err != nil || links[0] != h.Link {
			f.t.Errorf("session %s ends at %d here and at %d there, %v", h.Session.ID, h.Link.Seq, links[0].Seq, err)
		}
	}
}

func newLink(t *testing.T, f *fakeFleet, j journal.Journal, change func(*Options)) *Link {
	t.Helper()
	o := Options{
		Membership: f.member(), Journal: j, Now: f.now, Every: 10 * time.Millisecond, ReportEvery: time.Hour,
		Report: func(context.Context) *wire.ReportMachineRequest { return &wire.ReportMachineRequest{Version: "1"} },
		Have:   func() uint64 { return 0 }, Take: func(uint64, uint64, []byte) error { return nil },
	}
	change(&o)
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.caller.Close)
	return l
}

func once(t *testing.T, l *Link) {
	t.Helper()
	if err := l.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Everything is uploaded once, in any amounts and steps. The same process does not send it again.
func TestUpload(t *testing.T) {
	f, j := newFakeFleet(t), journal.NewMemory()
	write(t, j, "long", 3*partEntries+7, "x")
	write(t, j, "a", 1, "x")
	big := strings.Repeat("b", partBytes/2)
	for range 4 {
		write(t, j, "big", 1, big)
	}
	l := newLink(t, f, j, func(*Options) {})
	once(t, l)
	f.same(j)
	sent := f.uploads
	once(t, l)
	if f.uploads != sent {
		t.Errorf("%d uploads of what is there", f.uploads-sent)
	}
	write(t, j, "a", 2, "y")
	once(t, l)
	if f.same(j); f.uploads != sent+1 {
		t.Errorf("%d uploads for one session", f.uploads-sent)
	}
	list, _ := machinestest.All(t.Context(), f.book, "acme")
	if want := int64(3*partEntries + 7 + 3 + 4); list[0].Entries != want || list[0].Sessions != 3 {
		t.Errorf("%+v, want %d entries", list[0], want)
	}
	// Another process asks first how far the copy is.
	once(t, newLink(t, f, j, func(*Options) {}))
	if f.uploads != sent+1 {
		t.Error("a new process sent what is there")
	}
	for _, token := range f.tokens {
		if token != "Bearer fm_machine_m1_secret" {
			t.Fatalf("called with %q", token)
		}
	}
}

// If there are more sessions than are asked about at once, each is asked about once, and not again
// while nothing happens.
func TestManySessions(t *testing.T) {
	f, j := newFakeFleet(t), journal.NewMemory()
	const n = headsAtOnce + 5
	for i := range n {
		write(t, j, floodmark.SessionID(fmt.Sprint("s", i)), 1, "x")
	}
	l := newLink(t, f, j, func(*Options) {})
	once(t, l)
	once(t, l)
	if f.same(j); f.asked != n {
		t.Errorf("asked about %d sessions, there are %d", f.asked, n)
	}
}

// A fleet that fails in the middle gets the rest later.
func TestUploadGoesOn(t *testing.T) {
	f, j := newFakeFleet(t), journal.NewMemory()
	write(t, j, "a", 2*partEntries, "x")
	f.set(func() { f.fail = connect.NewError(connect.CodeUnavailable, errors.New("busy")) })
	l := newLink(t, f, j, func(*Options) {})
	if err := l.Once(t.Context()); err == nil || l.State().Behind != 1 || !strings.Contains(l.State().Trouble, "busy") {
		t.Errorf("%v, %+v", err, l.State())
	}
	f.set(func() { f.fail = nil })
	once(t, l)
	f.same(j)
	if s := l.State(); s.Behind != 0 || s.Trouble != "" || s.Contact.IsZero() {
		t.Errorf("%+v", s)
	}
	// If the fleet lost what it had confirmed, that is found when all sessions are asked about
	// again.
	f.set(func() { f.book = machines.NewMemory() })
	machinestest.Enrolled(t, f.book, "acme", "m1")
	l.checked = f.now().Add(-2 * recheckEvery)
	once(t, l)
	f.same(j)
}

// A damaged journal has one session that cannot be read.
type damaged struct {
	journal.Journal
	session floodmark.SessionID
}

func (d damaged) Read(ctx context.Context, s journal.Session, after uint64) iter.Seq2[journal.Entry, error] {
	if s.ID != d.session {
		return d.Journal.Read(ctx, s, after)
	}
	return func(yield func(journal.Entry, error) bool) { yield(journal.Entry{}, journal.ErrBroken) }
}

// A session that cannot be read here, or that the fleet refuses, delays no other. It is reported,
// and is uploaded once that is possible.
func TestOneSessionKeepsNoOtherBack(t *testing.T) {
	for trouble, broken := range map[string]bool{"no journal can hold this": false, "floodmark journal verify": true} {
		f, memory := newFakeFleet(t), journal.NewMemory()
		j := &damaged{Journal: memory}
		for i := range headsAtOnce + 5 {
			write(t, memory, floodmark.SessionID(fmt.Sprint("s", i)), 1, "x")
		}
		if j.session = "s3"; !broken {
			j.session, f.bad = "", "s3"
		}
		l := newLink(t, f, j, func(*Options) {})
		for range 2 {
			if err := l.Once(t.Context()); err == nil || l.State().Behind != 1 || !strings.Contains(l.State().Trouble, trouble) {
				t.Errorf("%v, %+v", err, l.State())
			}
			if list, err := machinestest.All(t.Context(), f.book, "acme"); err != nil || list[0].Sessions != headsAtOnce+4 {
				t.Errorf("%d sessions are there, %v", list[0].Sessions, err)
			}
			if f.seen.GetBehind() != 1 {
				t.Errorf("the fleet heard of %d", f.seen.GetBehind())
			}
		}
		f.set(func() { f.bad, j.session = "", "" })
		once(t, l)
		if f.same(memory); l.State().Behind != 0 {
			t.Errorf("%+v", l.State())
		}
	}
}

// A journal that was restored from a copy is reported, and nothing at the fleet is changed.
func TestPutBack(t *testing.T) {
	f, j := newFakeFleet(t), journal.NewMemory()
	write(t, j, "a", 5, "x")
	write(t, j, "b", 5, "x")
	once(t, newLink(t, f, j, func(*Options) {}))
	old := journal.NewMemory()
	write(t, old, "a", 3, "other") // another history
	write(t, old, "b", 5, "other")
	write(t, old, "c", 1, "x")
	l := newLink(t, f, old, func(*Options) {})
	once(t, l)
	if l.State().Forked != 2 {
		t.Errorf("%+v", l.State())
	}
	f2, _ := machinestest.All(t.Context(), f.book, "acme")
	if f2[0].Entries != 11 || f2[0].Forks == 0 {
		t.Errorf("%+v", f2[0])
	}
}

// Entries that were erased before they were uploaded are replaced by their tombstone.
func TestErased(t *testing.T) {
	f, j := newFakeFleet(t), journal.NewMemory()
	write(t, j, "a", 5, "x")
	var last journal.Link
	for h := range j.Heads(t.Context(), 0) {
		last = h.Link
	}
	if err := j.Erase(t.Context(), journal.Tombstone{Session: journal.Session{ID: "a"}, Link: last, At: 1, Why: "owner", Note: []byte("signed")}); err != nil {
		t.Fatal(err)
	}
	b := journal.Batch{Records: []journal.Record{{Session: journal.Session{ID: "a"}, After: last, Entries: machinestest.Entries(t, "a", last, 2, "y")}}}
	if err := j.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	once(t, newLink(t, f, j, func(*Options) {}))
	f.same(j)
}

// Rules are fetched before facts are sent, and unusable rules do not delay facts.
func TestBundlesFirst(t *testing.T) {
	f, j := newFakeFleet(t), journal.NewMemory()
	write(t, j, "a", 1, "x")
	f.set(func() { f.answer = &wire.FetchBundleResponse{Version: 3, Bundle: []byte("sealed")} })
	var got uint64
	l := newLink(t, f, j, func(o *Options) {
		o.Take = func(v, _ uint64, _ []byte) error { got = v; return errors.New("not signed by anybody known") }
	})
	if err := l.Once(t.Context()); err == nil || got != 3 || l.State().Trouble != "not signed by anybody known" {
		t.Errorf("%d, %v, %+v", got, err, l.State())
	}
	f.same(j)
	if f.seen.GetVersion() != "1" {
		t.Errorf("no report: %v", f.seen)
	}
}

// A link that only fetched rules keeps no connection open after Close, because a fleet that stops
// would wait for the connection.
func TestCloseEndsConnections(t *testing.T) {
	f := newFakeFleet(t)
	l := newLink(t, f, journal.NewMemory(), func(*Options) {})
	if err := l.FetchBundle(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Close()
	<-f.gone
}

// Run continues by itself, and stops when ctx ends.
func TestRun(t *testing.T) {
	f, j := newFakeFleet(t), journal.NewMemory()
	rounds := make(chan struct{}) // without a buffer, so that no finished round waits in it
	l := newLink(t, f, j, func(o *Options) {
		o.ReportEvery = time.Nanosecond
		o.Report = func(ctx context.Context) *wire.ReportMachineRequest {
			select {
			case rounds <- struct{}{}: // after everything else of the round
			case <-ctx.Done():
			}
			return &wire.ReportMachineRequest{}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); l.Run(ctx) }()
	for range 3 {
		<-rounds
	}
	write(t, j, "a", 3, "x")
	<-rounds // this round may have begun before the entries were written
	<-rounds
	f.same(j)
	cancel()
	<-done
}
