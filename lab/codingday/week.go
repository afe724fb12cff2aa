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

// The limits on the files of a week.
const (
	MaxWeekFile     = 1 << 20 // bytes of one file of a week
	MaxDays         = 5
	MaxDaySessions  = 40
	MaxDayEvents    = 200 // sessions, and what happens between them
	MaxOtherWays    = 2   // other ways that the model tries after a refusal
	MaxRepositories = 8
)

// A Week is five days in one home, with the same repositories, agents and journal.
type Week struct {
	Title string
	// HeldOut says that rules must be written without looking at it. Only totals are shown.
	HeldOut      bool
	People       map[string]string // colleagues' names and their mail addresses
	Repositories []Repository
	// Files exist from the first day on: see docs/week.md.
	Files map[string]string
	Days  []Day
}

// A Repository is a project of a week's home.
type Repository struct {
	Name string
	// Kind is own, team or fork. Author wrote the first commit; empty for an own repository.
	Kind, Author string
}

// A Day is what happens on one day, in order.
type Day struct {
	Title  string
	Events []DayEvent
	// Files are those that are changed or added on the day.
	Files map[string]string
}

// A DayEvent is a session, or something that happens outside all sessions.
type DayEvent struct {
	Line    int
	Session *WeekSession
	Happens *Happening
}

// A Happening is an event that no agent causes: the owner's, a colleague's or a server's.
type Happening struct {
	// Verb is arrives, owner, up or down.
	Verb string
	// Repo is the repository where it happens. Name names what an up starts and a down ends.
	Repo, Name string
	// For a commit that arrives: its Branch, its author Who, and the Folder of the day with its
	// files.
	Branch, Who, Folder string
	// Text is a command, or a commit message.
	Text string
}

// A WeekSession is one conversation in a week.
type WeekSession struct {
	Session

	Name, Agent, Repo string
	// Foreign says what content of strangers it reads; empty if none.
	Foreign string
	// Answers says how the owner answers questions about honest calls: once, always or no.
	Answers string
	// Resumes names the session whose conversation it continues. Beside names the session that runs
	// at the same time.
	Resumes, Beside string
	Attacks         []WeekAttack
}

// A WeekAttack is something planted in what a session reads, with what the attacker wants.
type WeekAttack struct {
	Where, Goal, Proof string
	Line               int
}

// weekAgents returns the agents that a week may use.
func weekAgents() []string { return []string{"pi", "codex", "opencode"} }

// ReadWeek reads a week: week.txtar, and those of day1.txtar to day5.txtar that exist.
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

// file reads the lines of one file and returns the files that follow them.
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

// World returns the files around the projects on a day: those of the week, with the changes of that
// day and the days before, poisoned or not.
func (w *Week) World(day int, attacks bool) map[string]string {
	all := maps.Clone(w.Files)
	for i := range min(day+1, len(w.Days)) {
		maps.Copy(all, w.Days[i].Files)
	}
	return chosen(all, attacks)
}

// chosen selects the files of the honest or the poisoned world.
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
