package peer

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A real process at the other end of a real connection is found, by IPv4 and
// IPv6, and nobody else's.
func TestOfTCP(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err)
			continue
		}
		at := netip.MustParseAddrPort(l.Addr().String())
		host, port := at.Addr().String(), l.Addr().String()[strings.LastIndex(l.Addr().String(), ":")+1:]
		child := exec.Command("bash", "-c", "exec 3<>/dev/tcp/"+host+"/"+port+"; read -r _ <&3")
		if err := child.Start(); err != nil {
			t.Skip(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := netip.MustParseAddrPort(conn.LocalAddr().String()), netip.MustParseAddrPort(conn.RemoteAddr().String())
		got, err := OfTCP(ours, theirs, []int{os.Getuid()}, Process{})
		if err != nil || got.PID != child.Process.Pid {
			t.Errorf("%s: %+v, %v, want %d", address, got, err, child.Process.Pid)
		}
		itself, err := System{}.Look(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		for name, guess := range map[string]Process{
			"right": got, "another process": itself.Process, "one that ended": {PID: got.PID, Start: got.Start - 1}, "nobody": {PID: 1 << 30, Start: 1},
		} {
			if again, err := OfTCP(ours, theirs, []int{os.Getuid()}, guess); err != nil || again != got {
				t.Errorf("%s: with a guess that is %s: %+v, %v, want %+v", address, name, again, err, got)
			}
		}
		if _, err := OfTCP(ours, theirs, []int{os.Getuid() + 1}, got); !errors.Is(err, ErrUnknown) {
			t.Errorf("another user: %v", err)
		}
		if got, err := OfTCP(theirs, ours, []int{os.Getuid()}, Process{}); err != nil || got.PID != os.Getpid() {
			t.Errorf("our own end: %+v, %v", got, err)
		}
		_ = conn.Close()
		_ = child.Wait()
		if _, err := OfTCP(ours, theirs, []int{os.Getuid()}, Process{}); !errors.Is(err, ErrUnknown) {
			t.Errorf("it is gone: %v", err)
		}
		_ = l.Close()
	}
}

func FuzzParseTCP(f *testing.F) {
	f.Add("  17: 0100007F:8C72 0100007F:1D0D 01 00000000:00000000 00:00000000 00000000  1000        0 123456 1 0000000000000000 20 4 30 10 -1")
	f.Add("   0: 0000000000000000FFFF00000100007F:8C72 0000000000000000FFFF00000100007F:1D0D 01 0:0 0:0 0 1000 0 123456 1")
	ours, theirs := netip.MustParseAddrPort("127.0.0.1:7437"), netip.MustParseAddrPort("127.0.0.1:35954")
	f.Fuzz(func(t *testing.T, line string) {
		if inode, _, ok := parseTCP(line, ours, theirs); ok && (inode == "" || inode == "0") {
			t.Error(line)
		}
	})
}

func TestParseTCP(t *testing.T) {
	ours, theirs := netip.MustParseAddrPort("127.0.0.1:7437"), netip.MustParseAddrPort("127.0.0.1:35954")
	for line, want := range map[string]bool{
		"17: 0100007F:8C72 0100007F:1D0D 01 0:0 00:0 0 1000 0 123 1":                                                 true,
		"17: 0000000000000000FFFF00000100007F:8C72 0000000000000000FFFF00000100007F:1D0D 01 0:0 00:0 0 1000 0 123 1": true,
		"17: 0100007F:1D0D 0100007F:8C72 01 0:0 00:0 0 1000 0 123 1":                                                 false,
		"17: 0100007F:8C72 0100007F:1D0D 06 0:0 00:0 0 1000 0 123 1":                                                 false,
		"17: 0100007F:8C72 0100007F:1D0D 01 0:0 00:0 0 1000 0 0 1":                                                   false,
		"17: 0100007F:8C72 0100007F:1D0D 01":                                                                         false,
		"17: 0100007F:8C72 0200007F:1D0D 01 0:0 00:0 0 1000 0 123 1":                                                 false,
	} {
		if _, _, ok := parseTCP(line, ours, theirs); ok != want {
			t.Errorf("%q: %v", line, ok)
		}
	}
}
