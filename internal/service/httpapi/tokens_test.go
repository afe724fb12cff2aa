package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/service/httpapi"
)

func tokenPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "tokens.json")
}

func openTokens(t testing.TB, path string) *httpapi.Tokens {
	t.Helper()
	tokens, err := httpapi.OpenTokens(path, soon)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func create(t testing.TB, tokens *httpapi.Tokens, want httpapi.Token) (string, httpapi.Token) {
	t.Helper()
	text, made, err := tokens.Create(want)
	if err != nil {
		t.Fatal(err)
	}
	return text, made
}

func TestTokens(t *testing.T) {
	path := tokenPath(t)
	tokens := openTokens(t, path)
	// Permissions requested for an agent are ignored: it can only send events.
	ofAgent, made := create(t, tokens, httpapi.Token{Kind: httpapi.AgentKind, Tenant: "firm", Name: "bot", May: httpapi.OwnerMay})
	ofOwner, _ := create(t, tokens, httpapi.Token{Kind: httpapi.OwnerKind, Name: "anna", May: httpapi.MayView | httpapi.MayApprove})
	if !regexp.MustCompile(`^fm_agent_[0-9a-f]{64}$`).MatchString(ofAgent) || !regexp.MustCompile(`^fm_owner_[0-9a-f]{64}$`).MatchString(ofOwner) {
		t.Errorf("tokens %s and %s", ofAgent, ofOwner)
	}
	for text, want := range map[string]httpapi.Identity{
		ofAgent: {Tenant: "firm", Name: "bot", Channel: "token", May: httpapi.MayEvents},
		ofOwner: {Name: "anna", Channel: "token", May: httpapi.MayView | httpapi.MayApprove},
	} {
		if got, err := tokens.Find(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), ofAgent[9:]) || strings.Contains(string(data), ofOwner[9:]) {
		t.Errorf("%v; the file holds a secret:\n%s", err, data)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// If another process revokes a token, that takes effect here at once.
	if err := openTokens(t, path).Revoke(made.ID); err != nil {
		t.Fatal(err)
	}
	if got, err := tokens.Find(ofAgent); !errors.Is(err, httpapi.ErrNoToken) || got.May != 0 || got.Name != "" || got.Tenant != "" {
		t.Errorf("revoked: %+v, %v", got, err)
	}
	if left, err := tokens.List(); err != nil || len(left) != 1 || left[0].Name != "anna" || !left[0].Created.Equal(soon()) {
		t.Errorf("%+v, %v", left, err)
	}
	if err := tokens.Revoke(made.ID); !errors.Is(err, httpapi.ErrNoToken) {
		t.Errorf("revoked twice: %v", err)
	}
}

func TestUnknownTokens(t *testing.T) {
	tokens := openTokens(t, tokenPath(t))
	text, _ := create(t, tokens, httpapi.Token{Kind: httpapi.AgentKind, Name: "bot"})
	over, _ := create(t, tokens, httpapi.Token{Kind: httpapi.AgentKind, Name: "old", Expires: soon()})
	left, _ := create(t, tokens, httpapi.Token{Kind: httpapi.AgentKind, Name: "last", Expires: soon().Add(time.Nanosecond)})
	if _, err := tokens.Find(left); err != nil {
		t.Errorf("it has a nanosecond left: %v", err)
	}
	if _, err := tokens.Admit(httpapi.Token{Kind: httpapi.OwnerKind, Name: "anna", May: httpapi.MayView, Certificate: "anna"}); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{
		"", "anna", over, text[:len(text)-1], text + " ", strings.ToUpper(text), "fm_owner_" + text[9:], strings.Repeat("0", 64),
	} {
		if got, err := tokens.Find(wrong); !errors.Is(err, httpapi.ErrNoToken) || got.May != 0 || got.Name != "" || got.Tenant != "" {
			t.Errorf("%q: %+v, %v", wrong, got, err)
		}
	}
	for _, wrong := range []string{"", "bot", "Anna"} {
		if got, err := tokens.FindCertificate(wrong); !errors.Is(err, httpapi.ErrNoToken) || got.May != 0 || got.Name != "" || got.Tenant != "" {
			t.Errorf("%q: %+v, %v", wrong, got, err)
		}
	}
	for name, wrong := range map[string]httpapi.Token{
		"no kind":          {Name: "x", May: httpapi.MayView},
		"other kind":       {Kind: "root", Name: "x", May: httpapi.MayView},
		"no permission":    {Kind: httpapi.OwnerKind, Name: "x"},
		"owner and events": {Kind: httpapi.OwnerKind, Name: "x", May: httpapi.MayView | httpapi.MayEvents},
		"no name":          {Kind: httpapi.AgentKind},
		"long name":        {Kind: httpapi.AgentKind, Name: strings.Repeat("x", httpapi.MaxTokenName+1)},
		"long tenant":      {Kind: httpapi.AgentKind, Name: "x", Tenant: strings.Repeat("x", 129)},
	} {
		if text, made, err := tokens.Create(wrong); err == nil || text != "" || made.ID != "" {
			t.Errorf("%s: %q %+v", name, text, made)
		}
	}
	if _, err := tokens.Admit(httpapi.Token{Kind: httpapi.OwnerKind, Name: "again", May: httpapi.MayView, Certificate: "anna"}); err == nil {
		t.Error("a certificate was admitted twice")
	}
	if _, _, err := tokens.Create(httpapi.Token{Kind: httpapi.AgentKind, Name: strings.Repeat("x", httpapi.MaxTokenName), Tenant: strings.Repeat("x", 128)}); err != nil {
		t.Errorf("names at the limit: %v", err)
	}
}

// No file can permit an agent's token more than events, and no token of a malformed file is valid.
func TestTokenFileCannotRaiseAnAgent(t *testing.T) {
	path := tokenPath(t)
	text, _ := create(t, openTokens(t, path), httpapi.Token{Kind: httpapi.AgentKind, Name: "bot"})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	for name, to := range map[string]func(string) string{
		"more permissions": func(s string) string { return strings.Replace(s, `"events"`, `"events","approve"`, 1) },
		"others":           func(s string) string { return strings.Replace(s, `"events"`, `"admin"`, 1) },
		"none":             func(s string) string { return strings.Replace(s, `"events"`, ``, 1) },
		"unknown":          func(s string) string { return strings.Replace(s, `"events"`, `"everything"`, 1) },
		"another kind": func(s string) string {
			return strings.NewReplacer(`"events"`, `"approve"`, `"agent"`, `"owner"`).Replace(s)
		},
		"a kind of its own": func(s string) string { return strings.Replace(s, `"agent"`, `"Agent"`, 1) },
		"unknown field":     func(s string) string { return strings.Replace(s, `"name"`, `"admin":true,"name"`, 1) },
		"other version":     func(s string) string { return strings.Replace(s, `"version": 1`, `"version": 2`, 1) },
		"two files":         func(s string) string { return s + s },
		"half a file":       func(s string) string { return s[:len(s)/2] },
		"nothing":           func(string) string { return "" },
		"a certificate too": func(s string) string { return strings.Replace(s, `"name"`, `"certificate":"x","name"`, 1) },
	} {
		if to(good) == good {
			t.Fatalf("%s changes nothing", name)
		}
		if err := os.WriteFile(path, []byte(to(good)), 0o600); err != nil {
			t.Fatal(err)
		}
		tokens, _ := httpapi.OpenTokens(path, soon)
		if got, err := tokens.Find(text); err == nil || got.May != 0 || got.Name != "" || got.Tenant != "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o440: true, 0o660: false, 0o604: false, 0o620: false} {
		if err := errors.Join(os.WriteFile(path, []byte(good), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		tokens, err := httpapi.OpenTokens(path, soon)
		if _, found := tokens.Find(text); (err == nil) != ok || (found == nil) != ok {
			t.Errorf("mode %o: %v, %v", mode, err, found)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTokensAtAndBeyondTheLimit(t *testing.T) {
	path := tokenPath(t)
	var all []httpapi.Token
	for i := range httpapi.MaxTokens - 1 {
		all = append(all, httpapi.Token{
			ID: fmt.Sprintf("%08x", i), Kind: httpapi.AgentKind, Name: "bot", May: httpapi.MayEvents, Hash: floodmark.DigestOf(fmt.Sprint(i)),
		})
	}
	data, err := json.Marshal(map[string]any{"version": 1, "tokens": all})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	tokens := openTokens(t, path)
	text, _ := create(t, tokens, httpapi.Token{Kind: httpapi.AgentKind, Name: "last"})
	if _, _, err := tokens.Create(httpapi.Token{Kind: httpapi.AgentKind, Name: "more"}); err == nil || !strings.Contains(err.Error(), "revoke some") {
		t.Errorf("beyond the limit: %v", err)
	}
	if got, err := tokens.Find(text); err != nil || got.Name != "last" {
		t.Errorf("at the limit: %+v, %v", got, err)
	}
	if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := tokens.Revoke("00000001"); err == nil || !strings.Contains(err.Error(), "somebody else") {
		t.Errorf("two changes at once: %v", err)
	}
}

func TestMay(t *testing.T) {
	for may := range httpapi.May(32) {
		data, err := json.Marshal(may)
		if err != nil {
			t.Fatal(err)
		}
		var back httpapi.May
		if err := json.Unmarshal(data, &back); err != nil || back != may {
			t.Errorf("%s: %v, %v", data, back, err)
		}
		if may.Has(0) || !may.Has(may) && may != 0 {
			t.Errorf("%v does not have itself, or has nothing", may)
		}
	}
	if httpapi.MayEvents.Has(httpapi.MayEvents|httpapi.MayView) || httpapi.OwnerMay.Has(httpapi.MayEvents) {
		t.Error("half of what is needed is enough")
	}
}
