// Package desktop shows questions as notifications on the owner's desktop, by the session bus. A
// notification has a button to deny, and none to approve, because several desktops let every
// program of the same user press the buttons of another program's notifications, and an agent can
// run such a program. So no signal from the bus can allow a call; it can only deny one.
package desktop

import (
	"context"
	"errors"
	"fmt"
	"html"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// The words of the protocol: Desktop Notifications Specification 1.2.
const (
	service  = "org.freedesktop.Notifications"
	object   = "/org/freedesktop/Notifications"
	invoked  = "ActionInvoked"
	closed   = "NotificationClosed"
	bus      = "org.freedesktop.DBus"
	busPath  = "/org/freedesktop/DBus"
	newOwner = "NameOwnerChanged"
	no       = "no" // the action of the button
	critical = byte(2)
)

// The limits on what is shown and remembered, and on how long the bus may take.
const (
	maxShown   = 256 // notifications at once; no further ones are shown
	maxSummary = 100 // characters
	maxLine    = 300
	answerTime = 3 * time.Second
	retryAfter = 30 * time.Second
	maxUnheard = 64 // signals
)

// ErrNotTheDesktop means that the program that shows notifications may have been started by an
// agent.
var ErrNotTheDesktop = errors.New("a program that an agent runs shows the notifications of this desktop")

// Options are what a desktop needs. All are required.
type Options struct {
	// Bus is the socket of the owner's session bus.
	Bus string
	// UID is the owner's user.
	UID int
	// Trusted reports whether a process may show the notifications. It must be false for every
	// process that an agent has started.
	Trusted func(pid int) bool
}

// Answer applies a denial; [monitor.Monitor.Answer] is one.
type Answer func(context.Context, journal.Session, approval.Command) (monitor.Answered, error)

// A Desktop shows questions on the owner's desktop. It is safe for concurrent use.
type Desktop struct {
	opts Options

	mu     sync.Mutex // guards what is below
	answer Answer     // nil: denials are dropped
	conn   *dbus.Conn // nil: there is no bus
	owner  string     // the unique bus name of the notification service; empty: none
	shown  map[key]question
	moved  func(there bool) // for tests; may be nil
}

var (
	_ approval.Approver = (*Desktop)(nil)
	_ approval.Closer   = (*Desktop)(nil)
)

// A key identifies a notification by its number and the service that assigned it.
type key struct {
	owner string
	id    uint32
}

type question struct {
	session journal.Session
	ticket  floodmark.TicketID
	calls   int
	seen    string
}

// New returns a desktop that is not connected yet. If Options.Bus is empty, it never connects.
func New(o Options) *Desktop { return &Desktop{opts: o, shown: map[key]question{}} }

// Begin connects to the bus, and passes denials to a. end disconnects.
func (d *Desktop) Begin(a Answer) (end func() error) {
	d.mu.Lock()
	d.answer = a
	d.mu.Unlock()
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { d.run(ctx) })
	return func() error {
		stop()
		work.Wait()
		return nil
	}
}

// There reports whether notifications are shown now.
func (d *Desktop) There() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.owner != ""
}

// run stays on the bus until ctx ends, and reconnects when it is lost. A missing bus is no error:
// most servers have none.
func (d *Desktop) run(ctx context.Context) {
	for d.opts.Bus != "" {
		_ = d.once(ctx) // the error says that there is no bus, or that it was lost
		timer := time.NewTimer(retryAfter)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// once stays on the bus until it is lost.
func (d *Desktop) once(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conn, err := dbus.Connect("unix:path="+dbus.EscapeBusAddressValue(d.opts.Bus),
		dbus.WithContext(ctx), dbus.WithAuth(dbus.AuthExternal(strconv.Itoa(d.opts.UID))))
	if err != nil {
		return err
	}
	defer conn.Close()
	signals := make(chan *dbus.Signal, maxUnheard)
	conn.Signal(signals)
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchInterface(service), dbus.WithMatchObjectPath(object)},
		{dbus.WithMatchSender(bus), dbus.WithMatchInterface(bus), dbus.WithMatchMember(newOwner), dbus.WithMatchArg(0, service)},
	} {
		if err := conn.AddMatchSignalContext(ctx, match...); err != nil {
			return err
		}
	}
	var owner string
	if err := call(ctx, conn, bus, busPath, bus+".GetNameOwner", service).Store(&owner); err != nil {
		owner = "" // no notification service yet
	}
	d.set(conn, owner)
	defer d.set(nil, "")
	for {
		select {
		case s, open := <-signals:
			if !open {
				return nil
			}
			d.hear(ctx, s)
		case <-conn.Context().Done():
			return conn.Context().Err()
		}
	}
}

// call sends a request to a name on the bus, and starts no service for it.
func call(ctx context.Context, conn *dbus.Conn, who string, path dbus.ObjectPath, method string, args ...any) *dbus.Call {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return conn.Object(who, path).CallWithContext(ctx, method, dbus.FlagNoAutoStart, args...)
}

// set records which service shows notifications now. If it is another one than before, set forgets
// the notifications of the previous one, because their buttons can no longer be pressed.
func (d *Desktop) set(conn *dbus.Conn, owner string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if conn != d.conn || owner != d.owner {
		clear(d.shown)
	}
	if d.conn, d.owner = conn, owner; d.moved != nil {
		d.moved(owner != "")
	}
}

// hear handles a signal. The bus names its sender, which a program cannot forge.
func (d *Desktop) hear(ctx context.Context, s *dbus.Signal) {
	switch s.Name {
	case bus + "." + newOwner:
		var name, before, now string
		if s.Sender == bus && dbus.Store(s.Body, &name, &before, &now) == nil && name == service {
			d.mu.Lock()
			conn := d.conn
			d.mu.Unlock()
			d.set(conn, now)
		}
	case service + "." + invoked:
		var id uint32
		var action string
		if s.Path == object && dbus.Store(s.Body, &id, &action) == nil && action == no {
			d.denied(ctx, key{s.Sender, id})
		}
	case service + "." + closed:
		var id, why uint32
		if s.Path == object && dbus.Store(s.Body, &id, &why) == nil {
			d.take(key{s.Sender, id}) // dismissing a notification is no answer
		}
	}
}

// take forgets a notification.
func (d *Desktop) take(k key) (question, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q, ok := d.shown[k]
	delete(d.shown, k)
	return q, ok
}

// denied denies the call of a notification whose button was pressed.
func (d *Desktop) denied(ctx context.Context, k key) {
	q, ok := d.take(k)
	d.mu.Lock()
	answer := d.answer
	d.mu.Unlock()
	if !ok || answer == nil {
		return
	}
	// An error is ignored: if the question is closed already, there is nothing to do.
	_, _ = answer(ctx, q.session, approval.Command{
		Verb: approval.Deny, Tool: approval.All, Ticket: q.ticket, Calls: q.calls, Seen: q.seen,
		By: "user " + strconv.Itoa(d.opts.UID), Channel: "desktop",
	})
}

// Ask implements [approval.Approver]. If there is no desktop, nothing is shown.
func (d *Desktop) Ask(ctx context.Context, t approval.Ticket) error {
	d.mu.Lock()
	conn, owner, full := d.conn, d.owner, len(d.shown) >= maxShown
	d.mu.Unlock()
	if conn == nil || owner == "" || full || t.Tenant != "" {
		return nil
	}
	var pid uint32
	if err := call(ctx, conn, bus, busPath, bus+".GetConnectionUnixProcessID", owner).Store(&pid); err != nil {
		return fmt.Errorf("ask who shows notifications: %w", err)
	}
	if pid == 0 || !d.opts.Trusted(int(pid)) {
		return ErrNotTheDesktop
	}
	var can []string
	if err := call(ctx, conn, owner, object, service+".GetCapabilities").Store(&can); err != nil {
		return fmt.Errorf("ask what notifications can show: %w", err)
	}
	summary, body := words(t, slices.Contains(can, "body-markup"))
	actions := []string{}
	if slices.Contains(can, "actions") {
		actions = []string{no, "No"}
	}
	var id uint32
	// The call goes to the unique name of the trusted process, so that no other process gets it.
	err := call(ctx, conn, owner, object, service+".Notify", "Floodmark", uint32(0), "dialog-question", summary, body, actions,
		map[string]dbus.Variant{"urgency": dbus.MakeVariant(critical)}, int32(0)).Store(&id)
	if err != nil {
		return fmt.Errorf("show a notification: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner == owner && id != 0 {
		d.shown[key{owner, id}] = question{journal.Session{Tenant: t.Tenant, ID: t.Session}, t.ID, t.Calls, t.Seen}
	}
	return nil
}

// words returns the text of a notification, without a code. If the service interprets markup in the
// body, the text is escaped.
func words(t approval.Ticket, markup bool) (summary, body string) {
	brief := t.Call.Brief()
	summary = floodmark.OneLine("Floodmark asks: "+brief.What.String(), maxSummary)
	plain := floodmark.OneLine(brief.What.String(), maxLine) + "\n" + floodmark.OneLine(brief.Why.String(), maxLine) +
		"\nTo say yes: floodmark watch (question " + floodmark.OneLine(string(t.ID), maxSummary) + ")."
	if markup {
		plain = html.EscapeString(plain)
	}
	return summary, plain
}

// Closed implements [approval.Closer]: it dismisses a question that was answered elsewhere.
func (d *Desktop) Closed(ctx context.Context, s floodmark.SessionID, t floodmark.TicketID, _ approval.Outcome) error {
	d.mu.Lock()
	conn := d.conn
	var gone []key
	for k, q := range d.shown {
		if q.ticket == t && q.session.ID == s {
			gone = append(gone, k)
			delete(d.shown, k)
		}
	}
	d.mu.Unlock()
	if conn == nil {
		return nil
	}
	for _, k := range gone {
		_ = call(ctx, conn, k.owner, object, service+".CloseNotification", k.id).Err // it may be gone
	}
	return nil
}
