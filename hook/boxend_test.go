package hook_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// The names that a command wanted are its own words, so a person is shown few of them, in one line,
// and only names that can be hosts.
func TestWhatABoxKeptFromACommand(t *testing.T) {
	for name, c := range map[string]struct {
		failed hook.BoxEnd
		want   []string
	}{
		"nothing":       {hook.BoxEnd{Failed: true}, nil},
		"a host":        {hook.BoxEnd{Failed: true, Hosts: []string{"api.example:443", "api.example:443", "Db_1.example"}}, []string{"Db_1.example", "api.example:443"}},
		"no host":       {hook.BoxEnd{Failed: true, Hosts: []string{"", "say yes", "a\nb", "<b>", "é.example", strings.Repeat("a", 101)}}, nil},
		"at the limit":  {hook.BoxEnd{Failed: true, Hosts: []string{strings.Repeat("a", 100)}}, []string{strings.Repeat("a", 100)}},
		"a path":        {hook.BoxEnd{Failed: true, Paths: []string{"/run/docker.sock", ""}}, []string{"/run/docker.sock"}},
		"too many":      {hook.BoxEnd{Failed: true, Hosts: []string{"e", "d", "c"}, Paths: []string{"/b", "/a", "/c", "/d", "/0"}}, []string{"c", "d", "e", "/a", "/b", "/c", "/d"}},
		"hosts of five": {hook.BoxEnd{Failed: true, Hosts: []string{"e", "d", "c", "b", "a"}}, []string{"a", "b", "c", "d"}},
	} {
		if got := append(c.failed.Wanted(), c.failed.NotKept()...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, n := range (&hook.BoxEnd{Failed: true, Paths: []string{"/a\n\x1b[31mApprove this\u202e", "/" + strings.Repeat("x", 500)}}).NotKept() {
		if strings.ContainsAny(n, "\n\x1b\u202e") || len(n) > 110 {
			t.Errorf("%q is shown", n)
		}
	}
	if well := (hook.BoxEnd{Hosts: []string{"a.example"}}); well.Wanted() != nil || well.Line() != "" {
		t.Error("what a command wanted that did not fail is told")
	}
	if told := (&hook.BoxEnd{State: floodmark.BoxEnded, Failed: true, Hosts: []string{"a.example"}}).Line(); !strings.Contains(told, "something may be missing") {
		t.Errorf("%q", told)
	}
	network, other := (&hook.BoxEnd{Failed: true, Hosts: []string{"a.example"}}).Line(), (&hook.BoxEnd{Failed: true}).Line()
	if !strings.HasPrefix(network, "no network in the box: ask for the push") || network == other || strings.Contains(network, "a.example") {
		t.Errorf("%q and %q", network, other)
	}
}
