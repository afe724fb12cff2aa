package hook_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

func TestSearched(t *testing.T) {
	holds := func(text string) bool { return strings.Contains(text, "s3cret") }
	p := &hook.Push{Head: []string{"pushes"}, Body: []string{"commit", "  + s3cret"}}
	if got := p.Searched(holds); got != p {
		t.Errorf("of what cannot be shown it says %+v", got)
	}
	p.Digest = floodmark.DigestOf("x")
	if got := p.Searched(func(string) bool { return false }); got.Holds != "" || (*hook.Push)(nil).Searched(holds) != nil {
		t.Errorf("%+v", got)
	}
	if got := p.Searched(holds); got.Holds != "the commits" || len(p.Head) != 1 {
		t.Errorf("%+v, and of what it was made %+v", got, p)
	}
	for _, body := range [][]string{{"commit 1", "  | s3cret", "file «a»"}, {"file «a»", "file «s3cret» (a program)"}} {
		p.Body = body
		if got := p.Searched(holds); got.Holds != "the commits" {
			t.Errorf("%q: %q", body, got.Holds)
		}
	}
	p.Body, p.Rest = []string{"file «a» (+1 -1)"}, []string{"x", "s3cret"}
	if got := p.Searched(func(string) bool { return false }); got.Rest != nil || len(p.Rest) != 2 {
		t.Errorf("a question keeps %q", got.Rest)
	}
	if got := p.Searched(holds); got.Holds != "the commits" {
		t.Errorf("beyond what is shown: %q", got.Holds)
	}
	p.Rest = nil
	p.Body = []string{"file «a» (+1 -1)", "  + one", "  - s3cret", "    s3cret", "  +s3cret", "file «b c»", "  + s3", "  + s3cret", "file «d»", "  + s3cret"}
	got := p.Searched(holds)
	if got.Holds != "«b c»" || len(got.Head) != 2 || got.Digest != p.Digest {
		t.Errorf("%+v", got)
	}
	for verdict, told := range map[floodmark.Verdict]bool{floodmark.Allow: false, floodmark.Confirm: true, floodmark.Restrict: true} {
		d := floodmark.Decision{Verdict: verdict}
		if got.Apart(&d); strings.Contains(d.Remedy.Agent, "«b c»") != told || d.Verdict != verdict {
			t.Errorf("%s: %+v", verdict, d)
		}
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
