package desktop

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

// A busFake acts as a session bus and as the desktop on it.
type busFake struct {
	t      *testing.T
	socket string
	pid    uint32
	can    []string
	notify chan []any  // what Notify was called with
	closes chan uint32 // what CloseNotification was called with
	autos  chan string // methods that might have started a program
	moved  chan bool   // whether notifications are shown now

	mu    sync.Mutex // guards what is below
	owner string
	conn  net.Conn
	next  uint32
	sent  uint32
}

const theDesktop = ":1.7"

func newBus(t *testing.T) *busFake {
	t.Helper()
	b := &busFake{
		t: t, socket: filepath.Join(t.TempDir(), "bus"), pid: 4711, can: []string{"actions", "body", "body-markup"}, owner: theDesktop,
		notify: make(chan []any, 8), closes: make(chan uint32, 8), autos: make(chan string, 8), moved: make(chan bool, 8),
	}
	l, err := net.Listen("unix", b.socket)
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { b.serve(conn) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); work.Wait() })
	return b
}

// serve answers one connection until it ends.
func (b *busFake) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	_, _ = r.ReadByte() // the zero byte
	for {
		line, err := r.ReadString('\n')
		switch {
		case err != nil:
			return
		case strings.HasPrefix(line, "AUTH EXTERNAL"):
			_, _ = conn.Write([]byte("OK 1234deadbeef1234deadbeef12345678\r\n"))
		case strings.HasPrefix(line, "AUTH"):
			_, _ = conn.Write([]byte("REJECTED EXTERNAL\r\n"))
		case strings.HasPrefix(line, "NEGOTIATE"):
			_, _ = conn.Write([]byte("ERROR\r\n"))
		case strings.HasPrefix(line, "BEGIN"):
			b.mu.Lock()
			b.conn = conn
			b.mu.Unlock()
			for {
				m, err := dbus.DecodeMessage(r)
				if err != nil {
					return
				}
				b.answer(m)
			}
		}
	}
}

// answer answers one call.
func (b *busFake) answer(m *dbus.Message) {
	member, _ := m.Headers[dbus.FieldMember].Value().(string)
	to, _ := m.Headers[dbus.FieldDestination].Value().(string)
	if m.Flags&dbus.FlagNoAutoStart == 0 && to != bus {
		b.autos <- member
	}
	b.mu.Lock()
	owner := b.owner
	b.mu.Unlock()
	var body []any
	switch member {
	case "Hello":
		body = []any{":1.99"}
	case "GetNameOwner":
		if owner == "" {
			b.fail(m)
			return
		}
		body = []any{owner}
	case "GetConnectionUnixProcessID":
		body = []any{b.pid}
	case "GetCapabilities":
		body = []any{b.can}
	case "Notify":
		if to != owner {
			b.t.Errorf("it is shown to %q", to)
		}
		b.mu.Lock()
		b.next++
		body = []any{b.next}
		b.mu.Unlock()
		b.notify <- m.Body
	case "CloseNotification":
		b.closes <- m.Body[0].(uint32)
	}
	b.write(&dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(m.Serial()), dbus.FieldSender: dbus.MakeVariant(to),
	}, Body: body})
}

func (b *busFake) fail(m *dbus.Message) {
	b.write(&dbus.Message{Type: dbus.TypeError, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(m.Serial()), dbus.FieldErrorName: dbus.MakeVariant("org.freedesktop.DBus.Error.NameHasNoOwner"),
	}})
}

// signal sends a signal with the given sender. On a real bus, the bus itself sets the sender.
func (b *busFake) signal(sender, path, name string, body ...any) {
	at := strings.LastIndex(name, ".")
	b.write(&dbus.Message{Type: dbus.TypeSignal, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldPath: dbus.MakeVariant(dbus.ObjectPath(path)), dbus.FieldInterface: dbus.MakeVariant(name[:at]),
		dbus.FieldMember: dbus.MakeVariant(name[at+1:]), dbus.FieldSender: dbus.MakeVariant(sender),
	}, Body: body})
}

func (b *busFake) write(m *dbus.Message) {
	if len(m.Body) > 0 {
		m.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(m.Body...))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent++
	var frame bytes.Buffer
	if err := m.EncodeTo(&frame, binary.LittleEndian); err != nil {
		b.t.Error(err)
		return
	}
	binary.LittleEndian.PutUint32(frame.Bytes()[8:], b.sent) // the number of the message
	_, _ = b.conn.Write(frame.Bytes())                       // it may have gone
}

// run connects a Desktop to the bus until the test ends.
func (b *busFake) run(to Answer, o Options) *Desktop {
	b.t.Helper()
	o.Bus = b.socket
	d := New(o)
	d.moved = func(there bool) { b.moved <- there }
	end := d.Begin(to)
	b.t.Cleanup(func() {
		if err := end(); err != nil {
			b.t.Error(err)
		}
	})
	return d
}

// there waits until notifications are shown, or are not.
func (b *busFake) there(is bool) {
	for <-b.moved != is {
	}
}
