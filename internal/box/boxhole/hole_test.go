package boxhole

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
)

// A street is a box's proxy and a host outside that sends back what it receives.
type street struct {
	*testing.T
	hole   *Hole
	proxy  net.Listener
	dialed []string
}

func newStreet(t *testing.T, granted ...string) *street {
	t.Helper()
	h, err := New(granted)
	if err != nil {
		t.Fatal(err)
	}
	s := &street{T: t, hole: h, proxy: listen(t)}
	echo := listen(t)
	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	h.dial = func(_ context.Context, place string) (net.Conn, error) {
		s.dialed = append(s.dialed, place)
		return net.Dial("tcp", echo.Addr().String())
	}
	served := make(chan struct{})
	go func() { h.Serve(s.proxy); close(served) }()
	t.Cleanup(func() {
		_ = s.proxy.Close()
		h.Close()
		<-served
		_ = echo.Close()
	})
	return s
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// ask sends bytes to the proxy and returns everything that it answers.
func (s *street) ask(request string) string {
	s.Helper()
	conn, err := net.Dial("tcp", s.proxy.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		s.Fatal(err)
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	said, _ := io.ReadAll(conn)
	return string(said)
}

const end = " HTTP/1.1\r\n\r\n"

func TestAGrantedHostIsReached(t *testing.T) {
	s := newStreet(t, "api.example:443")
	if said := s.ask("CONNECT api.example:443 HTTP/1.1\r\nHost: other.example:22\r\n\r\nhello"); said != "HTTP/1.1 200 Connection established\r\n\r\nhello" {
		t.Errorf("%q", said)
	}
	if !slices.Equal(s.dialed, []string{"api.example:443"}) || len(s.hole.Wanted()) > 0 {
		t.Errorf("%q was dialled, %q noted", s.dialed, s.hole.Wanted())
	}
}

func TestNothingElseIsReached(t *testing.T) {
	for request, note := range map[string]string{
		"CONNECT other.example:443" + end:                                        "other.example:443",
		"CONNECT api.example:8443" + end:                                         "api.example:8443",
		"CONNECT API.example:443" + end:                                          "api.example:443",
		"CONNECT api.example.:443" + end:                                         "api.example.",
		"CONNECT api.example" + end:                                              "api.example",
		"CONNECT api.example:0443" + end:                                         "api.example",
		"CONNECT api.example:443@other.example:443" + end:                        "api.example",
		"CONNECT u:p@api.example:443" + end:                                      "u",
		"CONNECT api.example@other.example:443" + end:                            "",
		"CONNECT https://api.example:443" + end:                                  "https",
		"CONNECT 169.254.169.254:80" + end:                                       "169.254.169.254",
		"CONNECT localhost:22" + end:                                             "localhost",
		"CONNECT 127.0.0.1:22" + end:                                             "127.0.0.1",
		"CONNECT [::ffff:127.0.0.1]:443" + end:                                   "",
		"CONNECT \u0430pi.example:443" + end:                                     "",
		"CONNECT xn--pi-7kc.example:443" + end:                                   "xn--pi-7kc.example",
		"CONNECT api.example:443\x00" + end:                                      "",
		"CONNECT api.example\x00.other.example:443" + end:                        "",
		"CONNECT other.example:443\nCONNECT api.example:443" + end:               "",
		"CONNECT other.example:443 HTTP/1.1\r\nHost: api.example:443\r\n\r\n":    "other.example:443",
		"CONNECT  api.example:443" + end:                                         "",
		"CONNECT api.example:443 HTTP/2\r\n\r\n":                                 "",
		"connect api.example:443" + end:                                          "",
		"GET https://api.example:443/" + end:                                     "api.example",
		"GET http://api.example/x?leak" + end:                                    "api.example",
		"GET http://api.example:443@other.example/" + end:                        "",
		"GET /x HTTP/1.1\r\nHost: api.example\r\n\r\n":                           "",
		"POST http://A.example/ HTTP/1.1\r\nContent-Length: 4\r\n\r\nleak":       "a.example",
		"CONNECT api.example:443 HTTP/1.1\r\nX: " + strings.Repeat("a", maxHead): "",
		"\r\n\r\n": "", "": "", "leak": "",
	} {
		s := newStreet(t, "api.example:443")
		said := s.ask(request)
		if len(s.dialed) > 0 || !strings.HasPrefix(said, "HTTP/1.1 40") {
			t.Errorf("%.60q: %q was dialled: %q", request, s.dialed, said)
		}
		if got := strings.Join(s.hole.Wanted(), " "); got != note {
			t.Errorf("%.60q: %q was noted, want %q", request, got, note)
		}
	}
}

func TestWhatIsGranted(t *testing.T) {
	for _, bad := range [][]string{
		{"*.example:443"},
		{"127.0.0.1:443"},
		{"localhost:443"},
		{"api.example"},
		{""},
		{"API.example:443"},
		strings.Fields(strings.Repeat("api.example:443 ", MaxGranted+1)),
	} {
		if _, err := New(bad); err == nil {
			t.Errorf("%q is granted", bad)
		}
	}
	if _, err := New(strings.Fields(strings.Repeat("api.example:443 ", MaxGranted))); err != nil {
		t.Error(err)
	}
}

// A name that resolves to an address of this machine is not dialled.
func TestInnerAddressesAreRefused(t *testing.T) {
	l := listen(t)
	defer l.Close()
	if conn, err := Outward().DialContext(t.Context(), "tcp", l.Addr().String()); !errors.Is(err, errInner) {
		t.Errorf("%v, %v", conn, err)
	}
}

func TestOnlySoManyBytes(t *testing.T) {
	s := newStreet(t, "api.example:443")
	s.hole.sent.Store(maxSent - 5)
	if said := s.ask("CONNECT api.example:443" + end + "hello"); !strings.HasSuffix(said, "hello") {
		t.Errorf("%q", said)
	}
	if said := s.ask("CONNECT api.example:443" + end + "x"); strings.HasSuffix(said, "x") {
		t.Errorf("%q", said)
	}
	s.hole.sent.Store(0)
	s.hole.received.Store(maxReceived)
	if said := s.ask("CONNECT api.example:443" + end + "x"); strings.HasSuffix(said, "x") {
		t.Errorf("%q", said)
	}
}

func TestOnlySoManyNames(t *testing.T) {
	s := newStreet(t)
	for i := range maxWanted + 2 {
		s.ask(fmt.Sprintf("CONNECT h%d.example:443%s", i/2*2, end))
		s.ask(fmt.Sprintf("CONNECT h%d.example:443%s", i, end))
	}
	if n := len(s.hole.Wanted()); n != maxWanted {
		t.Errorf("%d names are kept", n)
	}
}

// A rush is a listener that has the next request ready at each Accept.
type rush struct{ asked, closed int }

func (r *rush) Accept() (net.Conn, error) {
	if r.closed > 0 {
		return nil, net.ErrClosed
	}
	r.asked++
	box, proxy := net.Pipe()
	go func() {
		_, _ = io.WriteString(box, "CONNECT a.example:1"+end)
		_, _ = io.Copy(io.Discard, box)
	}()
	return proxy, nil
}
func (r *rush) Close() error   { r.closed++; return nil }
func (r *rush) Addr() net.Addr { return nil }

func TestOnlySoManyRequests(t *testing.T) {
	h, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var r rush
	h.Serve(&r)
	h.Close()
	if r.asked != maxAnswered || r.closed == 0 {
		t.Errorf("%d requests were answered, closed %d", r.asked, r.closed)
	}
}

func FuzzTarget(f *testing.F) {
	f.Add([]byte("CONNECT api.example:443 HTTP/1.1\r\nHost: x"))
	f.Add([]byte("GET http://a.example/ HTTP/1.1"))
	f.Fuzz(func(t *testing.T, head []byte) {
		place, name := target(head)
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.:") != "" || len(name) > 300 {
			t.Errorf("%q is noted", name)
		}
		if place != "" && (place != name || !bytes.HasPrefix(head, []byte("CONNECT "+place+" HTTP/1."))) {
			t.Errorf("%q is taken from %q", place, head)
		}
	})
}
