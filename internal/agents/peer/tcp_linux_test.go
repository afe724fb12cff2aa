package peer

import (
	"net"
	"net/netip"
	"os"
	"testing"
)

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

func TestListens(t *testing.T) {
	self := Peer{Info: Info{Process: Process{PID: os.Getpid()}, Name: "browser"}}
	child := Peer{Info: Info{Process: Process{PID: os.Getppid()}, Name: "browser"}, Ancestors: []Info{self.Info}}
	other := Peer{Info: Info{Process: Process{PID: os.Getppid()}, Name: "curl"}, Ancestors: []Info{self.Info}}
	for _, network := range []string{"tcp4", "tcp6"} {
		if Listens(self) || Listens(child) {
			t.Fatal("nothing listens yet")
		}
		l, err := new(net.ListenConfig).Listen(t.Context(), network, "localhost:0")
		if err != nil {
			continue // a system without that family
		}
		if !Listens(self) || !Listens(child) || Listens(other) {
			t.Errorf("%s: %v, %v, %v", network, Listens(self), Listens(child), Listens(other))
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if !Listens(Peer{Info: Info{Process: Process{PID: -1}}}) {
		t.Error("what nobody knows is taken for harmless")
	}
}
