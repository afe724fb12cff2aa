package outward

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8:443": true, "[2606:4700::1111]:443": true, "[::ffff:8.8.8.8]:443": true,
		"127.0.0.1:443": false, "10.1.2.3:443": false, "172.16.0.1:443": false, "192.168.0.1:443": false, "169.254.169.254:80": false,
		"100.64.0.1:443": false, "0.0.0.0:80": false, "255.255.255.255:80": false, "224.0.0.1:80": false, "198.18.0.1:80": false, "240.0.0.1:80": false,
		"[::1]:443": false, "[::]:443": false, "[fe80::1]:443": false, "[fe80::1%eth0]:443": false, "[fd00::1]:443": false, "[::ffff:10.0.0.1]:443": false,
		"[64:ff9b::a00:1]:443": false, "[2002:a00:1::1]:443": false, "[2001:0:1::1]:443": false, "[::10.0.0.1]:443": false, "[ff02::1]:443": false,
		"x:443": false, "8.8.8.8": false, "": false,
	} {
		if public(address) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
}

// A named host is reached on this machine. A host that was not named is not, by number or by name.
func TestNamed(t *testing.T) {
	reached := 0
	count := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ })
	named, stranger := httptest.NewServer(count), httptest.NewServer(count)
	defer named.Close()
	defer stranger.Close()
	c := Client(Options{Named: map[string]bool{named.Listener.Addr().String(): true, "192.0.2.1:80": true}})
	defer c.CloseIdleConnections()
	get := func(address string) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Do(req)
		if err == nil {
			err = res.Body.Close()
		}
		return err
	}
	if err := get(named.URL); err != nil || reached != 1 {
		t.Errorf("who was named: %v, %d", err, reached)
	}
	_, port, err := net.SplitHostPort(stranger.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{stranger.URL, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port} {
		if err := get(address); !errors.Is(err, ErrNotPublic) || reached != 1 {
			t.Errorf("%s: %v, %d", address, err, reached)
		}
	}
	if err := get("http://192.0.2.1/"); !errors.Is(err, ErrNotHere) {
		t.Errorf("named to be here, and is not: %v", err)
	}
}
