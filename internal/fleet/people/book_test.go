package people_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/people"
)

// loggedIn is a book with one login at a hall's provider.
func loggedIn(t *testing.T, h *hall) (*people.Book, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data", "fleets.json")
	b := people.OpenBook(path, h.clock).By(h.Dial)
	f := people.Fleet{Name: "firm", URL: "https://fleet.example:7443", Login: h.login(), Since: h.clock()}
	h.LogIn(h.good(nil))
	flow, err := f.Login.Begin(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer flow.Close()
	if f.Pass, err = flow.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.Keep(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	return b, path
}

// A login is found by name and by address, is renewed before it expires, and its file is readable
// only by its owner.
func TestBook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		b, path := loggedIn(t, h)
		for _, word := range []string{"firm", "https://fleet.example:7443", "https://FLEET.example:7443/"} {
			if f, err := b.Find(word); err != nil || f.Name != "firm" || f.Pass.Who() != "anna" {
				t.Errorf("%s: %+v, %v", word, f, err)
			}
		}
		for _, word := range []string{"", "fleet.example", "http://fleet.example:7443", "https://fleet.example"} {
			if _, err := b.Find(word); !errors.Is(err, people.ErrNoLogin) {
				t.Errorf("%s: %v", word, err)
			}
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		first, err := b.Token(t.Context(), "firm")
		if err != nil {
			t.Fatal(err)
		}
		h.later(59*time.Minute + 30*time.Second)
		h.LogIn(h.good(nil))
		second, err := b.Token(t.Context(), "firm")
		if err != nil || second == first {
			t.Fatalf("it was not renewed: %v", err)
		}
		if _, err := h.find(t, second); err != nil {
			t.Error(err)
		}
		if err := b.Drop(t.Context(), "firm"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Token(t.Context(), "firm"); !errors.Is(err, people.ErrNoLogin) {
			t.Errorf("logged out: %v", err)
		}
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "eyJ") {
			t.Errorf("something was left: %v", err)
		}
	})
}

// Of many concurrent renewals only one contacts the provider, which may treat a second use of a
// refresh token as theft.
func TestBookRenewsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		_, path := loggedIn(t, h)
		h.later(2 * time.Hour)
		h.LogIn(h.good(nil))
		var all sync.WaitGroup
		tokens := make([]string, 8)
		for i := range tokens {
			all.Go(func() {
				var err error
				if tokens[i], err = people.OpenBook(path, h.clock).By(h.Dial).Token(t.Context(), "firm"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, one := range tokens {
			if one != tokens[0] {
				t.Error("two tokens were given out")
			}
		}
	})
}

// A renewed login that cannot be saved is not lost: its token is returned with an error, and the
// refresh token is used once.
func TestBookCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		b, path := loggedIn(t, h)
		// A folder in place of the lock file: the book can be read, but not written.
		if err := errors.Join(os.Remove(path+".lock"), os.Mkdir(path+".lock", 0o700)); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for range 2 { // also what follows from a login that was not kept
			h.later(2 * time.Hour)
			h.LogIn(h.good(nil))
			token, err := b.Token(t.Context(), "firm")
			if !errors.Is(err, people.ErrNotKept) || token == "" || seen[token] {
				t.Fatalf("%d bytes, %v", len(token), err)
			}
			seen[token] = true
			if _, err := h.find(t, token); err != nil {
				t.Error(err)
			}
			if again, err := b.Token(t.Context(), "firm"); err != nil || again != token {
				t.Errorf("it was renewed twice: %v", err)
			}
		}
		if err := os.Remove(path + ".lock"); err != nil {
			t.Fatal(err)
		}
		h.later(2 * time.Hour)
		h.LogIn(h.good(nil))
		token, err := b.Token(t.Context(), "firm")
		if err != nil {
			t.Fatal(err)
		}
		if f, err := b.Find("firm"); err != nil || f.Pass.Token != token {
			t.Errorf("it is not written down: %v", err)
		}
	})
}

// A login that cannot be renewed has expired; while the provider is down, a valid token is still
// returned.
func TestBookOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		b, _ := loggedIn(t, h)
		h.Down(true)
		h.later(59*time.Minute + 30*time.Second)
		if _, err := b.Token(t.Context(), "firm"); err != nil {
			t.Errorf("it is good for half a minute: %v", err)
		}
		h.later(time.Minute)
		if _, err := b.Token(t.Context(), "firm"); !errors.Is(err, people.ErrUnreached) {
			t.Errorf("the provider is away: %v", err)
		}
		h.Down(false)
		f, err := b.Find("firm")
		if err != nil {
			t.Fatal(err)
		}
		if told, err := f.Login.End(t.Context(), nil, f.Pass.Refresh); !told || err != nil {
			t.Errorf("%v, %v", told, err)
		}
		if _, err := b.Token(t.Context(), "firm"); !errors.Is(err, people.ErrOver) {
			t.Errorf("it was ended there: %v", err)
		}
		f.Pass.Refresh = ""
		if err := b.Keep(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Token(t.Context(), "firm"); !errors.Is(err, people.ErrOver) {
			t.Errorf("nothing renews it: %v", err)
		}
	})
}

// A file that others can read, a link, and a damaged or endless file are refused.
func TestBookOdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, plain)
		b, path := loggedIn(t, h)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{
			"no JSON": "x", "another version": `{"version":2}`, "another address": strings.Replace(string(good), "https://fleet", "http://fleet", 1),
			"another issuer": strings.Replace(string(good), h.URL, "http://login.example", 1), "endless": strings.Repeat(" ", 5<<20),
		} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := b.List(); err == nil {
				t.Error(what)
			}
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := b.List(); err == nil || !strings.Contains(err.Error(), "others can read") {
			t.Errorf("%v", err)
		}
		if err := errors.Join(os.Chmod(path, 0o600), os.Rename(path, path+".1"), os.Symlink(path+".1", path)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.List(); err == nil {
			t.Error("a link")
		}
		for _, name := range []string{"", "a b", "a/b", "a\x1b", strings.Repeat("a", 101)} {
			if err := b.Keep(t.Context(), people.Fleet{Name: name}); err == nil {
				t.Errorf("%q is a name", name)
			}
		}
	})
}

// A pass is hidden in every printed form.
func TestPassIsHidden(t *testing.T) {
	p := people.Pass{Token: "eyJsecret", Refresh: "sssh"}
	f := people.Fleet{Pass: p}
	for _, text := range []string{fmt.Sprint(p), fmt.Sprintf("%+v %#v %s %q", p, p, p, p), fmt.Sprintf("%+v", f), fmt.Sprintf("%#v", f), fmt.Sprint(&f), p.LogValue().String()} {
		if strings.Contains(text, "secret\"") || strings.Contains(text, "eyJ") || strings.Contains(text, "sssh") {
			t.Errorf("%s", text)
		}
	}
}

func TestFleetURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://f.example": "https://f.example", "https://F.Example:443/": "https://f.example", "https://f.example:7443/a/": "https://f.example:7443/a",
		"https://[::1]:7443": "https://[::1]:7443",
		"http://f.example":   "", "f.example": "", "": "", "https://": "", "https://a:b@f.example": "", "https://f.example?x": "", "https://f.example#x": "",
		"https://f.example/../x": "", "https://f.example\x1b": "", "https:f.example": "", "https://:7443": "", "HTTPS://f.example": "https://f.example",
		"https://" + strings.Repeat("a", 300): "",
	} {
		if got, err := people.FleetURL(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func FuzzBook(f *testing.F) {
	f.Add([]byte(`{"version":1,"fleets":{"a":{"url":"https://f.example","login":{"issuer":"https://l.example","clientId":"c"},"pass":{"token":"a.b.c"}}}}`))
	f.Add([]byte(`{"version":1,"fleets":{"a":{"url":"https://f.example","given":{"who":"ann"},"pass":{"token":"fm_owner_` + strings.Repeat("0f", 32) + `"}}}}`))
	f.Add([]byte(`{}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "fleets.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := people.OpenBook(path, func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }).List()
		if err != nil {
			return
		}
		for _, one := range list {
			at, err := people.FleetURL(one.URL)
			_, given := people.ParseGiven(one.Pass.Token)
			if err != nil || at != one.URL || (one.Given == nil) != (people.CheckIssuer(one.Login.Issuer) == nil) || one.Given != nil && given != nil {
				t.Errorf("%+v", one)
			}
			_, _ = one.Who(), one.Pass.Who()
		}
	})
}
