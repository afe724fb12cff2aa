package speakers

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/agents/peer/peertest"
)

// A grove is a table of processes in which agents start agents.
type grove struct {
	t *testing.T
	f peertest.Tree
	g *peer.Guarded
	b *branches
}

// newGrove has pi as process 20, which reports by itself, below a terminal.
func newGrove(t *testing.T) *grove {
	t.Helper()
	f := peertest.Agents()
	g := peer.NewGuarded(f)
	return &grove{t, f, g, newBranches(f, g, 100)}
}

// says has a process report; agent is empty if it does so by itself.
func (w *grove) says(pid int, agent string, ev hook.Event) (s Speaker) {
	w.t.Helper()
	p := w.f.Trace(w.t, pid)
	s = Speaker{Peer: p, Local: true, Framed: true, Agent: agent}
	if agent == "" {
		w.g.NoteItself(p)
	} else {
		w.g.Note(agent, p)
	}
	return s
}

const work = "/home/anna/work"

// starts reports whether a session that begins is a branch.
func (w *grove) starts(pid int, agent string, session floodmark.SessionID) bool {
	w.t.Helper()
	return w.startsIn(pid, agent, session, work, hook.Startup)
}

func (w *grove) startsIn(pid int, agent string, session floodmark.SessionID, project string, cause hook.Cause) bool {
	w.t.Helper()
	ev := hook.Event{Point: hook.SessionStart, Session: session, Agent: "x", Project: project, Cause: cause}
	s := w.says(pid, agent, ev)
	is := w.b.begins(s, ev)
	w.b.heard(s, ev)
	return is
}

// prompted returns whose branch a session is that is prompted.
func (w *grove) prompted(pid int, agent string, session floodmark.SessionID) floodmark.SessionID {
	w.t.Helper()
	ev := hook.Event{Point: hook.MessageReceived, Session: session, Agent: "x"}
	s := w.says(pid, agent, ev)
	br, is := w.b.prompted(s, ev)
	w.b.heard(s, ev)
	if !is {
		return ""
	}
	w.b.begun(session, br.parent)
	return br.parent
}

// An agent that another one starts is its branch, once.
func TestAnAgentOfAnAgentIsItsBranch(t *testing.T) {
	t.Parallel()
	w := newGrove(t)
	if w.starts(20, "", "pi:a") {
		t.Error("nobody started pi")
	}
	h := w.f.Codex(40, w.f.Shell(30, 20))
	if !w.starts(h, "codex", "codex:b") || w.prompted(h, "codex", "codex:b") != "pi:a" {
		t.Error("it is no branch")
	}
	if w.prompted(h, "codex", "codex:b") != "" {
		t.Error("a second prompt begins nothing")
	}
	w.f.Plant(60, w.f.Shell(50, 20), 600, "opencode", "opencode", "run") // it reports by itself
	if !w.starts(60, "", "opencode:c") || w.prompted(60, "", "opencode:c") != "pi:a" {
		t.Error("nor is another one")
	}
	if got := w.b.told("pi:a"); !slices.Equal(got, []floodmark.SessionID{"codex:b", "opencode:c"}) {
		t.Errorf("told of %v", got)
	}
	ev := hook.Event{Point: hook.AfterToolCall, Session: "codex:b"}
	for range 2 {
		w.b.heard(w.says(h, "codex", ev), ev)
	}
	w.b.untold("pi:a", []floodmark.SessionID{"codex:z"})
	if got := w.b.told("pi:a"); !slices.Equal(got, []floodmark.SessionID{"codex:z", "codex:b"}) || len(w.b.told("pi:a")) > 0 {
		t.Errorf("told of %v", got)
	}
}

// Where a process could make the tree look different, no session is a branch.
func TestNobodyKnowsWhoseBranch(t *testing.T) {
	t.Parallel()
	all := aboutTheParent()
	maps.Copy(all, aboutWhatIsBetween())
	for name, is := range all {
		if is(newGrove(t)) {
			t.Errorf("%s: it is taken for a branch", name)
		}
	}
}

// aboutTheParent are the ways in which the one above does not count.
func aboutTheParent() map[string]func(w *grove) bool {
	return map[string]func(w *grove) bool{
		"nobody above": func(w *grove) bool { return w.starts(w.f.Codex(40, 5), "codex", "codex:b") },
		"begun before us": func(w *grove) bool {
			w.f.Plant(20, 5, 99, "pi", "pi")
			w.starts(20, "", "pi:a")
			return w.starts(w.f.Codex(40, 20), "codex", "codex:b")
		},
		"pi went on with an old session": func(w *grove) bool {
			w.startsIn(20, "", "pi:a", work, hook.Resume)
			return w.starts(w.f.Codex(40, 20), "codex", "codex:b")
		},
		"pi was heard of before it started": func(w *grove) bool {
			w.prompted(20, "", "pi:a")
			w.starts(20, "", "pi:a")
			return w.starts(w.f.Codex(40, 20), "codex", "codex:b")
		},
		"pi had two sessions": func(w *grove) bool {
			w.starts(20, "", "pi:a")
			w.starts(20, "", "pi:b")
			return w.starts(w.f.Codex(40, 20), "codex", "codex:b")
		},
		"a program speaks for what is above": func(w *grove) bool {
			w.starts(w.f.Codex(40, 5), "codex", "codex:a")
			w.f.Plant(60, w.f.Shell(50, 41), 600, "pi", "pi")
			return w.starts(60, "", "pi:b")
		},
	}
}

// aboutWhatIsBetween are those in which the new one, or something between, is not
// what it seems.
func aboutWhatIsBetween() map[string]func(w *grove) bool {
	return map[string]func(w *grove) bool{
		"another folder": func(w *grove) bool {
			w.starts(20, "", "pi:a")
			return w.startsIn(w.f.Codex(40, 20), "codex", "codex:b", "/home/anna/.ssh", hook.Startup)
		},
		"no folder": func(w *grove) bool {
			w.startsIn(20, "", "pi:a", "", hook.Startup)
			return w.startsIn(w.f.Codex(40, 20), "codex", "codex:b", "", hook.Startup)
		},
		"an old session": func(w *grove) bool {
			w.starts(20, "", "pi:a")
			return w.startsIn(w.f.Codex(40, 20), "codex", "codex:b", work, hook.Resume)
		},
		"a second one of the same process": func(w *grove) bool {
			w.starts(20, "", "pi:a")
			h := w.f.Codex(40, 20)
			w.starts(h, "codex", "codex:b")
			return w.starts(h, "codex", "codex:c")
		},
		"what pi runs plays an agent": func(w *grove) bool {
			w.starts(20, "", "pi:a")
			w.starts(w.f.Shell(30, 20), "", "pi:clean")
			return w.starts(w.f.Codex(40, 30), "codex", "codex:b")
		},
		"an agent of an agent of an agent": func(w *grove) bool {
			w.starts(20, "", "pi:a")
			w.starts(w.f.Codex(40, 20), "codex", "codex:b")
			w.f.Plant(60, w.f.Shell(50, 41), 600, "opencode", "opencode")
			return w.starts(60, "", "opencode:c")
		},
		"the same agent below it, without a shell": func(w *grove) bool {
			w.starts(20, "", "pi:a")
			w.starts(w.f.Codex(40, 20), "codex", "codex:b")
			return w.starts(w.f.Codex(60, 41), "codex", "codex:c")
		},
		"one that was not started as a branch": func(w *grove) bool {
			w.starts(20, "", "pi:a")
			w.prompted(w.f.Codex(40, 20), "codex", "codex:old")
			return w.starts(w.f.Codex(60, 41), "codex", "codex:c")
		},
		"a guarded one that never spoke": func(w *grove) bool {
			w.starts(20, "", "pi:a")
			w.f.Plant(30, 20, 300, "gemini", "gemini")
			w.f.Plant(31, 30, 301, "floodmark-hook")
			w.says(31, "gemini-cli", hook.Event{})
			return w.starts(w.f.Codex(40, 30), "codex", "codex:b")
		},
	}
}

// What was pending is only begun by its own process, without anything attached, and
// while its parent is alone.
func TestWhoMayPromptABranch(t *testing.T) {
	t.Parallel()
	pending := func() (*grove, int) {
		w := newGrove(t)
		w.starts(20, "", "pi:a")
		h := w.f.Codex(40, w.f.Shell(30, 20))
		if !w.starts(h, "codex", "codex:b") {
			t.Fatal("it is no branch")
		}
		return w, h
	}
	w, _ := pending()
	if w.prompted(w.f.Codex(60, 30), "codex", "codex:b") != "" {
		t.Error("another process prompted it")
	}
	w, h := pending()
	ev := hook.Event{Point: hook.MessageReceived, Session: "codex:b", Parts: []hook.Content{{}}}
	if _, is := w.b.prompted(w.says(h, "codex", ev), ev); is {
		t.Error("a file came along")
	}
	w, h = pending()
	w.starts(20, "", "pi:other")
	if w.prompted(h, "codex", "codex:b") != "" {
		t.Error("its parent has another session now")
	}
	w, h = pending()
	if w.prompted(h, "codex", "codex:else") != "" {
		t.Error("another session was begun")
	}
}

// Beyond the limit of those that run nothing is a branch; those that ended make
// room.
func TestBranchesAreBounded(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{true, false} {
		w := newGrove(t)
		w.starts(20, "", "pi:a")
		for i := 1; i < maxBranches; i++ {
			p := peer.Process{PID: 100_000 + i, Start: 1}
			w.b.speakers[p] = &spoke{}
			if !ended {
				w.f[p.PID] = peer.Info{Process: p}
			}
		}
		h := w.f.Codex(40, 20)
		first := w.starts(h, "codex", "codex:b") // it is begun before it is counted
		if got := w.prompted(h, "codex", "codex:b") != ""; !first || got != ended {
			t.Errorf("ended %v: branch %v, prompted %v", ended, first, got)
		}
		w.f.Plant(60, 20, 600, "opencode", "opencode")
		if got := w.starts(60, "", floodmark.SessionID(fmt.Sprint("opencode:", ended))); got != ended {
			t.Errorf("ended %v: the next one is a branch: %v", ended, got)
		}
	}
}
