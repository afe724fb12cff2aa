package httpapi_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/service/httpapi"
)

// Two nodes read one file. If one node makes, expires or revokes a token, that takes effect at the
// other at its next call.
func TestNodesShareTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.json")
	now := soon()
	clock := func() time.Time { return now }
	var nodes [2]*httpapi.Tokens
	for i := range nodes {
		var err error
		if nodes[i], err = httpapi.OpenTokens(file, clock); err != nil {
			t.Fatal(err)
		}
	}
	old, kept, err := nodes[0].Create(httpapi.Token{Kind: httpapi.AgentKind, Tenant: "acme", Name: "build"})
	if err != nil {
		t.Fatal(err)
	}
	if who, err := nodes[1].Find(old); err != nil || who.Tenant != "acme" {
		t.Errorf("made on the other node: %+v, %v", who, err)
	}
	// Rotation: both tokens are valid until the old one is revoked.
	next, _, err := nodes[1].Create(httpapi.Token{Kind: httpapi.AgentKind, Tenant: "acme", Name: "build", Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{old, next} {
		if _, err := nodes[0].Find(text); err != nil {
			t.Error(err)
		}
	}
	if err := nodes[1].Revoke(kept.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := nodes[0].Find(old); !errors.Is(err, httpapi.ErrNoToken) {
		t.Errorf("revoked on the other node: %v", err)
	}
	now = now.Add(time.Hour)
	for _, n := range nodes {
		if _, err := n.Find(next); !errors.Is(err, httpapi.ErrNoToken) {
			t.Errorf("after its end: %v", err)
		}
	}
}
