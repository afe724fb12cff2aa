// Package desktop shows questions as notifications on the owner's desktop, by the session bus. A
// notification has a button to deny, and none to approve: several desktops let every program of the
// same user press the buttons of others' notifications, and what an agent runs is such a program.
// So nothing that comes from the bus allows a call; it can only close a question.
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
	no       = "no" // the button's own word
	critical = byte(2)
)

// The limits on what is shown and remembered, and on how long the bus may take.
const (
	maxShown   = 256 // notifications; beyond them no more are shown
	maxSummary = 100 // characters
	maxLine    = 300
	answerTime = 3 * time.Second
	retryAfter = 30 * time.Second
	maxUnheard = 64 // signals
)

// ErrNotTheDesktop says that a program which an agent runs would show the notifications.
var ErrNotTheDesktop = errors.New("a program that an agent runs shows the notifications of this desktop")

// Options are what a desktop needs. All are required.
type Options struct {
	// Bus is the socket of the owner's session bus.
	Bus string
	// UID is the owner's user.
	UID int
	// Trusted reports whether a process may be the desktop: nothing an agent runs may.
	Trusted func(pid int) bool
}

// Answer applies a denial; [monitor.Monitor.Answer] is one.
type Answer func(context.Context, journal.Session, approval.Command) (monitor.Answered, error)

// A Desktop is the owner's. It is safe for concurrent use.
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

// A key names a notification: its number, and who gave it.
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

// New returns a desktop without a connection. Without a bus it stays so.
func New(o Options) *Desktop { return &Desktop{opts: o, shown: map[key]question{}} }

// Begin connects to the bus, for the monitor that applies denials. End disconnects.
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
		_ = d.once(ctx) // there is no bus, or not any more
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

// set notes which service shows notifications now. It drops those of another one: their buttons can
// no longer be pressed.
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
			d.take(key{s.Sender, id}) // to dismiss it is no answer
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

// denied closes a question whose button was pressed, as its service reports.
func (d *Desktop) denied(ctx context.Context, k key) {
	q, ok := d.take(k)
	d.mu.Lock()
	answer := d.answer
	d.mu.Unlock()
	if !ok || answer == nil {
		return
	}
	// It is no harm if it is closed already: it stays as it is.
	_, _ = answer(ctx, q.session, approval.Command{
		Verb: approval.Deny, Tool: approval.All, Ticket: q.ticket, Calls: q.calls, Seen: q.seen,
		By: "user " + strconv.Itoa(d.opts.UID), Channel: "desktop",
	})
}

// Ask implements [approval.Approver]. Where there is no desktop nothing is shown.
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
	// By the unique name: a successor does not get it.
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

// words returns the text of a notification, without a code. A body with markup is interpreted, so
// foreign text must be none.
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
