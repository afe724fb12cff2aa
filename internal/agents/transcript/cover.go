package transcript

import (
	"slices"
	"time"
)

// A Question says what to compare with the journal.
type Question struct {
	Agent string
	In    Folders
	// Since excludes older transcripts; zero includes all.
	Since time.Time
	// Began is when the agent was first watched; zero if it never was.
	Began time.Time
	// Look returns the journal's record of a session by the agent's own name for the session, or
	// nil if there is none.
	Look func(name string) (*Record, error)
}

// A Coverage compares all transcripts of one agent with the journal.
type Coverage struct {
	Agent string
	// Began is when the agent was first watched; zero: never.
	Began   time.Time
	Reports []Report // the newest first
	// More is set if there are further transcripts that were not read.
	More bool
	// Failed are unreadable transcripts, one sentence each.
	Failed []string
}

// Cover reads an agent's transcripts and compares them with the journal.
func Cover(q Question) (Coverage, error) {
	out := Coverage{Agent: q.Agent, Began: q.Began}
	files, more, err := Find(q.Agent, q.In, q.Since)
	if err != nil {
		return out, err
	}
	out.More = more
	var sessions []Session
	for _, f := range files {
		list, err := Read(q.Agent, f)
		if err != nil {
			out.Failed = append(out.Failed, err.Error())
			continue
		}
		sessions = merge(sessions, list)
	}
	for _, s := range sessions {
		r, err := q.match(s)
		if err != nil {
			return out, err
		}
		out.Reports = append(out.Reports, r)
	}
	return out, nil
}

func (q Question) match(s Session) (Report, error) {
	var known []*Record
	for _, name := range s.Names {
		if name == "" {
			continue
		}
		k, err := q.Look(name)
		if err != nil {
			return Report{}, err
		}
		known = append(known, k)
	}
	r := Match(s, known, q.Began)
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Call.At.Before(q.Since) })
	return r, nil
}

// merge joins the parts of a session that are in several files.
func merge(all, more []Session) []Session {
	for _, s := range more {
		i := slices.IndexFunc(all, func(o Session) bool { return o.Names[0] == s.Names[0] && s.Names[0] != "" })
		if i < 0 {
			all = append(all, s)
			continue
		}
		g := newGather(append(slices.Clone(all[i].Names), s.Names...)...)
		g.Agent, g.Place, g.Unread = all[i].Agent, all[i].Place, all[i].Unread+s.Unread
		calls := slices.Concat(all[i].Calls, s.Calls)
		slices.SortStableFunc(calls, func(a, b Call) int { return a.At.Compare(b.At) })
		for _, c := range calls {
			if j, ok := g.met[c.bare()]; ok && c.ID != "" {
				g.Calls[j].Outcome = max(g.Calls[j].Outcome, c.Outcome)
				continue
			}
			g.add(c)
		}
		all[i] = g.Session
	}
	return all
}
