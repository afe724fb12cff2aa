package policyfile

import (
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/text/spelling"
)

func parsed(text string) (bool, string) {
	r := &Reader{Name: "f", Data: []byte(text)}
	n := r.Parse()
	return n != nil, r.Problems.Error()
}

// The limits on YAML itself, at the number and one beyond.
func TestYAMLLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n-1) + "1" + strings.Repeat("]", n-1) }
	many := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n-1), ",") + "]" }
	for _, c := range []struct {
		name           string
		within, beyond string
		says           string
	}{
		{"depth", nested(maxDepth), nested(maxDepth + 1), "f:1:17: error: this is nested too deep\n    a policy is at most 16 levels deep"},
		{"values", many(maxNodes), many(maxNodes + 1), "f:1:100000: error: the file has too many values\n    a policy may have 50000 values"},
		{"bytes", "1 #" + strings.Repeat("x", MaxBytes-3), "1 #" + strings.Repeat("x", MaxBytes-2), "f:1:1: error: the file has 1048577 bytes\n    a policy may have 1048576 bytes"},
	} {
		if ok, says := parsed(c.within); !ok {
			t.Errorf("%s: refused at the limit: %s", c.name, says)
		}
		if ok, says := parsed(c.beyond); ok || says != c.says {
			t.Errorf("%s: beyond the limit: %s", c.name, says)
		}
	}
	if ok, says := parsed(strings.Repeat("[", 20_000)); ok || !strings.Contains(says, "a policy is at most 16 levels deep") {
		t.Error(says)
	}
}

func TestReadableText(t *testing.T) {
	for text, want := range map[string]string{
		"a: b\r\n\tc\n": "", "é\ufffd😀 ~": "", "": "", "\x1f": "1:1", "a\x00": "1:2", "é\n\n ab\x7f": "3:4", "\xff": "1:1", "é\xc3": "1:2", "a\x08": "1:2",
	} {
		r := &Reader{Name: "f", Data: []byte(text)}
		if ok := r.readable(); ok != (want == "") || !ok && !strings.HasPrefix(r.Problems.Error(), "f:"+want+": error: a byte here is not readable text") {
			t.Errorf("%q: %v %v", text, ok, r.Problems)
		}
	}
}

func TestNearest(t *testing.T) {
	for got, want := range map[string]string{
		"taint_policy": "taintPolicy", "rule": "rules", "work-space": "workspace", "policies": "rules", "zebra": "", "": "", "x": "",
	} {
		if near, _ := spelling.Word(got, policyShape().only(InUser).names()); near != want {
			t.Errorf("%q: %q, want %q", got, near, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"kitten", "sitting", 3},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"ab", "ba", 2},
		{"abcd", "bcd", 1},
		{"bcd", "abcd", 1},
		{strings.Repeat("a", 64), strings.Repeat("a", 64), 0},
		{strings.Repeat("a", 65), "a", 64},
		{"a", strings.Repeat("a", 65), 64},
	} {
		if got := spelling.Edits(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestWordsInMessages(t *testing.T) {
	for noun, want := range map[string]string{"effect": "an effect", "verdict": "a verdict", "audit or inert": "an audit or inert"} {
		if got := article(noun); got != want {
			t.Errorf("%s: %s", noun, got)
		}
	}
	for d, want := range map[time.Duration]string{time.Second: "1s", 90 * time.Second: "1m30s", time.Minute: "1m", time.Hour: "1h", 90 * time.Minute: "1h30m", 24 * time.Hour: "24h"} {
		if got := ShortSpan(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
	if got := OneOf([]string{"a"}) + "|" + OneOf([]string{"a", "b"}) + "|" + OneOf([]string{"a", "b", "c"}); got != "a|a or b|a, b or c" {
		t.Error(got)
	}
}
