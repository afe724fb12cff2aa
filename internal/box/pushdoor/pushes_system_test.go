package pushdoor

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// How an attempt ends.
const (
	pushed  = "pushed"       // and everything that came to the remote was shown
	refused = "refused"      // without a question
	unseen  = "asked"        // asked about without a review, and the question says so
	again   = "asked again"  // because the push is not what was approved
	failed  = "not pushed"   // approved, but the remote did not accept it
	plainly = "asked simply" // not a push that is reviewed
)

// An attempt is something that an agent, a box or a remote may do to get something pushed
// that was not shown.
type attempt struct {
	name string
	// early is called before the session, setup before the push, and then after the approval.
	early, setup, then func(w *world)
	line               string // of the call; empty: git push
	want               string
	// head and body must be in what was shown, and never must not be.
	head, body, never string
}

// play plays an attempt and returns how it ended.
func (a attempt) play(w *world) string {
	line := a.line
	if line == "" {
		line = "git push"
	}
	if a.setup != nil {
		a.setup(w)
	}
	first := w.run(line)
	switch {
	case first.Decision.Verdict == floodmark.Restrict:
		return refused
	case first.Decision.Verdict != floodmark.Confirm || len(w.asked) == 0:
		return "let through"
	}
	p := w.asked[len(w.asked)-1].Call.Push
	switch {
	case p == nil:
		return plainly
	case p.Unseen != "":
		return unseen
	case !p.Reviewed():
		return "asked without a reason"
	}
	if first.Shown != p.With(floodmark.Digest{}) {
		return "asked where the agent would push itself"
	}
	a.shown(w, p)
	asked := len(w.asked)
	w.approve()
	if a.then != nil {
		a.then(w)
	}
	second := w.run(line)
	switch {
	case second.Decision.Verdict == floodmark.Allow:
		return "let through after the yes"
	case strings.HasPrefix(second.Line, "pushed for you: "):
		return pushed
	case second.Decision.Verdict == floodmark.Confirm && len(w.asked) > asked:
		return again
	case strings.Contains(second.Line, "nothing is pushed"):
		return failed
	}
	return refused
}

// shown compares what a person sees.
func (a attempt) shown(w *world, p *hook.Push) {
	w.Helper()
	head, body := strings.Join(p.Head, "\n"), strings.Join(p.Body, "\n")
	if !strings.Contains(head, a.head) || !strings.Contains(body, a.body) {
		w.Errorf("it shows\n%s\n%s\nand not %q, %q", head, body, a.head, a.body)
	}
	if a.never != "" && strings.Contains(head+body, a.never) {
		w.Errorf("it shows %q:\n%s\n%s", a.never, head, body)
	}
	listed, err := w.desk.Pending(w.Context(), httpapi.Identity{Name: "ada", Channel: httpapi.OwnerSocket}, &wire.PendingRequest{})
	if w.must(err); len(listed.GetQuestions()) != 1 || !strings.Contains(strings.Join(listed.GetQuestions()[0].GetCalls()[0].GetCard(), "\n"), body) {
		w.Errorf("the list of questions does not show it: %v", listed)
	}
	for _, l := range p.Body {
		if strings.ContainsFunc(l, func(r rune) bool { return r < ' ' || r >= 0x202a && r <= 0x202e || r == 0x200b }) {
			w.Errorf("it shows %q", l)
		}
	}
}

// For every attempt, nothing is pushed that was not shown.
func TestNothingUnseenIsPushed(t *testing.T) {
	from := template(t)
	all := slices.Concat(
		looksOfFiles(), looksOfText(), historiesInOrder(), historiesForged(), historiesMalformed(), movesAfterTheYes(), movesOfLines(), movesOfOthers(),
		placesBySettings(), placesByPrograms(), remotesThatLie(), remotesThatRefuse(),
	)
	t.Logf("%d attempts", len(all))
	seen := map[string]int{"attempts": len(all), "something unseen was pushed": 0}
	for _, a := range all {
		ok := t.Run(strings.ReplaceAll(a.name, " ", "_"), func(t *testing.T) {
			w := newWorld(t, from, a.early)
			got := a.play(w)
			if seen[got]++; got != a.want {
				t.Errorf("%s, want %s", got, a.want)
			}
			w.check()
		})
		if !ok {
			seen["something unseen was pushed"]++ // or it ended otherwise than it should
		}
	}
	record(t, seen)
}

// record writes what was counted to the file that FLOODMARK_PUSHES names.
func record(t *testing.T, seen map[string]int) {
	t.Helper()
	at := os.Getenv("FLOODMARK_PUSHES")
	if at == "" {
		return
	}
	data, err := json.MarshalIndent(seen, "", "  ")
	if err == nil {
		err = os.WriteFile(at, append(data, '\n'), 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}
