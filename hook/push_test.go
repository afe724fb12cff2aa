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

func TestValueKind(t *testing.T) {
	for want, l := range map[floodmark.ValueKind]hook.Leaf{
		floodmark.NumberValue: {Kind: hook.Number, Value: "1"}, floodmark.BoolValue: {Kind: hook.Bool, Value: "true"}, floodmark.NullValue: {Kind: hook.Null},
		floodmark.NoText: {Kind: hook.String}, floodmark.TextValue: {Kind: hook.String, Value: "x"},
	} {
		if got := l.ValueKind(); got != want {
			t.Errorf("%+v is %q, want %q", l, got, want)
		}
	}
}
