package people_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/people"
)

// aToken is one of the form that tokens of owners have.
func aToken(digit string) string { return "fm_owner_" + strings.Repeat(digit, 64) }

// Only an owner's token is accepted, and no error contains the text.
func TestParseGiven(t *testing.T) {
	for _, text := range []string{aToken("a"), " " + aToken("0") + "\r\n"} {
		if p, err := people.ParseGiven(text); err != nil || p.Token != strings.TrimSpace(text) {
			t.Errorf("%v", err)
		}
	}
	for _, text := range []string{
		"", "\n", "secret", aToken("g"), aToken("a") + "0", aToken("a")[:70], aToken("a") + "\n" + aToken("b"), aToken("a") + " x", "x " + aToken("a"),
		strings.Replace(aToken("a"), "owner", "agent", 1), strings.Replace(aToken("a"), "owner", "enrol", 1), strings.Replace(aToken("a"), "owner", "machine", 1), "fm_secret",
	} {
		_, err := people.ParseGiven(text)
		if err == nil {
			t.Errorf("%q is a token", text)
		} else if said := err.Error(); strings.Contains(said, "aaaa") || strings.Contains(said, "secret") || strings.Contains(said, "gggg") {
			t.Errorf("the text is in the error: %v", err)
		}
	}
}

// A given token is used until it expires, or without an expiry as long as the fleet accepts it. A
// login of two kinds, or of none, is damaged.
func TestGivenInTheBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleets.json")
	now := time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)
	b := people.OpenBook(path, func() time.Time { return now })
	pass, err := people.ParseGiven(aToken("a"))
	if err != nil {
		t.Fatal(err)
	}
	f := people.Fleet{Name: "firm", URL: "https://fleet.example", Pass: pass, Since: now}
	f.Take("ann\x1b", "acme", []string{"view", "appr\nove"}, time.Time{})
	if f.Who() != "" || f.Given.Tenant != "acme" || len(f.Given.May) != 1 {
		t.Errorf("what nobody is called is kept: %+v", f.Given)
	}
	f.Take("ann", "acme", []string{"view"}, time.Time{})
	if err := b.Keep(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	got, err := b.Find("firm")
	if err != nil || got.Who() != "ann" || got.Given == nil || !got.SameToken(f) || got.Login.Same(f.Login) {
		t.Fatalf("%+v, %v", got, err)
	}
	now = now.Add(10000 * time.Hour)
	if token, err := b.Token(t.Context(), "firm"); err != nil || token != aToken("a") {
		t.Error(err)
	}
	f.Take("ann", "acme", nil, now.Add(time.Second))
	if err := b.Keep(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Token(t.Context(), "firm"); err != nil {
		t.Errorf("it is good for a second: %v", err)
	}
	now = now.Add(time.Second)
	if _, err := b.Token(t.Context(), "firm"); !errors.Is(err, people.ErrOver) {
		t.Errorf("it has ended: %v", err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"of no sort":  strings.Replace(string(good), `"given"`, `"other"`, 1),
		"another's":   strings.Replace(string(good), "fm_owner_", "fm_agent_", 1),
		"of two":      strings.Replace(string(good), `"given"`, `"login": {"issuer": "https://login.example", "clientId": "c"}, "given"`, 1),
		"renewed":     strings.Replace(string(good), `"token"`, `"refresh": "r", "token"`, 1),
		"another way": strings.Replace(string(good), "https://fleet", "http://fleet", 1),
	} {
		if text == string(good) {
			t.Fatal(what, "is the same")
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := b.List(); err == nil {
			t.Errorf("%s: %+v", what, list)
		}
	}
}
