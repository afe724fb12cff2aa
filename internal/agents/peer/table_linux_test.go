package peer

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestTheSystemNamesUs(t *testing.T) {
	p, err := Trace(System{}, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if p.UID != os.Getuid() || len(p.Ancestors) == 0 || p.Ancestors[0].PID != os.Getppid() {
		t.Errorf("got %s", p.Line())
	}
}

func TestOfNamesWhoConnected(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := net.Dial("unix", l.Addr().String()); err == nil {
			defer c.Close()
			c.Read(make([]byte, 1)) // until the connection is closed
		}
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pid, uid, err := Of(c)
	if err != nil || pid != os.Getpid() || uid != os.Getuid() {
		t.Errorf("got %d of user %d, %v", pid, uid, err)
	}
	tcp, other := net.Pipe()
	defer other.Close()
	if _, _, err := Of(tcp); err == nil {
		t.Error("a pipe has a peer")
	}
}

func TestANameMayHoldBrackets(t *testing.T) {
	line := "77 (a) b) c) S 5 77 77 34816 77 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0"
	got, err := parseStat([]byte(line))
	if err != nil || got.Name != "a) b) c" || got.Parent != 5 || got.Start != 4242 || !got.Terminal {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"", "77 S 5", "x (a) S 5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "77 (a) S 5", "77 (a) Z" + line[14:], "77 (a) S x" + line[15:]} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("77 (sh) S 5 77 77 0 77 0 0 0 0 0 0 0 0 0 20 0 1 0 " + strconv.Itoa(4242)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := parseStat(b); err == nil && p.PID == 0 && p.Start == 0 && p.Parent == 0 && len(b) < 10 {
			t.Errorf("%q has all it needs", b)
		}
	})
}
