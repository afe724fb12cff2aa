package fleetcli

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/internal/fleet/people/oidctest"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// A login that would be valid at another fleet is refused, because the operator of the second fleet
// could use it at the first.
func TestFleetsAreApart(t *testing.T) {
	book := people.OpenBook(filepath.Join(t.TempDir(), "fleets.json"), fixedNow)
	first := people.Fleet{Name: "firm", URL: "https://fleet.example", Login: people.Login{Issuer: "https://login.example", ClientID: "floodmark"}}
	if err := book.Keep(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if err := apart(book, first); err != nil {
		t.Errorf("logging in again: %v", err)
	}
	evil := first
	evil.Name, evil.URL = "evil", "https://evil.example"
	if err := apart(book, evil); err == nil || !strings.Contains(err.Error(), "could act as you there") {
		t.Errorf("the same logins: %v", err)
	}
	evil.Login.Audience = "floodmark" // the default audience
	if err := apart(book, evil); err == nil || !strings.Contains(err.Error(), "could act as you there") {
		t.Errorf("the same logins in other words: %v", err)
	}
	other := evil
	other.Login.ClientID, other.Login.Audience = "other", ""
	if err := apart(book, other); err != nil {
		t.Errorf("a client of its own: %v", err)
	}
	for claims, counts := range map[string]bool{
		`{"iss":"https://login.example","aud":"floodmark"}`:                         true,
		`{"iss":"https://login.example","aud":["x","floodmark"],"azp":"floodmark"}`: true,
		`{"iss":"https://login.example","aud":["x","floodmark"],"azp":"other"}`:     false,
		`{"iss":"https://login.example","aud":"other"}`:                             false,
		`{"iss":"https://other.example","aud":"floodmark"}`:                         false,
		`{"iss":"https://login.example","aud":7}`:                                   false,
		`{"iss":"https://login.example"}`:                                           false,
	} {
		given := other
		given.Pass.Token = "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
		if err := apart(book, given); (err != nil) != counts {
			t.Errorf("what the provider gave, %s: %v", claims, err)
		}
	}
	other.Name = "firm"
	if err := apart(book, other); err == nil {
		t.Error("a name that is taken")
	}
}

// A fleet that a laptop joins does not get a login that is valid at another fleet, either.
func TestJoinShowsNoLoginOfAnotherFleet(t *testing.T) {
	evil := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"issuer":"https://login.example","clientId":"floodmark"}`)
	}))
	defer evil.Close()
	c := &cli.Console{Stdout: io.Discard, Stderr: io.Discard, Now: fixedNow}
	p := cli.Place{Dir: t.TempDir()}
	book, err := c.Fleets(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(config.DirPaths(p.Dir).Fleets), 0o700); err != nil {
		t.Fatal(err)
	}
	login := people.Login{Issuer: "https://login.example", ClientID: "floodmark"}
	if err := book.Keep(t.Context(), people.Fleet{Name: "firm", URL: "https://fleet.example", Login: login}); err != nil {
		t.Fatal(err)
	}
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: evil.Certificate().Raw}))
	if _, err := enrolLogin(t.Context(), c, p, evil.URL, authority, io.Discard); err == nil || !strings.Contains(err.Error(), "could act as you there") {
		t.Errorf("%v", err)
	}
}

// If a renewed login cannot be saved, it is used all the same, and the person is told once.
func TestARenewedLoginThatIsNotKeptIsUsed(t *testing.T) {
	t.Parallel() // because the test waits for a provider
	idp := oidctest.New()
	defer idp.Close()
	idp.LogIn(idp.Claims("floodmark", fixedNow()))
	f := people.Fleet{Name: "firm", URL: "https://fleet.example", Login: people.Login{Issuer: idp.URL, ClientID: "floodmark"}}
	flow, err := f.Login.Begin(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer flow.Close()
	if f.Pass, err = flow.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.Pass.Ends = fixedNow().Add(-time.Hour)
	path := filepath.Join(t.TempDir(), "fleets.json")
	book := people.OpenBook(path, fixedNow)
	// With a folder in the place of the lock the book can be read but not changed.
	if err := errors.Join(book.Keep(t.Context(), f), os.Remove(path+".lock"), os.Mkdir(path+".lock", 0o700)); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	token := (&cli.Console{Stderr: &said}).FleetToken(book, "firm")
	for range 2 {
		if text, err := token(t.Context()); err != nil || text == "" {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
	}
	if n := strings.Count(said.String(), "your login at firm was renewed, and that could not be stored"); n != 1 {
		t.Errorf("%q", said.String())
	}
	if _, err := token(t.Context()); err != nil || strings.Contains(said.String(), "eyJ") {
		t.Errorf("%q, %v", said.String(), err)
	}
}
