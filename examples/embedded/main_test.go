package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/embedded"
)

func TestTheInjectedPageIsStopped(t *testing.T) {
	outbox = nil
	g, err := embedded.Open(t.TempDir(), policy)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var out bytes.Buffer
	if err := agent(t.Context(), g, &out); err != nil {
		t.Fatal(err)
	}
	if want := []string{"anna@firm.example"}; !slices.Equal(outbox, want) {
		t.Errorf("mail went to %v, want %v", outbox, want)
	}
	for _, want := range []string{
		"web_fetch: " + page, "read_notes: " + notes, "send_email: sent to anna@firm.example",
		`send_email: floodmark: web_fetch news.example (untrusted)`, "(informed by 1 untrusted web page; blocked: send_email, see «floodmark why»)",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestAClosedGuardRefuses(t *testing.T) {
	outbox = nil
	g, err := embedded.Open(t.TempDir(), policy)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if err := agent(t.Context(), g, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "floodmark: ") {
		t.Errorf("a closed guard let the agent begin: %v", err)
	}
	if len(outbox) > 0 {
		t.Errorf("mail went to %v", outbox)
	}
}
