package did_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/setup/prove"
	"github.com/floodmark/floodmark/wire"
)

func (r *room) protection(who httpapi.Identity) *wire.ProtectionResponse {
	r.t.Helper()
	got, err := r.Protection(r.t.Context(), who, &wire.ProtectionRequest{})
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// TestProtection says which agents are connected, and what was tried; a change of their settings is
// seen at once.
func TestProtection(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	if got := r.protection(httpapi.Identity{}); len(got.GetAgents()) != 0 || got.GetUnknown() != "" || got.GetBoxHolds() || got.GetGatewayServers() != 0 {
		t.Errorf("nothing is there: %v", got)
	}
	home := t.TempDir()
	settings := filepath.Join(home, ".gemini", "settings.json")
	proofs := filepath.Join(r.dir, "proofs.json")
	m := protect.Machine{
		Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }, Still: true,
		Records: filepath.Join(r.dir, "originals"), Hook: "/opt/floodmark-hook", Program: "/opt/floodmark",
	}
	if err := os.Mkdir(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	plan, err := m.Protect(t.Context(), "gemini-cli")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		plan.Apply(), prove.Remember(t.Context(), proofs, m, []string{"gemini-cli"}),
		os.WriteFile(filepath.Join(r.dir, "gateway.yaml"), []byte("version: 1\nservers:\n  - {name: files, command: /bin/true}\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	one := func() *wire.ProtectedAgent {
		got := r.protection(httpapi.Identity{})
		if len(got.GetAgents()) != 1 || got.GetAgents()[0].GetName() != "gemini-cli" || got.GetGatewayServers() != 1 {
			t.Fatalf("%v", got)
		}
		return got.GetAgents()[0]
	}
	if a := one(); !a.GetConnected() || a.GetProof() != "" || a.GetTried() != nil || a.GetBoxes() || a.GetWhy() != "it was never tried" {
		t.Errorf("%v", a)
	}
	at := time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)
	if err := prove.Keep(proofs, []prove.Result{{Agent: "gemini-cli", Grade: prove.HostVerified, At: at}}); err != nil {
		t.Fatal(err)
	}
	if a := one(); !a.GetConnected() || a.GetProof() != "host-verified" || !a.GetTried().AsTime().Equal(at) || a.GetWhy() != "" {
		t.Errorf("%v", a)
	}
	if err := os.WriteFile(settings, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := one(); a.GetConnected() || a.GetWhy() == "" {
		t.Errorf("its hooks are gone: %v", a)
	}
	if err := os.WriteFile(proofs, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.protection(httpapi.Identity{}); len(got.GetAgents()) != 0 || got.GetUnknown() == "" {
		t.Errorf("unreadable: %v", got)
	}
}

// TestProtectionLevels gives the table in force, and tells a tenant nothing of this machine's agents.
func TestProtectionLevels(t *testing.T) {
	t.Parallel()
	got := newRoom(t).protection(httpapi.Identity{Tenant: "acme"})
	if got.GetUnknown() == "" || len(got.GetAgents()) != 0 {
		t.Errorf("%v", got)
	}
	words := ""
	for _, l := range got.GetLevels() {
		words += l.GetTrust() + " " + l.GetObserve() + " " + l.GetRun() + "\n"
	}
	if !strings.HasPrefix(words, "untrusted allow ") || !strings.HasSuffix(words, "owner allow allow\n") || strings.Contains(words, "untrusted allow allow") || strings.Count(words, "\n") != 5 {
		t.Errorf("%s", words)
	}
}
