package contain

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/box/boxticket"
	"github.com/floodmark/floodmark/journal"
)

// A call that failed in its box is asked about when it comes again, and the question says which
// host it needed.
func TestACallThatFailedInItsBox(t *testing.T) {
	h := newHouse(t)
	c := bash("1", "npm test")
	r, err := h.redeem(h.before(c).Command)
	if err == nil {
		err = r.Report(boxticket.Outcome{Stage: boxticket.StageEnded, Exit: 1, Hosts: []string{"api.example"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	h.after(c)
	again := h.before(bash("2", "npm test"))
	if again.Decision.Verdict != floodmark.Confirm || again.Command != "" || !strings.Contains(again.Line, "api.example") {
		t.Errorf("%+v", again)
	}
	h.wantIncidents()
}

// A call that is only tried in a box has failed if it asked for a host, whatever its exit code. A
// call that is not only tried has succeeded.
func TestATryThatDoesNotSayThatItFailed(t *testing.T) {
	for line, tried := range map[string]bool{"npm prune | tail -2; npm test": true, "npm test": false} {
		h := newHouse(t)
		c := bash("1", line)
		r, err := h.redeem(h.before(c).Command)
		if err == nil {
			err = r.Report(boxticket.Outcome{Stage: boxticket.StageEnded, Hosts: []string{"r.example"}})
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Spec.Whole != tried {
			t.Errorf("%s: %+v", line, r.Spec)
		}
		r.Close()
		if said := h.after(c).Warning; strings.Contains(said, "something may be missing") != tried {
			t.Errorf("%s: %q", line, said)
		}
		again := h.before(bash("2", line))
		if asked := again.Decision.Verdict == floodmark.Confirm && strings.Contains(again.Line, "r.example"); asked != tried || again.Decision.Contained() == tried {
			t.Errorf("%s: %+v", line, again)
		}
	}
}

// A command that failed in its box marks only the files it changed, because the box knows them.
func TestARedTestMarksNothing(t *testing.T) {
	h := newHouseIn(t, ownHome(t))
	h.now = h.now.AddDate(100, 0, 0) // so that files written now are old
	h.in("claude-code/today")
	c := bash("1", "make nothing")
	r, err := h.redeem(h.before(c).Command)
	if err == nil {
		err = r.Report(boxticket.Outcome{Stage: boxticket.StageEnded, Exit: 2})
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	h.tell(hook.Event{Point: hook.AfterToolCall, Call: c, Result: hook.Result{Text: "make: *** No rule", Error: true}})
	h.session = "claude-code/tomorrow"
	h.tell(hook.Event{Point: hook.SessionStart, Cause: hook.Startup, Project: h.project, Home: h.home})
	if reply := h.before(bash("2", "make test")); reply.Decision.Verdict != floodmark.Allow || reply.Decision.Reach != floodmark.Free {
		t.Errorf("%+v", reply.Decision)
	}
}

// During a pause no question is asked, so a call that failed in its box stays there.
func TestAPauseLetsNothingOutOfItsBox(t *testing.T) {
	h := newHouse(t)
	h.session = session
	if _, err := h.monitor.Pause(t.Context(), journal.Session{ID: h.session}, time.Hour, "owner", "console"); err != nil {
		t.Fatal(err)
	}
	h.fails("1", "npm test")
	h.fails("2", "npm test")
}

// The monitor is told how the command in a box ended.
func TestHowABoxEnded(t *testing.T) {
	changes := []boxticket.Change{{Path: "kept"}, {Path: "AGENTS.md", Refused: "it is obeyed"}}
	for name, c := range map[string]struct {
		state boxticket.State
		o     *boxticket.Outcome
		want  hook.BoxEnd
	}{
		"well":     {boxticket.Ran, &boxticket.Outcome{Stage: boxticket.StageEnded, Changes: changes}, hook.BoxEnd{State: floodmark.BoxEnded, Paths: []string{"AGENTS.md"}}},
		"failed":   {boxticket.Ran, &boxticket.Outcome{Stage: boxticket.StageEnded, Exit: 3, Hosts: []string{"h"}}, hook.BoxEnd{State: floodmark.BoxEnded, Failed: true, Exit: 3, Hosts: []string{"h"}}},
		"killed":   {boxticket.Ran, &boxticket.Outcome{Stage: boxticket.StageEnded, Signal: 9}, hook.BoxEnd{State: floodmark.BoxEnded, Failed: true, Exit: 137}},
		"runs on":  {boxticket.Running, nil, hook.BoxEnd{State: floodmark.BoxRunsOn}},
		"not made": {boxticket.Refused, &boxticket.Outcome{Stage: boxticket.StageRefused, Why: "no"}, hook.BoxEnd{State: floodmark.BoxRefused}},
		"lost":     {boxticket.Lost, nil, hook.BoxEnd{}},
	} {
		c.want.Ticket = "t"
		if got := boxEnd("t", c.state, c.o); !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, *got, c.want)
		}
	}
}

// Commands that delete or change files in the project run in a box, because that can be undone.
func TestDeletingRunsInABox(t *testing.T) {
	h := newHouse(t)
	for i, line := range []string{
		"rm -rf build", "git clean -fdx", "git reset --hard HEAD~1", "git checkout -- .", "find . -name '*.o' -delete",
		"mv main.go other.go", "git branch -D side", "git stash drop", "rm main.go && go build ./...", "git restore .", "shred main.go",
	} {
		r := h.before(bash(fmt.Sprint("delete-", i), line))
		if !r.Decision.Contained() || r.Command == "" {
			t.Errorf("%s: %+v", line, r.Decision)
		}
	}
}
