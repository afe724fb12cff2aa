package peer

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// OfTCP returns the process at the other end of a connection on this machine. That is the process
// which has the socket with the local address theirs and the remote address ours open, if the
// socket belongs to one of these users. If several processes have it open, OfTCP returns the
// youngest: it descends from the others and was given the socket.
//
// A search of all processes takes long, so guess is checked first. If that process is still running
// and has the socket open, it is returned. The zero guess is no guess.
func OfTCP(ours, theirs netip.AddrPort, users []int, guess Process) (Process, error) {
	p, _, err := tcpPeer(ours, theirs, users, guess)
	return p, err
}

// tcpPeer is [OfTCP], and returns the user, too.
func tcpPeer(ours, theirs netip.AddrPort, users []int, guess Process) (Process, int, error) {
	inode, uid, err := socketOf(ours, theirs)
	if err != nil {
		return Process{}, uid, err
	}
	if !slices.Contains(users, uid) {
		return Process{}, uid, fmt.Errorf("%w: it is another user's", ErrUnknown)
	}
	if guess != (Process{}) && holds(guess.PID, inode) {
		if info, err := (System{}).Look(guess.PID); err == nil && info.Process == guess {
			return guess, uid, nil
		}
	}
	p, err := holder(inode)
	return p, uid, err
}

// Listens reports whether a process waits for connections over TCP, so that what it sends may be
// another program's word. An ancestor of the same name counts as the process, because browsers
// connect in another process than the one that takes orders. It returns true if that cannot be found
// out.
func Listens(p Peer) bool {
	if listens(p.PID) {
		return true
	}
	for _, up := range p.Ancestors {
		if up.Name != p.Name {
			return false
		}
		if listens(up.PID) {
			return true
		}
	}
	return false
}

func listens(pid int) bool {
	names, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		return true
	}
	has := make(map[string]bool, len(names))
	for _, name := range names {
		if is, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + name.Name()); err == nil {
			has[is] = true
		}
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := os.ReadFile(table)
		if err != nil {
			continue // a system without that family
		}
		const state, node, listening = 3, 9, "0A"
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) > node && f[state] == listening && has["socket:["+f[node]+"]"] {
				return true
			}
		}
	}
	return false
}

// holder returns the youngest process that has a socket open.
func holder(inode string) (Process, error) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return Process{}, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	var found Process
	for _, one := range all {
		pid, err := strconv.Atoi(one.Name())
		if err != nil || !holds(pid, inode) {
			continue
		}
		info, err := System{}.Look(pid)
		if err != nil {
			continue // it has ended meanwhile
		}
		if p := info.Process; p.Start > found.Start || p.Start == found.Start && p.PID > found.PID {
			found = p
		}
	}
	if found == (Process{}) {
		return Process{}, fmt.Errorf("%w: no process that can be seen holds the socket", ErrUnknown)
	}
	return found, nil
}

// holds reports whether a process has a socket open. It returns false for processes that we may not
// inspect.
func holds(pid int, inode string) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return false
	}
	want := "socket:[" + inode + "]"
	return slices.ContainsFunc(names, func(name string) bool {
		is, err := os.Readlink(dir + "/" + name)
		return err == nil && is == want
	})
}

// socketOf looks the other end of a connection up in the system's tables.
func socketOf(ours, theirs netip.AddrPort) (inode string, uid int, err error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue // a system without that family
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if inode, uid, ok := parseTCP(lines.Text(), ours, theirs); ok {
				return inode, uid, f.Close()
			}
		}
		_ = f.Close() // only read
	}
	return "", 0, fmt.Errorf("%w: the system has no such connection", ErrUnknown)
}

// parseTCP reads a line of /proc/net/tcp: its number, local and remote address,
// state, …, user, timeout, inode.
func parseTCP(line string, ours, theirs netip.AddrPort) (inode string, uid int, ok bool) {
	const local, remote, state, user, node = 1, 2, 3, 7, 9
	f := strings.Fields(line)
	if len(f) <= node || f[state] != "01" || f[node] == "0" {
		return "", 0, false
	}
	a, okA := parseHex(f[local])
	b, okB := parseHex(f[remote])
	uid, err := strconv.Atoi(f[user])
	if !okA || !okB || err != nil || a != plain(theirs) || b != plain(ours) {
		return "", 0, false
	}
	return f[node], uid, true
}

func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// parseHex reads an address as the kernel prints it, in words of four bytes in the machine's byte
// order.
func parseHex(text string) (netip.AddrPort, bool) {
	host, port, ok := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || err2 != nil || len(raw) != 4 && len(raw) != 16 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	ip, _ := netip.AddrFromSlice(raw)
	return plain(netip.AddrPortFrom(ip, uint16(n))), true
}
