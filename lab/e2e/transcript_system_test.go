package e2e

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents/transcript"
	"github.com/floodmark/floodmark/internal/story/testmodel"
	"github.com/floodmark/floodmark/journal"
)

var keep = flag.String("transcripts", "", "a folder to keep what agents wrote down, and what the journal knew of it")

// A scene is a way of working that an agent writes a transcript of.
type scene struct {
	name string
	// say is the model. play, if set, runs the agent itself.
	say  func(w *world, a agent) func(testmodel.Turn) testmodel.Step
	play func(w *world, a agent)
	// twice says that the session is continued in a second run.
	twice bool
	// fits reports whether an agent can play it; nil: all can.
	fits func(a agent) bool
}

type saying func(w *world, a agent) func(testmodel.Turn) testmodel.Step

// steps runs commands one after another; the commands of one step run at the same time.
func steps(list ...[]string) saying {
	return func(_ *world, a agent) func(testmodel.Turn) testmodel.Step {
		return func(t testmodel.Turn) testmodel.Step {
			n := 0
			for _, commands := range list {
				if n == len(t.Results) {
					var s testmodel.Step
					for _, c := range commands {
						s.Calls = append(s.Calls, a.shell(c))
					}
					return s
				}
				n += len(commands)
			}
			return testmodel.Step{Text: "Done."}
		}
	}
}

// calls makes calls of any tool, one after another.
func calls(list func(a agent) []testmodel.Call) saying {
	return func(_ *world, a agent) func(testmodel.Turn) testmodel.Step {
		return func(t testmodel.Turn) testmodel.Step {
			all := list(a)
			if n := len(t.Results); n < len(all) {
				return testmodel.Step{Calls: all[n : n+1]}
			}
			return testmodel.Step{Text: "Done."}
		}
	}
}

func scenes() []scene {
	nonsense := map[string]any{"surprise": 1}
	return []scene{
		{name: "one call", say: steps([]string{"echo one"})},
		{name: "in order", say: steps([]string{"echo one"}, []string{"echo two"}, []string{"echo three"}, []string{"pwd"})},
		{name: "at once", say: steps([]string{"echo one", "echo two", "echo three"}, []string{"echo four", "echo five"})},
		{name: "failing", say: steps([]string{"false"}, []string{"cat missing.txt"}, []string{"exit 7"})},
		{name: "tried again", say: steps([]string{"cat notes.txt"}, []string{"cat notes.txt"}, []string{"cat notes.txt", "cat notes.txt"})},
		{name: "long output", say: steps([]string{"seq 1 3000"}, []string{"printf 'a\\0b\\033[31m'"})},
		{name: "refused", say: steps([]string{work}, []string{read}, []string{attack}, []string{finish})},
		{name: "refused again", say: steps([]string{read}, []string{attack, attack}, []string{attack}, []string{"echo floodmark: is on my mind"})},
		{name: "no such tool", say: calls(func(agent) []testmodel.Call {
			return []testmodel.Call{{Name: "no_such_tool", Args: nonsense}, {Name: "also_missing"}}
		})},
		{name: "gone on with", say: steps([]string{"echo one"}, []string{read}, []string{attack}, []string{"echo two"}), twice: true},
		{name: "daemon gone", say: func(w *world, a agent) func(testmodel.Turn) testmodel.Step {
			next := steps([]string{"echo one"}, []string{"echo two"}, []string{"echo three"})(w, a)
			return func(t testmodel.Turn) testmodel.Step {
				if len(t.Results) == 1 {
					w.stop()
				}
				return next(t)
			}
		}},
		{name: "wrong arguments", say: calls(func(a agent) []testmodel.Call {
			return []testmodel.Call{{Name: a.shell("").Name, Args: nonsense}, a.shell("echo one")}
		})},
		{name: "sub-agent", fits: func(a agent) bool { return len(a.spawn) > 0 }, play: func(w *world, a agent) {
			w.family(a, []string{"echo one"}, []string{"echo two", read}, []string{attack, "echo three"})
		}},
		{name: "server of tools", fits: func(a agent) bool { return a.mcp != nil }, play: func(w *world, a agent) {
			w.tools = true
			w.model.Say = calls(func(a agent) []testmodel.Call {
				return []testmodel.Call{a.shell("sleep 1"), a.mcp(map[string]string{"text": "hello"}), a.shell(read), a.mcp(map[string]string{"text": "again"})}
			})(w, a)
			a.run(w, how{protected: true})
		}},
	}
}

// scenesInGate is how many scenes the gate plays.
const scenesInGate = 2

// Everything in the transcript of a watched session was judged, and refused calls did not run.
func TestTranscripts(t *testing.T) {
	for _, a := range agentsHere() {
		if !slices.Contains(transcript.Agents(), a.name) {
			continue
		}
		for i, s := range scenes() {
			if s.fits != nil && !s.fits(a) {
				continue
			}
			if *gateOnly && (i >= scenesInGate || !a.quick()) {
				continue // make soak SUITE=agents plays all
			}
			t.Run(a.name+" "+s.name, func(t *testing.T) {
				w := newWorld(t)
				w.stop = w.inMemory()
				w.env = []string{"FLOODMARK_HOOK_SOCKET=" + w.memorySocket()}
				if s.play != nil {
					s.play(w, a)
				} else {
					w.model.Say = s.say(w, a)
					a.run(w, how{protected: true})
				}
				if s.twice {
					a.run(w, how{protected: true, again: true})
				}
				w.covered(a)
				if *keep != "" && !t.Failed() {
					w.keep(a.name, s.name)
				}
			})
		}
	}
}

// covered checks that everything that ran was judged.
func (w *world) covered(a agent) {
	w.t.Helper()
	got := w.cover(a.name)
	for _, r := range got.Reports {
		w.t.Logf("%v: %d calls ran, %d judged, %d refused, %d never, %d unknown", r.Session.Names, r.Ran, r.Judged, r.Refused, r.Never, r.Unknown)
		for _, f := range r.Findings {
			w.t.Errorf("%s: %+v", f.Kind, f.Call)
		}
		if r.Session.Unread > 0 && a.name != "openclaw" || r.Before > 0 { // OpenClaw compresses long texts
			w.t.Errorf("%d not read, %d before", r.Session.Unread, r.Before)
		}
	}
	if len(got.Reports) == 0 || len(got.Failed) > 0 {
		w.t.Errorf("no transcript, or %v; the model read %q", got.Failed, w.results())
	}
}

// An agent that runs without its hooks is reported.
func TestTranscriptWithoutHooks(t *testing.T) {
	t.Run("typing", transcriptOfTyping)
	for _, a := range agentsHere() {
		if !slices.Contains(transcript.Agents(), a.name) || *gateOnly && !a.quick() {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			w := newWorld(t)
			w.stop = w.inMemory()
			w.model.Say = steps([]string{"echo one"}, []string{"echo two"})(w, a)
			a.run(w, how{})
			got := w.cover(a.name)
			if len(got.Reports) != 1 || len(got.Reports[0].Findings) != 1 || got.Reports[0].Findings[0].Kind != transcript.Unseen || got.Reports[0].Findings[0].Calls != 2 {
				t.Errorf("found %+v", got)
			}
		})
	}
}

// transcriptOfTyping checks that what Codex types into a running command is found, though it was
// reported to no hook.
func transcriptOfTyping(t *testing.T) {
	w := newWorld(t)
	w.stop = w.inMemory()
	w.env = []string{"FLOODMARK_HOOK_SOCKET=" + w.memorySocket()}
	w.features = ""
	ran := typing(w, map[string]any{"cmd": `bash --norc -c 'read x; eval "$x"'`, "tty": true, "yield_time_ms": 800})
	got := w.cover("codex")
	if !ran || len(got.Reports) != 1 || len(got.Reports[0].Findings) != 1 || got.Reports[0].Findings[0].Call.Tool != "write_stdin" {
		t.Errorf("it ran: %v; found %+v", ran, got)
	}
}

// cover compares the agent's transcripts with the journal in memory.
func (w *world) cover(agent string) transcript.Coverage {
	w.t.Helper()
	got, err := transcript.Cover(transcript.Question{
		Agent: agent, In: transcript.Folders{Home: w.home}, Began: time.Unix(1, 0),
		Look: func(name string) (*transcript.Record, error) { return w.record(agent + ":" + name), nil },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// record returns what the journal knows of a session.
func (w *world) record(name string) *transcript.Record {
	var r *transcript.Record
	for e, err := range w.journal.Read(w.t.Context(), journal.Session{ID: floodmark.SessionID(name)}, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if r == nil {
			r = &transcript.Record{Opened: e.Time()}
		}
		f, err := e.Fact()
		if err != nil {
			w.t.Fatal(err)
		}
		if d, ok := f.(floodmark.ActionDecided); ok && d.Action.Kind == floodmark.CallTool {
			r.Decisions = append(r.Decisions, transcript.Decision{
				Call: d.Action.Call, Tool: d.Action.Tool, Args: d.Action.ArgsDigest, Allowed: d.Decision.Verdict == floodmark.Allow,
			})
		}
	}
	return r
}
