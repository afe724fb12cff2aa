package codingday

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
)

// The limits on one task as it is written.
const (
	MaxTaskBytes = 1 << 18
	MaxSteps     = 100 // calls of one task, including the attack's
)

// A Task is one piece of coding work, with an attack inside it.
type Task struct {
	Number int
	Title  string
	Agent  string // codex or pi
	Base   string // the repository at the beginning
	// Where says what is poisoned. Goal says what the attacker wants. Proof is a command that
	// succeeds if the attacker reached the goal.
	Where, Goal, Proof string
	Sessions           []Session
	// Files are what the task adds to the world: see testdata/README.md.
	Files map[string]string
}

// A Session is a new conversation with an agent.
type Session struct{ Prompts []Prompt }

// A Prompt is what the owner types, and what the agent then does and says.
type Prompt struct {
	Text  string
	Steps []Step
	Says  string
	// Full says that the agent's context is full after the prompt, so that the agent compacts it.
	// Only weeks use it.
	Full bool
}

// A Tool is one of the few tools that every coding agent has in some form.
type Tool string

// The tools, by the word that begins their line.
const (
	Shell Tool = "$"
	Read  Tool = "r"
	Edit  Tool = "e"
	Write Tool = "w"
	Fetch Tool = "f"
)

// A Step is one call of a tool.
type Step struct {
	Tool Tool
	// Arg is the command, the path or the address.
	Arg string
	// Old and New are the lines that an edit removes and adds. A write has only New.
	Old, New string
	// Attack says that only a model that obeys the attacker makes this call. Cuts names the sets of
	// calls that the call is in: stopping all calls of one set stops the attack.
	Attack bool
	Cuts   string
	// Other says that this is another way, tried only if the call before it was refused. Only weeks
	// have such calls.
	Other bool
	// Of is the number of the attack within a session of a week, from 1.
	Of int
}

// ParseTask reads a task. Its name begins with its number, as in 07-bump.txtar.
func ParseTask(name string, data []byte) (*Task, error) {
	if len(data) > MaxTaskBytes {
		return nil, fmt.Errorf("%s: more than %d bytes", name, MaxTaskBytes)
	}
	digits, _, _ := strings.Cut(path.Base(name), "-")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("%s: its name does not begin with a number", name)
	}
	ar := txtar.Parse(data)
	p := taskParser{task: &Task{Number: n, Files: map[string]string{}}}
	p.sessions = &p.task.Sessions
	for i, line := range strings.Split(strings.TrimSuffix(string(ar.Comment), "\n"), "\n") {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	for _, f := range ar.Files {
		if _, twice := p.task.Files[f.Name]; twice {
			return nil, fmt.Errorf("%s: two files %s", name, f.Name)
		}
		p.task.Files[f.Name] = string(f.Data)
	}
	if err := p.task.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p.task, nil
}

func (t *Task) check() error {
	var errs []error
	want := func(ok bool, text string) {
		if !ok {
			errs = append(errs, errors.New(text))
		}
	}
	want(t.Title != "", "it has no title: write «# title» first")
	want(t.Agent == "codex" || t.Agent == "pi", "its agent is neither codex nor pi")
	want(t.Base != "", "it has no base")
	want(t.Where != "" && t.Goal != "" && t.Proof != "", "its attack lacks the place, the goal or the proof")
	steps, cuts := 0, 0
	for _, s := range t.Sessions {
		want(len(s.Prompts) > 0, "a session has no prompt")
		for _, p := range s.Prompts {
			steps += len(p.Steps)
			for _, step := range p.Steps {
				cuts += len(step.Cuts)
				want(step.Arg != "", "a call has no argument")
				want(!step.Other, "only a week has other ways")
				want(step.Tool != Edit || step.Old != "", "an edit takes nothing away")
			}
		}
	}
	want(steps <= MaxSteps, "it has more calls than allowed")
	want(steps > 0 && cuts > 0, "no call in it must be stopped")
	return errors.Join(errs...)
}

// HeldOut reports whether rules must be written without looking at the task.
func (t *Task) HeldOut() bool { return heldOut(t.Number) }

func heldOut(number int) bool { return number%2 == 1 || number >= firstOfThird }

// firstOfThird is the first task of the third set, whose author had not read any rule.
const firstOfThird = 68

// Steps returns the calls of the honest run or of the attack's run, in order.
func (t *Task) Steps(attack bool) []Step {
	var list []Step
	for _, s := range t.Sessions {
		for _, p := range s.Prompts {
			list = append(list, p.Calls(attack)...)
		}
	}
	return list
}

// Calls returns the calls after one prompt, with or without those of the attack.
func (p Prompt) Calls(attack bool) []Step {
	return slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool { return s.Attack && !attack })
}

// Cuts returns sets of calls, by their number in the attack's run. The attack is stopped if all
// calls of one set are stopped.
func (t *Task) Cuts() [][]int {
	sets := map[rune][]int{}
	var names []rune
	for i, s := range t.Steps(true) {
		for _, name := range s.Cuts {
			if sets[name] == nil {
				names = append(names, name)
			}
			sets[name] = append(sets[name], i)
		}
	}
	slices.Sort(names)
	var cuts [][]int
	for _, name := range names {
		cuts = append(cuts, sets[name])
	}
	return cuts
}
