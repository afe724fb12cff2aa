package transcript

import (
	"fmt"
	"maps"
	"slices"
)

// session begins a session, of another one if that is named.
func (s *story) session(id, parent string) *written {
	s.list = append(s.list, written{id: id, parent: parent})
	s.known[s.name(id)] = &Record{Opened: s.tick()}
	if parent != "" && s.agent == geminiName {
		delete(s.known, id) // its hooks report the parent's name
	}
	return &s.list[len(s.list)-1]
}

// name is what hooks call a session.
func (s *story) name(id string) string {
	if s.agent == openclawName {
		return "agent:main:explicit:" + id + "#" + id
	}
	return id
}

// home returns the name under which a session's calls are judged.
func (s *story) home(w *written) string {
	if w.parent != "" && s.agent == geminiName {
		return w.parent
	}
	return s.name(w.id)
}

func (s *story) event(tool string, o Outcome) event {
	s.next++
	args := fmt.Sprintf(`{"command":"step %d","n":%d}`, s.rnd.IntN(4), s.rnd.IntN(3))
	return event{at: s.tick(), id: fmt.Sprintf("call_%d", s.next), tool: tool, args: args, outcome: o}
}

// judge records the decision on a call, sometimes after a first refusal that a person lifted.
func (s *story) judge(w *written, e event) {
	if e.outcome == Never {
		return // no permission is asked for a missing tool
	}
	r := s.known[s.home(w)]
	d := e.decision(s.agent)
	if d.Allowed && s.rnd.IntN(8) == 0 {
		no := d
		no.Allowed = false
		r.Decisions = append(r.Decisions, no)
	}
	r.Decisions = append(r.Decisions, d)
}

// outcomeOf returns a random outcome.
func (s *story) outcomeOf() Outcome {
	return []Outcome{Ran, Ran, Ran, Ran, Refused, Never, Unknown}[s.rnd.IntN(7)]
}

// work makes a session do n random steps: one or several calls, whose results come in any order;
// retries; copies of earlier lines; summaries.
func (s *story) work(w *written, n int) {
	for range n {
		var step []event
		for range 1 + s.rnd.IntN(3) {
			tool := s.form.shell
			if s.rnd.IntN(4) == 0 {
				tool = s.form.mcp
			}
			step = append(step, s.event(tool, s.outcomeOf()))
		}
		w.events = append(w.events, step...)
		s.rnd.Shuffle(len(step), func(i, j int) { step[i], step[j] = step[j], step[i] })
		for _, e := range step {
			s.judge(w, e)
			if e.outcome != Unknown {
				e.result = true
				w.events = append(w.events, e)
			}
		}
		switch s.rnd.IntN(6) {
		case 0:
			w.events = append(w.events, event{at: s.tick(), id: "x", args: "{}", noise: true})
		case 1: // a resumed session repeats its past
			w.events = append(w.events, slices.Clone(w.events[max(0, len(w.events)-4):])...)
		}
	}
}

// clean returns a story in which every call was judged.
func clean(agent string, seed uint64) *story {
	s := newStory(agent, seed)
	s.session("s1", "")
	s.work(&s.list[0], 2+s.rnd.IntN(8))
	if s.rnd.IntN(2) == 0 {
		s.session("s2", "s1")
		s.work(&s.list[1], 1+s.rnd.IntN(4))
		s.work(&s.list[0], 1+s.rnd.IntN(3))
	}
	if s.rnd.IntN(3) == 0 {
		s.session("s3", "")
		s.work(&s.list[len(s.list)-1], 1+s.rnd.IntN(3))
	}
	return s
}

// A planting adds one unseen thing to a clean story, and returns what must be found: the kind and
// the tool. It returns "" if the agent has no such thing.
type planting func(s *story) string

// unseen adds a call that ran and was not judged.
func (s *story) unseen(w *written, e event) {
	w.events = append(w.events, e)
	if !e.hosted {
		e.result = true
		w.events = append(w.events, e)
	}
}

// odd returns a call whose arguments no judged call has.
func odd(s *story, tool string) event {
	e := s.event(tool, Ran)
	e.args = `{"session_id":7,"chars":"touch typed\n"}`
	return e
}

func plantings() map[string]planting {
	all := map[string]planting{
		"typed into a running command": func(s *story) string {
			if s.agent != codexName {
				return ""
			}
			s.unseen(&s.list[0], odd(s, codexStdin))
			return Unmediated + " " + codexStdin
		},
		"hosted tool": func(s *story) string {
			if s.agent != codexName && s.agent != claudeName {
				return ""
			}
			e := odd(s, "web_search")
			e.hosted = true
			s.unseen(&s.list[0], e)
			return Unmediated + " web_search"
		},
		"session without hooks": func(s *story) string {
			w := s.session("bare", "")
			delete(s.known, s.name("bare"))
			s.unseen(w, odd(s, s.form.shell))
			return Unseen + " " + s.form.shell
		},
		"session without a decision": func(s *story) string {
			w := s.session("silent", "")
			s.unseen(w, odd(s, s.form.shell))
			return Unseen + " " + s.form.shell
		},
	}
	maps.Copy(all, later())
	return all
}

// later returns plantings in sessions that were seen.
func later() map[string]planting {
	return map[string]planting{
		"hook removed in mid-session": func(s *story) string {
			for range 1 + s.rnd.IntN(3) {
				s.unseen(&s.list[0], odd(s, s.form.shell))
			}
			return Unmediated + " " + s.form.shell
		},
		"sub-agent's call": func(s *story) string {
			if s.agent == piName {
				return "" // it has none
			}
			w := s.session("child", "s1")
			delete(s.known, s.name("child"))
			s.unseen(w, odd(s, s.form.shell))
			if s.agent == openclawName {
				return Unseen + " " + s.form.shell // it does not say whose child it is
			}
			return Unmediated + " " + s.form.shell
		},
		"server's tool": func(s *story) string {
			s.unseen(&s.list[0], odd(s, s.form.mcp))
			return Unmediated + " " + s.form.mcp
		},
		"refused and ran": func(s *story) string {
			e := odd(s, s.form.shell)
			e.outcome = Refused
			s.judge(&s.list[0], e)
			e.outcome = Ran
			s.unseen(&s.list[0], e)
			return RefusedRan + " " + s.form.shell
		},
		"one name for two calls": func(s *story) string {
			if s.agent == geminiName {
				return "" // its calls are not found by their names
			}
			e := s.event(s.form.shell, Ran)
			s.judge(&s.list[0], e)
			s.unseen(&s.list[0], e)
			e.args = `{"command":"another"}`
			s.unseen(&s.list[0], e)
			return Unmediated + " " + s.form.shell
		},
	}
}
