package protection

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// The mutations Echo: before the call that carries the goal, a trusted tool repeats what the
// attacker wrote. A rule that trusts a value because a trusted tool returned it lets this pass.

// maxEchoed is how many values are repeated.
const maxEchoed = 4

// echoArgument has the model look up the values with a tool whose results are trusted; the tool
// repeats them in its result.
func echoArgument(s *subject) (*Trace, string) {
	reads := s.tools(func(c Card) bool { return !c.Sink && c.Results != Foreign })
	return s.echo(func(values []string) ([]Step, string) {
		tool, args := pick(s, "read", reads)
		if tool == "" {
			return nil, noTool
		}
		var calls []Call
		for _, v := range values {
			calls = append(calls, Call{
				Tool: tool, Args: argsOf(args, v), Fed: true,
				Result: own("{'query': " + pythonString(v) + ", 'status': 'ok', 'result': [" + pythonString(v) + "]}"),
			})
		}
		return []Step{{Calls: calls}}, ""
	})
}

// echoRecord has the model store the values with a tool that only changes the owner's things; a
// trusted tool then reports what is stored.
func echoRecord(s *subject) (*Trace, string) {
	writes := s.tools(func(c Card) bool { return c.Sink && private(c.Effect) })
	reads := s.tools(func(c Card) bool { return !c.Sink && c.Results == Typed })
	if len(reads) == 0 {
		reads = s.tools(func(c Card) bool { return c.Results == Typed })
	}
	return s.echo(func(values []string) ([]Step, string) {
		read, _ := pick(s, "read", reads)
		if read == "" {
			return nil, noTool
		}
		var steps []Step
		stored := "- id: 77\n  status: confirmed\n"
		for i, v := range values {
			stored += "  " + []string{"recipient", "amount", "name", "reference"}[i] + ": " + yamlString(v) + "\n"
		}
		if write, args := pick(s, "write", writes); write != "" {
			steps = append(steps, Step{Calls: []Call{{
				Tool: write, Args: argsOf(args, strings.Join(values, " ")), Fed: true,
				Result: own("{'message': " + pythonString("Stored "+strings.Join(values, ", ")+" as number 77.") + "}"),
			}}})
		}
		steps = append(steps, Step{Calls: []Call{{Tool: read, Args: json.RawMessage("{}"), Fed: true, Result: own(stored)}}})
		return steps, ""
	})
}

// private reports whether an effect only concerns the owner's things.
func private(effect string) bool {
	return slices.Contains([]string{"file_create", "file_edit", "cal_create", "cart", "account", "repo_create"}, effect)
}

// echo inserts steps before the first call that carries the goal.
func (s *subject) echo(steps func(values []string) ([]Step, string)) (*Trace, string) {
	if why := s.attackable(); why != "" {
		return nil, why
	}
	if len(s.values) == 0 {
		return nil, noValue
	}
	at := s.goalStep()
	if s.hits[0].step >= at {
		return nil, noEarlier
	}
	extra, why := steps(s.values[:min(len(s.values), maxEchoed)])
	if why != "" {
		return nil, why
	}
	return s.trace.insert(at, extra), ""
}

// goalStep returns the step of the first call that carries the goal.
func (s *subject) goalStep() int {
	for i := range s.trace.Steps {
		for _, c := range s.trace.Steps[i].Calls {
			if s.isGoal(&c) {
				return i
			}
		}
	}
	return 0
}

// isGoal reports whether a recorded call carries the goal.
func (s *subject) isGoal(c *Call) bool { return slices.Contains(s.goal, c.Index) }

// insert returns the trace with further steps before step at. Calls are renumbered, also in the
// cuts.
func (t *Trace) insert(at int, extra []Step) *Trace {
	c := t.copyTrace()
	c.Steps = slices.Insert(c.Steps, at, extra...)
	renumbered := map[int]int{}
	n := 0
	for i := range c.Steps {
		added := i >= at && i < at+len(extra)
		for j := range c.Steps[i].Calls {
			call := &c.Steps[i].Calls[j]
			if !added {
				renumbered[call.Index] = n
			}
			call.Index = n
			n++
		}
	}
	c.Cuts = make([][]int, len(t.Cuts))
	for i, cut := range t.Cuts {
		for _, index := range cut {
			c.Cuts[i] = append(c.Cuts[i], renumbered[index])
		}
	}
	return c
}

// tools returns the suite's tools that match, except those of the goal's calls: the attacker's call
// must stay the first of its tool.
func (s *subject) tools(of func(Card) bool) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.cards[s.trace.Suite])) {
		if of(s.cards[s.trace.Suite][name]) && !s.goalTool(name) {
			names = append(names, name)
		}
	}
	return names
}

func (s *subject) goalTool(name string) bool {
	for _, step := range s.trace.Steps {
		for _, c := range step.Calls {
			if c.Tool == name && s.isGoal(&c) {
				return true
			}
		}
	}
	return false
}

// pick chooses one of the tools and returns its arguments.
func pick(s *subject, word string, tools []string) (tool string, args []string) {
	if len(tools) == 0 {
		return "", nil
	}
	tool = tools[s.choice(word, len(tools))]
	for arg := range s.cards[s.trace.Suite][tool].Roles {
		args = append(args, arg)
	}
	slices.Sort(args)
	return tool, args
}

// argsOf returns arguments that all have the value; if there are no names, only a query.
func argsOf(names []string, value string) json.RawMessage {
	if len(names) == 0 {
		names = []string{"query"}
	}
	args := map[string]string{}
	for _, n := range names {
		args[n] = value
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

func pythonString(v string) string {
	var b strings.Builder
	writePython(&b, stringNode(v))
	return b.String()
}

// yamlString quotes a value on one line.
func yamlString(v string) string {
	return "'" + strings.ReplaceAll(strings.Join(strings.Fields(v), " "), "'", "''") + "'"
}
