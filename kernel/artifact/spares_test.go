package artifact

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// A pattern leaves out git's own folder unless it is meant for hidden names.
func TestWhatIsSpared(t *testing.T) {
	for p, want := range map[string]bool{
		"/p/*": true, "/p/*.go": true, "/p/src/a*": true, "/p/?x": true,
		"/p/.g*/hooks/x": false, "/p/.*": false, "/p/[.]git": false, "/p/**": false, "/p/src/*/**": false, "/p/a": false, "": false,
	} {
		if got := spares(p); got != want {
			t.Errorf("%q: %v", p, got)
		}
	}
	for p, want := range map[string]bool{"/p/.git": true, "/p/.git/hooks": true, "/p/.github": false, "/p/a.git/x": false, "/p": false} {
		if got := inGit(p); got != want {
			t.Errorf("%q: in git %v", p, got)
		}
	}
}

// Hooks of others add the effect run to a call, once.
func TestHooksOfOthersRun(t *testing.T) {
	write, run := floodmark.Write, floodmark.Run
	for _, c := range []struct {
		effects, want []floodmark.Effect
		hooks         int
	}{
		{[]floodmark.Effect{write}, []floodmark.Effect{write}, 0},
		{[]floodmark.Effect{write}, []floodmark.Effect{write, run}, 1},
		{[]floodmark.Effect{run}, []floodmark.Effect{run}, 2},
	} {
		got := RunsHooks(c.effects, make([]floodmark.Load, c.hooks))
		if len(got) != len(c.want) || got[len(got)-1] != c.want[len(c.want)-1] {
			t.Errorf("%v with %d hooks: %v", c.effects, c.hooks, got)
		}
	}
}
