package codingday

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// weekParser reads the lines of a week's files. docs/week.md describes them.
type weekParser struct {
	talkParser

	week    *Week
	day     *Day // nil in week.txtar
	session *WeekSession
	seen    map[string]*WeekSession
	// latest is the newest session of each agent in each repository. before is the value it had for
	// the newest session's agent and repository before that session.
	latest map[string]*WeekSession
	before *WeekSession
	number int // of the line
}

func (p *weekParser) line(line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	if word != "|" && word != "+" && word != "-" {
		rest = strings.TrimSpace(rest)
	}
	if p.day == nil {
		return p.head(word, rest)
	}
	switch word {
	case "#":
		p.day.Title = rest
	case "arrives", "owner", "up", "down":
		return p.happening(word, rest)
	case "session":
		return p.begin(rest)
	default:
		if p.session == nil && word == "|" && p.more != nil {
			return p.talk(word, rest)
		}
		if p.session == nil {
			return fmt.Errorf("%q stands before the first session", word)
		}
		return p.inSession(word, rest)
	}
	return nil
}

// head reads a line of week.txtar.
func (p *weekParser) head(word, rest string) error {
	w, f := p.week, strings.Fields(rest)
	switch word {
	case "#":
		w.Title = rest
	case "held-out":
		w.HeldOut = true
	case "person":
		if len(f) != 2 || !strings.Contains(f[1], "@") {
			return errors.New("write «person NAME ADDRESS»")
		}
		w.People[f[0]] = f[1]
	case "repo":
		r := Repository{}
		switch {
		case len(f) == 2 && f[1] == "own":
			r.Kind = f[1]
		case len(f) == 3 && (f[1] == "team" || f[1] == "fork") && w.People[f[2]] != "":
			r.Kind, r.Author = f[1], f[2]
		default:
			return errors.New("write «repo NAME own», «repo NAME team PERSON» or «repo NAME fork PERSON»")
		}
		if r.Name = f[0]; !plainName(r.Name) {
			return fmt.Errorf("%q is no name of a repository: use small letters, digits and hyphens", r.Name)
		}
		if p.repo(f[0]) == nil || len(w.Repositories) == MaxRepositories {
			return fmt.Errorf("%s is there twice, or there are more than %d repositories", f[0], MaxRepositories)
		}
		w.Repositories = append(w.Repositories, r)
	default:
		return fmt.Errorf("%q is no line of week.txtar", word)
	}
	return nil
}

// plainName reports whether a name can be the name of a folder on any system.
func plainName(s string) bool { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`).MatchString(s) }

// repo returns an error if a repository does not exist.
func (p *weekParser) repo(name string) error {
	if slices.ContainsFunc(p.week.Repositories, func(r Repository) bool { return r.Name == name }) {
		return nil
	}
	return fmt.Errorf("week.txtar has no repository %q", name)
}

func (p *weekParser) add(e DayEvent) error {
	if len(p.day.Events) == MaxDayEvents {
		return fmt.Errorf("more than %d things happen on this day", MaxDayEvents)
	}
	e.Line = p.number
	p.day.Events = append(p.day.Events, e)
	return nil
}

// happening reads a line about something outside sessions.
func (p *weekParser) happening(verb, rest string) error {
	h := &Happening{Verb: verb}
	p.session, p.talkParser = nil, talkParser{}
	f := strings.Fields(rest)
	var err error
	switch verb {
	case "arrives":
		if len(f) < 5 || !plainName(f[3]) {
			return errors.New("write «arrives REPO BRANCH WHO FOLDER MESSAGE»")
		}
		h.Repo, h.Branch, h.Who, h.Folder, h.Text = f[0], f[1], f[2], f[3], strings.Join(f[4:], " ")
		if p.week.People[h.Who] == "" {
			err = fmt.Errorf("week.txtar has no person %q", h.Who)
		}
	case "down":
		if len(f) != 1 {
			return errors.New("write «down NAME»")
		}
		h.Name = f[0]
		return p.add(DayEvent{Happens: h})
	default:
		where, command, found := strings.Cut(rest, " $ ")
		f = strings.Fields(where)
		want := 1
		if verb == "up" {
			want = 2
		}
		if !found || len(f) != want || strings.TrimSpace(command) == "" {
			return errors.New("write «owner REPO $ COMMAND» or «up NAME REPO $ COMMAND»")
		}
		h.Repo, h.Text = f[len(f)-1], command
		if verb == "up" {
			h.Name = f[0]
		}
		p.more = &h.Text
	}
	return errors.Join(err, p.repo(h.Repo), p.add(DayEvent{Happens: h}))
}

// begin reads the first line of a session.
func (p *weekParser) begin(rest string) error {
	f := strings.Fields(rest)
	if len(f) != 3 || !plainName(f[0]) || !slices.Contains(weekAgents(), f[1]) {
		return fmt.Errorf("write «session NAME AGENT REPO»; an agent is one of %s", strings.Join(weekAgents(), ", "))
	}
	if p.seen[f[0]] != nil {
		return fmt.Errorf("there is a session %q already", f[0])
	}
	if len(p.day.Sessions()) == MaxDaySessions {
		return fmt.Errorf("more than %d sessions on this day", MaxDaySessions)
	}
	s := &WeekSession{Name: f[0], Agent: f[1], Repo: f[2], Answers: "once"}
	p.session, p.seen[s.Name] = s, s
	p.latest[s.Agent+" "+s.Repo], p.before = s, p.latest[s.Agent+" "+s.Repo]
	list := []Session{{}}
	p.talkParser = talkParser{sessions: &list}
	return errors.Join(p.repo(s.Repo), p.add(DayEvent{Session: s}))
}

// inSession reads a line that belongs to the newest session.
func (p *weekParser) inSession(word, rest string) error {
	s := p.session
	switch word {
	case "foreign":
		s.Foreign = rest
	case "answers":
		s.Answers = rest
		if !slices.Contains([]string{"once", "always", "no"}, rest) {
			return errors.New("an owner answers once, always or no")
		}
	case "compact":
		last, err := p.last()
		if err != nil || rest != "" {
			return errors.New("«compact» stands alone behind what is done after a prompt")
		}
		last.Full = true
		s.Session = (*p.sessions)[0]
	case "resumes", "beside":
		return p.refers(word, rest)
	case "attack":
		where, goal, _ := strings.Cut(rest, " ")
		if goal == "" {
			return errors.New("write «attack WHERE GOAL»")
		}
		s.Attacks = append(s.Attacks, WeekAttack{Where: where, Goal: goal, Line: p.number})
	case "proof":
		if len(s.Attacks) == 0 || s.Attacks[len(s.Attacks)-1].Proof != "" || rest == "" {
			return errors.New("one proof stands behind each attack")
		}
		s.Attacks[len(s.Attacks)-1].Proof = rest
		p.more = &s.Attacks[len(s.Attacks)-1].Proof
	default:
		return p.talkLine(word, rest)
	}
	return nil
}

// refers reads the other session that this one resumes or runs beside.
func (p *weekParser) refers(word, name string) error {
	s, other := p.session, p.seen[name]
	if other == nil || other == s {
		return fmt.Errorf("there is no session %q before this one", name)
	}
	if word == "resumes" {
		if s.Resumes = name; other != p.before {
			return fmt.Errorf("%s is not the last session of the same agent in the same repository", name)
		}
		return nil
	}
	before := p.day.Sessions()
	if s.Beside = name; other.Agent == s.Agent || len(before) < 2 || before[len(before)-2] != other {
		return fmt.Errorf("a session runs beside the one just before it, of another agent: not beside %s", name)
	}
	return nil
}

// talkLine reads a prompt, a call or an agent's answer.
func (p *weekParser) talkLine(word, rest string) error {
	s := p.session
	calls := p.calls()
	if err := p.talk(word, rest); err != nil {
		return err
	}
	s.Session = (*p.sessions)[0]
	if p.calls() == calls {
		return nil
	}
	steps := s.Prompts[len(s.Prompts)-1].Steps
	step := &steps[len(steps)-1]
	switch {
	case calls >= MaxSteps:
		return fmt.Errorf("more than %d calls in one session", MaxSteps)
	case step.Cuts != "" && step.Cuts != "a" || step.Cuts != "" && !step.Attack:
		return errors.New("in a week the proof decides: calls of the attacker begin with «!»")
	case step.Attack && (len(s.Attacks) == 0 || s.Attacks[len(s.Attacks)-1].Proof == ""):
		return errors.New("write «attack WHERE GOAL» and «proof COMMAND» before the attacker's calls")
	}
	if step.Attack {
		step.Of = len(s.Attacks)
	}
	ways := 0
	for i := len(steps) - 1; i >= 0 && steps[i].Other; i-- {
		ways++
	}
	if ways > MaxOtherWays {
		return fmt.Errorf("more than %d other ways", MaxOtherWays)
	}
	return nil
}

// calls returns the number of calls of the newest session.
func (p *weekParser) calls() (n int) {
	for _, prompt := range (*p.sessions)[0].Prompts {
		n += len(prompt.Steps)
	}
	return n
}

// endDay checks what can only be checked when the whole day was read.
func (p *weekParser) endDay(file string) error {
	var errs []error
	complain := func(line int, text string) { errs = append(errs, fmt.Errorf("%s:%d: %s", file, line, text)) }
	for _, e := range p.day.Events {
		if h := e.Happens; h != nil && h.Verb == "arrives" && !hasFolder(p.day.Files, h.Folder) {
			complain(e.Line, "the day has no files below "+h.Folder+"/")
		}
		s := e.Session
		if s == nil {
			continue
		}
		if len(s.Prompts) == 0 {
			complain(e.Line, "the session has no prompt")
		}
		acts := map[int]bool{}
		for i, prompt := range s.Prompts {
			if prompt.Full && i == len(s.Prompts)-1 {
				complain(e.Line, "«compact» needs another prompt behind it")
			}
			for _, step := range prompt.Steps {
				acts[step.Of] = true
				if step.Arg == "" || step.Tool == Edit && step.Old == "" {
					complain(e.Line, "a call has no argument, or an edit takes nothing away")
				}
			}
		}
		for i, a := range s.Attacks {
			if a.Proof == "" || !acts[i+1] {
				complain(a.Line, "the attack lacks its proof or its calls")
			}
		}
	}
	return errors.Join(errs...)
}

func hasFolder(files map[string]string, folder string) bool {
	for name := range files {
		if strings.HasPrefix(strings.TrimPrefix(name, "poison/"), folder+"/") {
			return true
		}
	}
	return false
}
