package box

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// A box has no settings of a resolver, so programs ask one on the loopback. There the first process
// of the box answers at once that the name does not exist. So programs fail soon instead of
// waiting, and the names show what they tried to reach.

// Limits of the queries that are answered and of the names that are recorded. After that many,
// programs find the port closed, which costs this process no time.
const (
	maxLookups  = 64
	maxQuery    = 512
	maxAnswered = 10_000
)

// lookups records the names that programs in the box asked for.
type lookups struct {
	socket int // zero if there is none

	mu    sync.Mutex
	names []string
}

func (l *lookups) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.names)
}

func (l *lookups) note(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.names) < maxLookups && !slices.Contains(l.names, name) {
		l.names = append(l.names, name)
	}
}

// listen opens the port of a resolver, which needs a capability.
func (l *lookups) listen(s *Spec) error {
	if s.NoNetwork {
		return nil // there is no loopback to listen on
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	l.socket = fd
	return unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: 53})
}

// serve answers queries, on a thread without capabilities.
func (l *lookups) serve() {
	if l.socket == 0 {
		return
	}
	defer func() { _ = unix.Close(l.socket) }()
	runtime.LockOSThread() // for good
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if unix.Capset(&header, &none[0]) != nil {
		return
	}
	buffer := make([]byte, maxQuery)
	for range maxAnswered {
		n, from, err := unix.Recvfrom(l.socket, buffer, 0)
		if err != nil {
			continue
		}
		if name, reply := noSuchName(buffer[:n]); reply != nil {
			l.note(name)
			_ = unix.Sendto(l.socket, reply, unix.MSG_DONTWAIT, from)
		}
	}
}

// noSuchName returns the name in a query, and the reply that it does not exist. There is no reply
// to anything but a query for one plain name.
func noSuchName(query []byte) (name string, reply []byte) {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil || h.Response || h.OpCode != 0 {
		return "", nil
	}
	q, err := p.Question()
	if err != nil {
		return "", nil
	}
	name = strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	if !plainHost(name) {
		return "", nil
	}
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: h.ID, Response: true, RecursionDesired: h.RecursionDesired, RecursionAvailable: true, RCode: dnsmessage.RCodeNameError})
	if err = errors.Join(b.StartQuestions(), b.Question(q)); err != nil {
		return "", nil
	}
	if reply, err = b.Finish(); err != nil {
		return "", nil
	}
	return name, reply
}

// plainHost reports whether a name has only letters, digits, hyphens, underscores and dots, so that
// it can be shown.
func plainHost(name string) bool {
	return name != "" && len(name) <= 253 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}
