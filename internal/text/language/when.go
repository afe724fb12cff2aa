package language

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// When holds the days and hours that the owner named. They are read narrowly,
// because they can raise trust: «soon» and «next week» name no day.
type When struct {
	days   []day
	clocks []int // minutes since midnight
}

// A day is a date. The year is 0 if it was not said.
type day struct {
	year  int
	month time.Month
	day   int
}

// maxTimes bounds how many days and hours are kept of one turn.
const maxTimes = 32

// latest is how many minutes after a named hour a value may be: «at 10:00 for an
// hour» ends at 11:00.
const latest = 12 * 60

// ReadWhen reads what messages say about time. It ignores quotations, which may be
// by others.
func (l *Lexicon) ReadWhen(texts ...string) When {
	var w When
	for _, text := range texts {
		w.read(l, timeWords(readItems(typed(text))))
	}
	return w
}

// AddTo adds what a clause says about time.
func (r *Request) AddTo(w *When) { w.read(r.words, timeWords(r.items)) }

// Says reports whether a day was named at all.
func (w *When) Says() bool { return len(w.days) > 0 }

// Allows reports whether a value is a day the owner named, at an hour they named
// or soon after, or at any hour if they named none.
func (w *When) Allows(value string) bool {
	at, hasDay, hasClock := tokens.ReadTime(value)
	switch {
	case !hasDay && !hasClock:
		return false
	case hasDay && !w.hasDay(at):
		return false
	case !hasClock || len(w.clocks) == 0 && hasDay:
		return true
	}
	minutes := at.Hour()*60 + at.Minute()
	for _, c := range w.clocks {
		if minutes >= c && minutes-c <= latest {
			return true
		}
	}
	return hasDay && (minutes == 0 || minutes == 24*60-1) // all day
}

func (w *When) hasDay(at time.Time) bool {
	for _, d := range w.days {
		if d.month == at.Month() && d.day == at.Day() && (d.year == 0 || d.year == at.Year()) {
			return true
		}
	}
	return false
}

// timeWords returns the words of a message in lower case, without what is quoted.
func timeWords(items []item) []string {
	var words []string
	for _, it := range items {
		if it.inner || it.Kind == tokens.Quoted {
			continue
		}
		if len(it.raw) <= maxTimeWord {
			words = append(words, strings.ToLower(it.raw))
		}
	}
	return words
}

// maxTimeWord is the longest word that can say something about time.
const maxTimeWord = 32

func (w *When) read(l *Lexicon, words []string) {
	for i := range words {
		if len(w.days) < maxTimes {
			if d, ok := l.dayAt(words, i); ok {
				w.days = append(w.days, d)
			}
		}
		if len(w.clocks) < maxTimes {
			if c, ok := clockAt(words, i); ok {
				w.clocks = append(w.clocks, c)
			}
		}
	}
}

// dayAt reads a date whose first word stands at i: 2024-05-19, May 19th 2024,
// 19 May, the 19th of May.
func (l *Lexicon) dayAt(words []string, i int) (day, bool) {
	if at, isDay, _ := tokens.ReadTime(words[i]); isDay {
		return day{at.Year(), at.Month(), at.Day()}, true
	}
	if m := l.grammar().Months.of(words[i]); m != 0 {
		if n := l.grammar().dayNumber(wordAt(words, i+1)); n > 0 {
			return day{yearOf(wordAt(words, i+2)), m, n}, true
		}
		return day{}, false
	}
	n := l.grammar().dayNumber(words[i])
	if n == 0 {
		return day{}, false
	}
	next := i + 1
	if isOf(wordAt(words, next)) {
		next++
	}
	if m := l.month(wordAt(words, next)); m != 0 && l.grammar().dayNumber(wordAt(words, next+1)) == 0 {
		if isOf(wordAt(words, next+1)) {
			next++
		}
		return day{yearOf(wordAt(words, next+1)), m, n}, true
	}
	return day{}, false
}

// isOf reports whether a word may be between a day, its month and its year.
func isOf(word string) bool { return word == "of" || word == "de" }

func wordAt(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// months are the names of the months, and their short forms.
type months map[string]time.Month

// UnmarshalYAML reads a list of names for each month, from January on.
func (m *months) UnmarshalYAML(n *yaml.Node) error {
	var list [][]string
	if err := n.Decode(&list); err != nil {
		return err
	}
	*m = months{}
	for i, names := range list {
		for _, name := range names {
			(*m)[name] = time.January + time.Month(i)
		}
	}
	return nil
}

// of returns the month that a word names, or 0.
func (m months) of(word string) time.Month { return m[strings.TrimSuffix(word, ".")] }

// dayNumber reads 5, 5th and 22nd.
func (g *grammar) dayNumber(word string) int {
	for _, ending := range g.DayEndings {
		if short, ok := strings.CutSuffix(word, ending); ok {
			word = short
			break
		}
	}
	n := smallInt(word)
	if n > 31 {
		return 0
	}
	return n
}

func yearOf(word string) int {
	if n := smallInt(word); len(word) == 4 && n >= 1900 {
		return n
	}
	return 0
}

// smallInt reads up to four digits; 0 if it is anything else.
func smallInt(word string) int {
	if word == "" || len(word) > 4 {
		return 0
	}
	n := 0
	for _, c := range []byte(word) {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// clockAt reads an hour: 10:00, 3pm, 3:30 pm, 2024-05-19T10:00.
func clockAt(words []string, i int) (minutes int, ok bool) {
	word := words[i]
	half := ""
	for _, h := range [...]string{"am", "pm"} {
		if short, cut := strings.CutSuffix(word, h); cut {
			word, half = short, h
		}
	}
	if half == "" {
		if next := strings.ReplaceAll(wordAt(words, i+1), ".", ""); next == "am" || next == "pm" {
			half = next
		}
	}
	at, _, isClock := tokens.ReadTime(word)
	switch n := smallInt(word); {
	case isClock:
		minutes = at.Hour()*60 + at.Minute()
	case half != "" && n >= 1 && n <= 12:
		minutes = n * 60
	default:
		return 0, false
	}
	switch {
	case half == "pm" && minutes < 12*60:
		minutes += 12 * 60
	case half == "am" && minutes >= 12*60:
		minutes -= 12 * 60
	}
	return minutes, minutes < 24*60
}
