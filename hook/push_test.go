package hook_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

func TestAdded(t *testing.T) {
	p := &hook.Push{Body: []string{"file «a»", "  + one", "  - two", "    three", "  +four", "  + five"}}
	if got := p.Added(); got != "" {
		t.Errorf("what cannot be shown adds %q", got)
	}
	p.Digest = floodmark.DigestOf("x")
	if got := p.Added(); got != "one\nfive\n" {
		t.Errorf("%q", got)
	}
	if (*hook.Push)(nil).Added() != "" {
		t.Error("no push adds something")
	}
}
