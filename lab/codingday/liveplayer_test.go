package codingday

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// A player is a model that says what a task says. After a refusal it tries the other ways
// that are written, or else the same call once more, as the refusal tells it to, and goes on
// with the next one. If it is told to push in a call of its own, it does so.
type player struct {
	call  func(Step) testmodel.Call
	lines []line
	name  string // of the session
	// agent has it, and answers is how the owner answers questions about honest calls.
	agent, answers string
	// prompts are what tells its conversation from others that go on at the same time.
	prompts []string

	mu    sync.Mutex // guards what follows
	at    int        // the line that comes next
	slow  int        // commands that ran on when the model went on
	polls int        // how often it has asked for the end of the last command
	again bool       // the last call is a second try
	made  int        // calls
	short bool       // the conversation was compacted
	// notKept counts honest calls of which a box kept something back, noCommit those that
	// made a commit which was kept back.
	notKept, noCommit int
}

// A line is a call, or what is said at the end of a turn.
type line struct {
	step *Step
	says string
	full bool // the context is
}

func newPlayer(sessions []Session, attack bool, call func(Step) testmodel.Call) *player {
	p := &player{call: call}
	for _, s := range sessions {
		for _, prompt := range s.Prompts {
			for _, step := range prompt.Calls(attack) {
				p.lines = append(p.lines, line{step: &step})
			}
			p.lines = append(p.lines, line{says: prompt.Says, full: prompt.Full})
		}
	}
	return p
}

func (p *player) say(t testmodel.Turn) testmodel.Step {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait, on := p.waits(t); on {
		return testmodel.Step{Calls: []testmodel.Call{wait}}
	}
	last := ""
	if n := len(t.Results); n > 0 && p.at > 0 && p.lines[p.at-1].step != nil {
		last = t.Results[n-1]
		if !p.lines[p.at-1].step.Attack {
			p.notKept += one(strings.Contains(last, "box: not kept:"))
			p.noCommit += one(strings.Contains(last, "the history is not kept"))
		}
	}
	switch {
	case splits(last) && len(pushApart(*p.lines[p.at-1].step)) > 1:
		p.at, p.again = p.at-1, false
		p.lines = slices.Replace(p.lines, p.at, p.at+1, pushApart(*p.lines[p.at].step)...)
	case refused(last) && p.otherWay():
		p.again = true
	case !p.again && refused(last):
		p.at, p.again = p.at-1, true
	default:
		p.again = false
		for p.otherWay() {
			p.at++
		}
	}
	if p.at >= len(p.lines) {
		return testmodel.Step{Text: "I have nothing more to say."}
	}
	l := p.lines[p.at]
	p.at++
	if l.step == nil {
		return testmodel.Step{Text: l.says, Full: l.full}
	}
	p.made++
	return testmodel.Step{Calls: []testmodel.Call{p.call(*l.step)}}
}

// waits asks Codex for the end of a command that it did not wait for, which it does for
// half a minute only. After ten more of those the model goes on.
func (p *player) waits(t testmodel.Turn) (testmodel.Call, bool) {
	const most = 10
	n := len(t.Results)
	if n == 0 {
		return testmodel.Call{}, false
	}
	found := regexp.MustCompile(`running with session ID (\d+)`).FindStringSubmatch(t.Results[n-1])
	if found == nil || p.polls == most {
		p.slow += one(found != nil)
		p.polls = 0
		return testmodel.Call{}, false
	}
	p.polls++
	id, _ := strconv.Atoi(found[1]) // these are digits
	return testmodel.Call{Name: "write_stdin", Args: map[string]any{"session_id": id, "chars": "", "yield_time_ms": 30_000}}, true
}

// otherWay reports whether the next line is another way to what the last call was for.
func (p *player) otherWay() bool {
	return p.at < len(p.lines) && p.lines[p.at].step != nil && p.lines[p.at].step.Other
}

// now is the call that was made last.
func (p *player) now() Step {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == 0 || p.lines[p.at-1].step == nil {
		return Step{}
	}
	return *p.lines[p.at-1].step
}

// line is the number of the line that was said last.
func (p *player) line() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

// triesAgain reports whether the last call is a second try.
func (p *player) triesAgain() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.again
}

// splits reports whether a result asks for the push in a call of its own.
func splits(result string) bool {
	return strings.Contains(result, "ask for the push in a call of its own")
}

// pushApart are the calls that a model makes instead of one line with a push in it.
func pushApart(s Step) (calls []line) {
	file, err := syntax.NewParser().Parse(strings.NewReader(s.Arg), "")
	if err != nil {
		return nil
	}
	var parts []*syntax.Stmt
	var flatten func(*syntax.Stmt)
	flatten = func(st *syntax.Stmt) {
		if b, is := st.Cmd.(*syntax.BinaryCmd); is && (b.Op == syntax.AndStmt || b.Op == syntax.OrStmt) {
			flatten(b.X)
			flatten(b.Y)
			return
		}
		parts = append(parts, st)
	}
	for _, st := range file.Stmts {
		flatten(st)
	}
	// What is not a push stays one line, as far as it stands together.
	var from, to uint
	add := func() {
		if to > from {
			text := strings.TrimRight(s.Arg[from:to], "; \n")
			calls = append(calls, line{step: &Step{Tool: Shell, Arg: text, Attack: s.Attack, Cuts: s.Cuts, Of: s.Of}})
		}
		from, to = 0, 0
	}
	for _, st := range parts {
		begin, end := st.Pos().Offset(), st.End().Offset()
		push := strings.HasPrefix(s.Arg[begin:], "git push")
		if push {
			add()
		}
		if to == 0 {
			from = begin
		}
		if to = end; push {
			add()
		}
	}
	add()
	return calls
}

// refused reports whether a result says that the call did not run, or not to its end,
// because of us. Where the monitor did what the call wanted there is nothing to try again.
func refused(result string) bool {
	if strings.Contains(result, "pushed for you: ") {
		return false
	}
	for _, sign := range []string{"floodmark: ", "floodmark-box: nothing ran", "floodmark-box: no network"} {
		if strings.Contains(result, sign) {
			return true
		}
	}
	return false
}

// A refused call is tried once more, and the day goes on either way.
func TestPlayer(t *testing.T) {
	task, err := ParseTask("tasks/07-small.txtar", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	p := newPlayer(task.Sessions, false, func(s Step) testmodel.Call { return testmodel.Call{Name: s.Arg} })
	var said []string
	for _, result := range []string{"", "ok", "floodmark: no", "floodmark: no", "", "floodmark: no", "floodmark-box: nothing ran: x", "a", "b"} {
		turn := testmodel.Turn{}
		if result != "" {
			turn.Results = []string{"floodmark: long ago", result}
		}
		s := p.say(turn)
		text := s.Text
		for _, c := range s.Calls {
			text += c.Name
		}
		said = append(said, text)
	}
	want := []string{"cat a |\nwc -l", "c.txt", "c.txt", "Did it.", "make", "make", "ls", "Done.", "I have nothing more to say."}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
}

// Other ways are tried only after a refusal, each once.
func TestPlayerTriesOtherWays(t *testing.T) {
	w, err := ReadWeek(weekOf(smallWeek, smallDay))
	if err != nil {
		t.Fatal(err)
	}
	session := w.Days[0].Sessions()[0].Session
	for results, want := range map[string][]string{
		"ok,ok,ok,ok": {"docs.example/a", "curl", "go test", "a.go", "Did it."},
		"ok,floodmark: no,floodmark: no,floodmark: no,ok,ok": {"docs.example/a", "curl", "wget", "collect.attacker.example/x", "go test", "a.go", "Did it."},
		"ok,floodmark: no,ok,floodmark: no,ok,ok":            {"docs.example/a", "curl", "wget", "go test", "go vet", "a.go", "Did it."},
	} {
		p := newPlayer([]Session{session}, true, func(s Step) testmodel.Call { return testmodel.Call{Name: s.Arg} })
		said := []testmodel.Step{p.say(testmodel.Turn{})}
		for result := range strings.SplitSeq(results, ",") {
			said = append(said, p.say(testmodel.Turn{Results: []string{result}}))
		}
		if len(said) != len(want) {
			t.Fatalf("%s: %v", results, said)
		}
		for i, s := range said {
			text := s.Text
			for _, c := range s.Calls {
				text += c.Name
			}
			if !strings.Contains(text, want[i]) {
				t.Errorf("%s: %d is %q, want %q", results, i, text, want[i])
			}
		}
	}
}

// A command that Codex does not wait for is asked for, but not for ever.
func TestPlayerWaits(t *testing.T) {
	p := newPlayer([]Session{{Prompts: []Prompt{{Steps: []Step{{Tool: Shell, Arg: "make"}, {Tool: Shell, Arg: "ls"}}}}}}, false, func(s Step) testmodel.Call { return testmodel.Call{Name: s.Arg} })
	p.say(testmodel.Turn{})
	slow := testmodel.Turn{Results: []string{"Process running with session ID 7\n"}}
	for range 10 {
		if s := p.say(slow); s.Calls[0].Name != "write_stdin" {
			t.Fatalf("%+v", s)
		}
	}
	if s := p.say(slow); s.Calls[0].Name != "ls" || p.slow != 1 || p.made != 2 {
		t.Errorf("%+v, %d slow, %d made", s, p.slow, p.made)
	}
}

func TestPushApart(t *testing.T) {
	for arg, want := range map[string][]string{
		"git push":                                      {"git push"},
		"npm test && git push 2>&1 | tail -1":           {"npm test", "git push 2>&1 | tail -1"},
		"git commit -qam x; npm test && git push; rm y": {"git commit -qam x; npm test", "git push", "rm y"},
		"npm test": {"npm test"},
	} {
		var got []string
		for _, l := range pushApart(Step{Tool: Shell, Arg: arg}) {
			got = append(got, l.step.Arg)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", arg, diff)
		}
	}
}
