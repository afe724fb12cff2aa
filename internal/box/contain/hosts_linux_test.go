package contain

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/boxticket"
	"github.com/floodmark/floodmark/journal"
)

const place = "api.example:443"

// fails plays a call whose command fails in its box because it cannot reach the wanted hosts. It
// returns the hosts that the box could reach.
func (h *house) fails(id, command string, wanted ...string) []string {
	h.Helper()
	c := bash(id, command)
	reply := h.before(c)
	if !reply.Decision.Contained() {
		h.Fatalf("%+v", reply)
	}
	r, err := h.redeem(reply.Command)
	if err != nil {
		h.Fatal(err)
	}
	defer r.Close()
	if err := r.Report(boxticket.Outcome{Stage: boxticket.StageEnded, Exit: 1, Hosts: wanted}); err != nil {
		h.Fatal(err)
	}
	h.after(c)
	return r.Spec.Hosts
}

// answers approves the question of a reply by one of its offers.
func (h *house) answers(r hook.Reply, offer int) {
	h.Helper()
	cmd := approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: r.Ticket, Offer: offer, By: "owner", Channel: "console"}
	if did, err := h.monitor.Answer(h.Context(), journal.Session{ID: h.session}, cmd); err != nil || len(did.Facts) == 0 {
		h.Fatalf("%+v, %v", did, err)
	}
}

// in continues in another session, which reads a stranger's text.
func (h *house) in(name floodmark.SessionID) {
	h.Helper()
	h.session = name
	h.low()
}

func TestAHostIsGrantedToOneCall(t *testing.T) {
	h := newHouse(t)
	h.session = session
	const run = "go test ./..."
	if hosts := h.fails("1", run, place, "10.0.0.1:80"); len(hosts) > 0 {
		t.Errorf("%q", hosts)
	}
	asked := h.before(bash("2", run))
	if asked.Decision.Verdict != floodmark.Confirm || asked.Decision.Reach != floodmark.Boxed || asked.Decision.Reasons[0].Code != floodmark.BoxHost || asked.Command != "" || !strings.Contains(asked.Line, place) {
		t.Fatalf("%+v", asked)
	}
	h.answers(asked, 1)
	if hosts := h.fails("3", run); !slices.Equal(hosts, []string{place}) {
		t.Errorf("%q", hosts)
	}
	h.asked(bash("4", run))        // no missing host made it fail, so it would run outside
	h.before(bash("5", "ls -l x")) // the approval is used up
	if hosts := h.fails("6", "go vet ./..."); len(hosts) > 0 {
		t.Errorf("%q", hosts)
	}
	if _, err := os.Stat(filepath.Join(h.home, "hosts.json")); err == nil {
		t.Error("a yes for one call is remembered for others")
	}
}

func TestAHostIsGrantedToAProject(t *testing.T) {
	h := newHouse(t)
	h.session = session
	const run = "go test ./..."
	h.fails("1", run, place)
	asked := h.before(bash("2", run))
	h.answers(asked, 2)
	if hosts := h.fails("3", run); !slices.Equal(hosts, []string{place}) {
		t.Fatalf("%q", hosts)
	}
	h.start() // another monitor, over the same journal
	h.in("claude-code/other")
	if hosts := h.fails("1", run); !slices.Equal(hosts, []string{place}) {
		t.Errorf("in another session: %q", hosts)
	}
	if hosts := h.fails("2", "go test ./a"); len(hosts) > 0 {
		t.Errorf("another call: %q", hosts)
	}
	project := h.project
	h.write("two/main.go", "package main\n")
	h.project = filepath.Join(h.home, "two")
	h.in("claude-code/elsewhere")
	if hosts := h.fails("1", run); len(hosts) > 0 {
		t.Errorf("in another project: %q", hosts)
	}
	h.project = project
	h.now = h.now.Add(approval.HostsFor - time.Hour)
	h.in("claude-code/late")
	if hosts := h.fails("1", run); len(hosts) == 0 {
		t.Error("it is over too soon")
	}
	h.now = h.now.Add(time.Hour)
	h.in("claude-code/later")
	if hosts := h.fails("1", run); len(hosts) > 0 {
		t.Errorf("after its time: %q", hosts)
	}
}

func TestAGrantOfAHostEnds(t *testing.T) {
	h := newHouse(t)
	h.session = session
	const run = "go test ./..."
	h.fails("1", run, place)
	asked := h.before(bash("2", run))
	h.answers(asked, 2)
	h.fails("3", run)
	cmd := approval.Command{Verb: approval.Revoke, Ticket: asked.Ticket, By: "owner", Channel: "console"}
	if did, err := h.monitor.Answer(t.Context(), journal.Session{ID: session}, cmd); err != nil || len(did.Facts) == 0 {
		t.Fatalf("%+v, %v", did, err)
	}
	h.in("claude-code/other")
	if hosts := h.fails("1", run); len(hosts) > 0 {
		t.Errorf("%q", hosts)
	}
}

// The file only says where to look in the journal, and grants nothing by itself.
func TestAFileGrantsNothing(t *testing.T) {
	h := newHouse(t)
	h.session = session
	h.fails("1", "go test ./...", place)
	for i, text := range []string{
		`{"leads":[{"session":"claude-code/s","project":"` + h.project + `","at":"2026-01-02T00:00:00Z"}]}`, `{"leads":[{"session":"no/such","project":"` + h.project + `","at":"2026-01-02T00:00:00Z"}]}`,
		"[]", "{}", "[", strings.Repeat(" ", 1<<18+1),
	} {
		h.write("hosts.json", text)
		h.in(floodmark.SessionID(fmt.Sprint("claude-code/", i)))
		if hosts := h.fails("1", "go test ./..."); len(hosts) > 0 {
			t.Errorf("%.60s: %q", text, hosts)
		}
	}
}

// Inside Codex's own sandbox a box can reach no host.
func TestNoHostInASandbox(t *testing.T) {
	h := newHouse(t)
	ev := hook.Event{Agent: "codex", Call: bash("1", "true")}
	if line, err := h.door.ticket(t.Context(), journal.Session{ID: session}, ev, "true", box.Spec{Hosts: []string{place}}, replacing{}); err == nil {
		t.Errorf("%q", line)
	}
}
