package catalog

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
)

// An unparsed program that names an address may send there.
func TestOutward(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string]bool{
		`perl -e 'post("https://news.example", $x)'`: true, `perl -e 'print 1'`: false, `eval "$X"; curl -d @a https://news.example`: true,
		"terraform destroy": true, "kubectl cp a b:/c": true, "kubectl get pods": false,
	} {
		if got := slices.Contains(shell(t, c, line).Effects, floodmark.Send); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// A folder that no build recreates is found if it is deleted with its content.
func TestWipes(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string][]string{
		"rm -rf src": {"/home/u/work/app/src"}, "rm -r docs/old": {"/home/u/work/app/docs/old"}, "rm a.txt": nil, "rm -rf node_modules dist": nil, "rm -rf /tmp/x": nil,
		"rm -rf src/build": nil, "rm *.bak": {"/home/u/work/app/*.bak"}, "ls": nil, "rm -rf /var/tmp/y": nil, "rm -rf tmpl": {"/home/u/work/app/tmpl"}, `rm -rf "$X"`: nil,
	} {
		if u := shell(t, c, line); !slices.Equal(u.Found.Things(floodmark.DeletesFolder), want) {
			t.Errorf("%s: %q, want %q", line, u.Found, want)
		}
	}
}

// A call with several command lines keeps what any of them deletes and fetches.
func TestSeveralLinesWipe(t *testing.T) {
	c := shipped(t)
	u := c.Classify(builtin("codex", "Bash"), append(args("command", "rm -rf src; npm install left-pad"), args("cmd", "ls")...), nil, here())
	if !slices.Contains(u.Found.Things(floodmark.DeletesFolder), "/home/u/work/app/src") || !slices.Contains(u.Found.Things(floodmark.FetchesPackage), "left-pad") {
		t.Errorf("found %q", u.Found)
	}
}
