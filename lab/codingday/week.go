package codingday

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// The limits on a week as it is written.
const (
	MaxWeekFile     = 1 << 20 // bytes of one file of a week
	MaxDays         = 5
	MaxDaySessions  = 40
	MaxDayEvents    = 200 // sessions, and what happens between them
	MaxOtherWays    = 2   // that the model tries after a refusal
	MaxRepositories = 8
)

// A Week is the life of one home: the same repositories, agents and journal for days.
type Week struct {
	Title string
	// HeldOut says that rules are written without looking into it: only totals are shown.
	HeldOut      bool
	People       map[string]string // a colleague's name, and their address
	Repositories []Repository
	// Files are there from the first day on: see docs/week.md.
	Files map[string]string
	Days  []Day
}

// A Repository is a project of a week's home.
type Repository struct {
	Name string
	// Kind says whose it is: own, team or fork. Author wrote the first commit; empty
	// for one's own.
	Kind, Author string
}

// A Day is what happens on one day, in order.
type Day struct {
	Title  string
	Events []DayEvent
	// Files are those that the day changes or adds.
	Files map[string]string
}

// A DayEvent is a session, or something that happens beside all sessions.
type DayEvent struct {
	Line    int
	Session *WeekSession
	Happens *Happening
}

// A Happening is an event that no agent causes: the owner's, a colleague's or a server's.
type Happening struct {
	// Verb is arrives, owner, up or down.
	Verb string
	// Repo is where it happens. What stays up has a Name.
	Repo, Name string
	// A commit arrives on a Branch, by Who, with the files below a Folder of the day.
	Branch, Who, Folder string
	// Text is a command, or the message of a commit.
	Text string
}

// A WeekSession is one conversation in a week.
type WeekSession struct {
	Session

	Name, Agent, Repo string
	// Foreign says what of strangers it reads; empty for nothing.
	Foreign string
	// Answers is how the owner answers questions about honest calls: once, always or no.
	Answers string
	// Resumes names the session whose conversation goes on, Beside the one that runs at
	// the same time.
	Resumes, Beside string
	Attacks         []WeekAttack
}

// A WeekAttack is something planted in what a session reads, and what the attacker wants.
type WeekAttack struct {
	Where, Goal, Proof string
	Line               int
}

// Agents are those a week may use.
func weekAgents() []string { return []string{"pi", "codex", "opencode"} }

// ReadWeek reads a week: week.txtar, and day1.txtar to day5.txtar as far as they are there.
func ReadWeek(dir fs.FS) (*Week, error) {
	w := &Week{People: map[string]string{}}
	p := &weekParser{week: w, seen: map[string]*WeekSession{}, latest: map[string]*WeekSession{}}
	files, err := p.file(dir, "week.txtar")
	if err != nil {
		return nil, err
	}
	w.Files = files
	for i := range MaxDays {
		name := fmt.Sprintf("day%d.txtar", i+1)
		w.Days = append(w.Days, Day{})
		p.day = &w.Days[i]
		files, err := p.file(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			w.Days = w.Days[:i]
			break
		}
		if err != nil {
			return nil, err
		}
		p.day.Files = files
		if err := p.endDay(name); err != nil {
			return nil, err
		}
	}
	if len(w.Days) == 0 {
		return nil, errors.New("day1.txtar: a week needs a first day")
	}
	return w, nil
}

// file reads the lines of one file and returns the files behind them.
func (p *weekParser) file(dir fs.FS, name string) (map[string]string, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxWeekFile {
		return nil, fmt.Errorf("%s: more than %d bytes", name, MaxWeekFile)
	}
	data, err := fs.ReadFile(dir, name)
	if err != nil {
		return nil, err
	}
	ar := txtar.Parse(data)
	p.talkParser = talkParser{}
	p.session = nil
	for i, line := range strings.Split(strings.TrimSuffix(string(ar.Comment), "\n"), "\n") {
		p.number = i + 1
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	files := map[string]string{}
	for _, f := range ar.Files {
		if _, twice := files[f.Name]; twice {
			return nil, fmt.Errorf("%s: two files %s", name, f.Name)
		}
		if !fs.ValidPath(strings.TrimSuffix(f.Name, "/")) {
			return nil, fmt.Errorf("%s: %q is no path below the week", name, f.Name)
		}
		files[f.Name] = string(f.Data)
	}
	return files, nil
}

// Sessions returns all sessions in order.
func (w *Week) Sessions() (list []*WeekSession) {
	for _, d := range w.Days {
		list = append(list, d.Sessions()...)
	}
	return list
}

// Sessions returns the sessions of a day in order.
func (d *Day) Sessions() (list []*WeekSession) {
	for _, e := range d.Events {
		if e.Session != nil {
			list = append(list, e.Session)
		}
	}
	return list
}

// World returns what lies around the projects on a day, poisoned or not: what the week
// began with, and what this day and those before it changed.
func (w *Week) World(day int, attacks bool) map[string]string {
	all := maps.Clone(w.Files)
	for i := range min(day+1, len(w.Days)) {
		maps.Copy(all, w.Days[i].Files)
	}
	return chosen(all, attacks)
}

// chosen are the files of an honest or a poisoned world.
func chosen(all map[string]string, attacks bool) map[string]string {
	files := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, poison := strings.CutPrefix(name, "poison/"); !poison {
			files[name] = all[name]
		}
	}
	for name, text := range all {
		if clean, poison := strings.CutPrefix(name, "poison/"); poison && attacks {
			files[clean] = text
		}
	}
	return files
}
