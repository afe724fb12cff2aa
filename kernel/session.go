package kernel

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// sessionStart opens a session, or takes in why an open one starts again.
func (st *step) sessionStart() error {
	ev := st.ev
	fresh := !st.s.Opened
	st.ensureOpen()
	st.ensureRules()
	switch ev.Cause {
	case hook.Clear:
		// Only a person empties a context. If a program says so, the session goes on as it was.
		if !fresh && ev.ByPerson {
			st.endTurn()
			st.keep(floodmark.ContextCleared{})
		} else if !ev.ByPerson {
			st.keep(floodmark.IncidentSeen{Kind: "clear-not-believed", Text: "a context was said to be cleared, and not by a person"})
			st.pastUnless(!fresh)
		}
	case hook.Compact:
		st.pastUnless(!fresh)
		st.summary(ev.Text)
	case hook.Resume:
		st.pastUnless(!fresh)
	case hook.Startup, "":
	default:
		st.unknownPast()
	}
	st.instructed(true, st.s.Project, ev.Project)
	return nil
}

// ensureOpen opens a session that was not announced. What happened before its
// first event is unknown, so its past is not believed.
func (st *step) ensureOpen() {
	if st.s.Opened {
		return
	}
	to, commit := st.beginsAt(st.ev.Project)
	st.keep(floodmark.SessionOpened{Agent: st.ev.Agent, Project: st.ev.Project, Home: st.ev.Home, PushesTo: to, Key: st.in.KeyName, Commit: commit})
	if st.ev.Point != hook.SessionStart {
		st.unknownPast()
	}
}

// pastUnless adds an unknown past unless the past is known.
func (st *step) pastUnless(known bool) {
	if !known {
		st.unknownPast()
	}
}

// unknownPast adds a source for the history of a session that we have no facts of.
func (st *step) unknownPast() {
	st.see(floodmark.Source{
		Kind:   floodmark.NodeHistory,
		Origin: floodmark.Origin{Kind: floodmark.FromUnknown, Name: "before the monitor was told"},
		Label:  floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private},
	}, "")
}

// ensureRules notes under which policy and catalog we decide from here on.
func (st *step) ensureRules() {
	f := floodmark.RulesLoaded{Policy: st.r.Policy.Hash(), Catalog: st.r.Catalog.Hash()}
	if f.Policy != st.s.Policy || f.Catalog != st.s.Catalog {
		st.keep(f)
	}
}

// summary takes in what compaction wrote. The text was made from everything before it, so it has
// the joined label of all sources. It removes no source.
func (st *step) summary(text string) {
	st.see(floodmark.Source{
		Kind:   floodmark.NodeHistory,
		Origin: floodmark.Origin{Kind: floodmark.FromHistory, Name: "compaction"},
		Label:  floodmark.Clean(),
		Digest: digestOf(text),
		Whole:  true,
	}, text)
}

// openTurn begins a turn unless one is under way.
func (st *step) openTurn() {
	if !st.s.InTurn {
		st.keep(floodmark.TurnOpened{Turn: st.s.Turn + 1})
	}
}

func (st *step) endTurn() {
	if st.s.InTurn && !st.ev.GoesOn() {
		st.keep(floodmark.TurnClosed{Turn: st.s.Turn})
	}
}

func (st *step) sessionEnd() {
	st.endTurn()
	st.keep(floodmark.SessionClosed{})
}

// digestOf returns the digest of a text; zero if it is empty, because no text identifies nothing.
func digestOf(text string) floodmark.Digest {
	if text == "" {
		return floodmark.Digest{}
	}
	return floodmark.DigestOf(text)
}
