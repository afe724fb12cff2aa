package outward

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// http reaches this machine and no other, whatever a name resolves to.
func TestHere(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true,
		"192.0.2.1:80": false, ":80": false, "x": false, "localhost:80": false,
	} {
		if here(address) != want {
			t.Errorf("%v: %v", address, !want)
		}
	}
}

func TestClient(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer server.Close()
	t.Setenv("HTTP_PROXY", other.URL)
	c := Client(Options{Here: true})
	defer c.CloseIdleConnections()
	ask := func(url string) (int, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Do(req)
		if err != nil {
			return 0, err
		}
		return res.StatusCode, res.Body.Close()
	}
	if status, err := ask(server.URL); status != http.StatusFound || err != nil || elsewhere > 0 {
		t.Errorf("a redirect: %d, %v, and %d went elsewhere", status, err, elsewhere)
	}
	if _, err := ask("http://192.0.2.1/"); !errors.Is(err, ErrNotHere) || elsewhere > 0 {
		t.Errorf("another machine: %v, and %d went elsewhere", err, elsewhere)
	}
}
