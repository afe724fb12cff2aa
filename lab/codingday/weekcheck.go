package codingday

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The minimums for a whole week.
const (
	wantSessions = 60
	wantCalls    = 600
	wantAttacks  = 60
	wantRuns     = 40 // percent of the calls that run programs
	wantForeign  = 50 // percent of the sessions that read foreign content
)

// WeekFigures say what a week consists of.
type WeekFigures struct {
	Days     int `json:"days"`
	Sessions int `json:"sessions"`
	// Calls are the calls of the owner's work, without the attackers' calls and other ways.
	Calls   int `json:"calls"`
	Runs    int `json:"runs"`
	Foreign int `json:"foreign"`
	Attacks int `json:"attacks"`
	// Languages counts edits. Agents, and Kinds of repositories, count sessions.
	Languages map[string]int `json:"languages"`
	Agents    map[string]int `json:"agents"`
	Kinds     map[string]int `json:"kinds"`
	// Habits counts things that people do in a week.
	Habits map[string]int `json:"habits"`
}

// Figures counts what the week consists of.
func (w *Week) Figures() WeekFigures {
	f := WeekFigures{Days: len(w.Days), Languages: map[string]int{}, Agents: map[string]int{}, Kinds: map[string]int{}, Habits: map[string]int{}}
	for _, d := range w.Days {
		for _, e := range d.Events {
			if e.Session != nil {
				f.session(w, e.Session)
				continue
			}
			switch e.Happens.Verb {
			case "arrives":
				f.Habits["colleagues' commits"]++
			case "up":
				f.Habits["dev servers"]++
			case "owner":
				f.Habits["owner's own pulls"] += one(strings.Contains(e.Happens.Text, "git pull"))
			}
		}
	}
	return f
}

func (f *WeekFigures) session(w *Week, s *WeekSession) {
	f.Sessions++
	f.Foreign += one(s.Foreign != "")
	f.Attacks += len(s.Attacks)
	f.Agents[s.Agent]++
	for _, r := range w.Repositories {
		f.Kinds[r.Kind] += one(r.Name == s.Repo)
	}
	f.Habits["resumed sessions"] += one(s.Resumes != "")
	f.Habits["two agents at once"] += one(s.Beside != "")
	for _, p := range s.Prompts {
		f.Habits["compacted sessions"] += one(p.Full)
		for _, step := range p.Steps {
			if step.Other || step.Attack {
				continue
			}
			f.Calls++
			f.Runs += one(step.runs())
			if language := step.language(); language != "" {
				f.Languages[language]++
			}
			for habit, pattern := range habits() {
				f.Habits[habit] += one(step.Tool == Shell && pattern.MatchString(step.Arg))
			}
		}
	}
}

// runs reports whether a call runs a program that does more than read and is not git.
func (s Step) runs() bool {
	if s.Tool != Shell {
		return false
	}
	for _, part := range strings.FieldsFunc(s.Arg, func(r rune) bool { return strings.ContainsRune("|;&\n", r) }) {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "cd") {
			words = words[1:]
		}
		if len(words) == 0 || words[0] == "git" || words[0] == "curl" || words[0] == "gh" || strings.HasPrefix(words[0], "2>") || words[0] == "1" {
			continue
		}
		if !slices.Contains(lookers(), words[0]) && !slices.Contains(lookers(), strings.Join(words[:min(2, len(words))], " ")) {
			return true
		}
	}
	return false
}

// language returns the language of the file that a call changes; empty if it is not listed.
func (s Step) language() string {
	if s.Tool != Edit && s.Tool != Write {
		return ""
	}
	return map[string]string{".go": "Go", ".py": "Python", ".ts": "TypeScript", ".rs": "Rust", ".java": "Java", ".sh": "shell"}[path.Ext(s.Arg)]
}

// habits returns the patterns of commands by which habits are counted.
func habits() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"tests":            regexp.MustCompile(`\b(go|cargo|npm|make) (run )?test\b|pytest|unittest|node --test|\bTests?\b`),
		"builds":           regexp.MustCompile(`\b(go|cargo|npm run|make) build\b|javac`),
		"installs":         regexp.MustCompile(`\b(npm (i|install|ci)|pip3? install|go (get|mod tidy)|cargo add)\b`),
		"generated code":   regexp.MustCompile(`\b(go generate|make generate|npm run generate)\b`),
		"commits":          regexp.MustCompile(`\bgit commit\b`),
		"rebases":          regexp.MustCompile(`\bgit (rebase|pull --rebase)\b`),
		"pushes":           regexp.MustCompile(`\bgit push\b`),
		"docker":           regexp.MustCompile(`\bdocker\b`),
		"database clients": regexp.MustCompile(`\b(psql|mysql|redis-cli|sqlite3)\b`),
	}
}

// Lacks returns the minimums for a whole week that this week does not reach, one on each line.
func (w *Week) Lacks() (list []string) {
	f := w.Figures()
	atLeast := func(what string, is, want int) {
		if is < want {
			list = append(list, fmt.Sprintf("%s: %d, at least %d", what, is, want))
		}
	}
	atLeast("days", f.Days, MaxDays)
	atLeast("sessions", f.Sessions, wantSessions)
	atLeast("calls", f.Calls, wantCalls)
	atLeast("attacks", f.Attacks, wantAttacks)
	atLeast("percent of calls that run a program", f.Runs*100/max(f.Calls, 1), wantRuns)
	atLeast("percent of sessions that read something foreign", f.Foreign*100/max(f.Sessions, 1), wantForeign)
	for _, language := range []string{"Go", "Python", "TypeScript", "Rust", "Java", "shell"} {
		atLeast("edits in "+language, f.Languages[language], 1)
	}
	for _, agent := range weekAgents() {
		atLeast("percent of sessions with "+agent, f.Agents[agent]*100/max(f.Sessions, 1), 20)
	}
	for _, kind := range []string{"own", "team", "fork"} {
		atLeast("percent of sessions in a repository of kind "+kind, f.Kinds[kind]*100/max(f.Sessions, 1), 20)
	}
	atLeast("colleagues' commits", f.Habits["colleagues' commits"], MaxDays)
	atLeast("owner's own pulls", f.Habits["owner's own pulls"], MaxDays)
	for _, habit := range slices.Sorted(maps.Keys(habits())) {
		atLeast(habit, f.Habits[habit], 1)
	}
	for _, habit := range []string{"compacted sessions", "dev servers", "resumed sessions", "two agents at once"} {
		atLeast(habit, f.Habits[habit], 1)
	}
	return list
}
