package daemon

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/fleet/fleetlink"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/fleet/membership"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// often is the time between two reports of a laptop of these tests: each contact is
// later than that.
const often = time.Nanosecond

// joinRequest is how a laptop joins this fleet with a token.
func (f *fleet) joinRequest(tenant string) *wire.JoinRequest {
	f.t.Helper()
	ca, err := os.ReadFile(f.d.opts.Service.Listen[0].Certificate)
	if err != nil {
		f.t.Fatal(err)
	}
	return &wire.JoinRequest{Url: f.base, Authority: string(ca), Credential: f.token(tenant, "setup", httpapi.MayEnrol), Name: "anna's laptop"}
}

// newLaptop runs a daemon that is in touch with a fleet when its test says so: once it
// has joined or has started again, and then at each contact and asks.
func newLaptop(t *testing.T, dir string, change func(*Options)) *runner {
	t.Helper()
	p := paces{membership.LoopLink: newPace(), membership.LoopAsks: newPace()}
	r := startWith(t, dir, true, func(o *Options) {
		o.FleetEvery, o.wait = often, p.wait
		change(o)
	})
	r.paces = p
	return r
}

// contact has a laptop that joined be in touch with its fleet, and returns after that.
func (r *runner) contact() { r.paces[membership.LoopLink].round() }

// asks has a laptop show its questions to its fleet and take answers, and returns
// after that.
func (r *runner) asks() { r.paces[membership.LoopAsks].round() }

func (r *runner) join(t *testing.T, f *fleet, tenant string) *wire.JoinResponse {
	t.Helper()
	got, err := r.owner(t).Owner().Join(t.Context(), f.joinRequest(tenant))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (r *runner) line(t *testing.T) string {
	t.Helper()
	s, err := r.owner(t).Owner().Status(t.Context(), &wire.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return s.GetFleet()
}

// copied reports whether the fleet has all that a laptop wrote.
func (f *fleet) copied(r *runner, tenant, machine string) bool {
	f.t.Helper()
	for h, err := range r.d.store.Heads(f.t.Context(), 0) {
		if err != nil {
			f.t.Fatal(err)
		}
		links, err := f.book.Heads(f.t.Context(), tenant, machines.ID(machine), []floodmark.SessionID{h.Session.ID})
		if err != nil || links[0] != h.Link {
			return false
		}
	}
	return true
}

func (r *runner) work(t *testing.T, s floodmark.SessionID) {
	t.Helper()
	c := r.hooks(t)
	tell(t, c, hook.Event{Point: hook.SessionStart, Session: s})
	tell(t, c, hook.Event{Point: hook.BeforeToolCall, Session: s, Call: hook.Call{ID: "c1", Name: "web_fetch", Args: []byte(`{"url":"https://x.example/"}`)}})
}

// A laptop joins, its facts are copied, also after a restart and once each; it
// leaves, and nothing of the fleet is left.
func TestJoinAndLeave(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	dir := t.TempDir()
	r := newLaptop(t, dir, func(o *Options) {
		o.Agents = func(context.Context) []*wire.MachineAgent { return []*wire.MachineAgent{{Name: "codex", Version: "1"}} }
	})
	r.work(t, "before") // what was there before is copied, too
	got := r.join(t, f, "acme")
	if !strings.Contains(got.GetFleet(), "your own policy holds") {
		t.Errorf("%q", got.GetFleet())
	}
	r.work(t, "after")
	r.contact()
	if !f.copied(r, "acme", got.GetMachine()) {
		t.Error("the fleet has no copy")
	}
	if list, err := machinestest.All(t.Context(), f.book, "acme"); err != nil || len(list) != 1 || !strings.Contains(string(list[0].Report), "codex") {
		t.Errorf("it did not report: %+v, %v", list, err)
	}
	if _, err := r.owner(t).Owner().Join(t.Context(), f.joinRequest("acme")); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("joined twice: %v", err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = newLaptop(t, dir, func(*Options) {})
	r.work(t, "later")
	r.contact()
	if !f.copied(r, "acme", got.GetMachine()) || !regexp.MustCompile(`last contact \d{4}-\d\d-\d\d \d\d:\d\d:\d\d`).MatchString(r.line(t)) {
		t.Errorf("not copied after a restart: %q", r.line(t))
	}
	gone, err := r.owner(t).Owner().Leave(t.Context(), &wire.LeaveRequest{})
	if err != nil || gone.GetUntold() != "" || gone.GetMachine() != got.GetMachine() {
		t.Fatalf("%v, %v", gone, err)
	}
	if _, state, _ := f.book.Find(t.Context(), machines.ID(got.GetMachine())); state != machines.Left {
		t.Errorf("the fleet says %s", state)
	}
	r.alone(t)
	if _, err := r.owner(t).Owner().Leave(t.Context(), &wire.LeaveRequest{}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("left twice: %v", err)
	}
	for _, want := range []string{"joined-fleet", "left-fleet"} {
		if !strings.Contains(r.incidents(t), want) {
			t.Errorf("%s is not in the journal", want)
		}
	}
	if strings.Contains(r.log.String(), "fm_machine_") || strings.Contains(r.log.String(), "fm_enrol_") {
		t.Error("a token is in the log")
	}
}

// A laptop whose leaving cannot be recorded stays in touch with its fleet, and neither side is told
// that it left.
func TestLeavingIsWrittenDownFirst(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	r := newLaptop(t, t.TempDir(), func(*Options) {})
	machine := r.join(t, f, "acme").GetMachine()
	if err := r.d.monitor.Close(); err != nil { // from now on nothing is written
		t.Fatal(err)
	}
	if got, err := r.d.joined.Leave(t.Context(), "anna"); err == nil {
		t.Fatalf("it left: %v", got)
	}
	r.inTouch(t)
	if _, state, err := f.book.Find(t.Context(), machines.ID(machine)); err != nil || state != machines.Joined {
		t.Errorf("the fleet says %s, %v", state, err)
	}
	if lines, _ := r.d.notes.list(""); strings.Contains(strings.Join(lines, " "), "left-fleet") {
		t.Errorf("%q", lines)
	}
	if _, is, err := fleetlink.Load(r.paths.Fleet); !is || err != nil {
		t.Errorf("the membership: %v, %v", is, err)
	}
}

// inTouch holds that a laptop that joined reaches its fleet.
func (r *runner) inTouch(t *testing.T) {
	t.Helper()
	before, linked := r.d.joined.State()
	if !linked {
		t.Fatal("it is not in touch with its fleet")
	}
	r.contact()
	if now, _ := r.d.joined.State(); !now.Contact.After(before.Contact) {
		t.Fatalf("it does not reach its fleet: %+v", now)
	}
}

// alone holds that nothing of a fleet is here: no file, no goroutine, no word.
func (r *runner) alone(t *testing.T) {
	t.Helper()
	for _, file := range []string{r.paths.Fleet, r.paths.FleetBundle} {
		if _, err := os.Lstat(file); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", file, err)
		}
	}
	if _, linked := r.d.joined.State(); linked || strings.HasSuffix(r.d.live.Reload().Rules.File, "of the fleet") || r.line(t) != "" {
		t.Error("something of a fleet runs here")
	}
}

func (r *runner) incidents(t *testing.T) string {
	t.Helper()
	s, err := r.owner(t).Owner().Show(t.Context(), &wire.ShowRequest{Session: "floodmark/incidents", Facts: true})
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range s.GetFacts() {
		all.WriteString(e.GetBody() + "\n")
	}
	return all.String()
}

// A laptop that never joined shows no trace of a fleet.
func TestNeverJoined(t *testing.T) {
	t.Parallel()
	r := start(t, t.TempDir())
	r.work(t, "s")
	r.alone(t)
}

// A fleet that is offline delays nothing and does not keep a laptop from leaving.
func TestOffline(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	r := newLaptop(t, t.TempDir(), func(*Options) {})
	r.join(t, f, "acme")
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	r.work(t, "s") // and no contact is tried meanwhile
	if r.contact(); !strings.Contains(r.line(t), "nothing listens at") {
		t.Errorf("status says %q", r.line(t))
	}
	r.work(t, "s2")
	gone, err := r.owner(t).Owner().Leave(t.Context(), &wire.LeaveRequest{})
	if err != nil || gone.GetUntold() == "" {
		t.Fatalf("%v, %v", gone, err)
	}
	r.alone(t)
}

// A machine that was revoked is told, says so, and sends nothing more.
func TestRevokedLaptop(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	r := newLaptop(t, t.TempDir(), func(*Options) {})
	got := r.join(t, f, "acme")
	if r.contact(); !f.copied(r, "acme", got.GetMachine()) {
		t.Error("the fleet has no copy")
	}
	if err := f.book.End(t.Context(), "acme", machines.ID(got.GetMachine()), machines.Revoked, "bea", now()); err != nil {
		t.Fatal(err)
	}
	if r.contact(); !strings.Contains(r.line(t), "REVOKED") {
		t.Errorf("status says %q", r.line(t))
	}
	if !strings.Contains(r.line(t), "floodmark fleet leave") {
		t.Errorf("%q does not say what to do", r.line(t))
	}
}

// Only the owner at the owner's own socket joins or leaves: no agent, no token of any rights.
func TestWhoJoins(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	r := startWith(t, t.TempDir(), false, func(*Options) {})
	r.work(t, "s") // this process is an agent from now on
	if _, err := r.owner(t).Owner().Join(t.Context(), f.joinRequest("acme")); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("an agent joins: %v", err)
	}
	if _, err := r.owner(t).Owner().Leave(t.Context(), &wire.LeaveRequest{}); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("an agent leaves: %v", err)
	}
	for _, tenant := range []string{"", "acme"} {
		admin := f.by(f.token(tenant, "admin", httpapi.OwnerMay)).Owner()
		if _, err := admin.Join(t.Context(), f.joinRequest("acme")); connect.CodeOf(err) != connect.CodeFailedPrecondition {
			t.Errorf("somebody on the network joins: %v", err)
		}
		if _, err := admin.Leave(t.Context(), &wire.LeaveRequest{}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
			t.Errorf("somebody on the network leaves: %v", err)
		}
	}
	list, _ := machinestest.All(t.Context(), f.book, "acme")
	if len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// What cannot be joined is refused, and nothing is left of it.
func TestJoinRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	r := newLaptop(t, t.TempDir(), func(*Options) {})
	good := f.joinRequest("acme")
	for name, change := range map[string]func(*wire.JoinRequest){
		"http":       func(j *wire.JoinRequest) { j.Url = strings.Replace(j.Url, "https", "http", 1) },
		"nobody":     func(j *wire.JoinRequest) { j.Credential = "fm_enrol_x" },
		"a stranger": func(j *wire.JoinRequest) { j.Authority = "" },
		"no name":    func(j *wire.JoinRequest) { j.Name = "" },
		"nothing":    func(j *wire.JoinRequest) { j.Url = "https://127.0.0.1:1" },
	} {
		j := &wire.JoinRequest{Url: good.GetUrl(), Authority: good.GetAuthority(), Credential: good.GetCredential(), Name: good.GetName()}
		change(j)
		if _, err := r.owner(t).Owner().Join(t.Context(), j); connect.CodeOf(err) != connect.CodeFailedPrecondition || strings.Contains(err.Error(), good.GetCredential()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.alone(t)
}

// A membership that is damaged is not none: there is no monitor rather than one
// with other rules.
func TestDamagedMembership(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newLaptop(t, dir, func(*Options) {})
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.paths.Fleet, []byte(`{"version":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), options(dir, &lockedBuffer{})); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v", err)
	}
	if _, is, err := fleetlink.Load(r.paths.Fleet); is || err == nil {
		t.Error("it is read")
	}
}
