package shellscan

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// asks makes a command that would change a database one that reads it.
func (s *scanner) asks(j *job) {
	j.part.Effects = slices.DeleteFunc(j.part.Effects, func(e floodmark.Effect) bool { return e == floodmark.Change || e == floodmark.Run })
	for i := range s.r.Effects {
		if e := &s.r.Effects[i]; e.Kind == Write && e.Command == j.name {
			e.Kind = Read
		}
	}
}

// plainSelect reports one statement that only asks: nothing in it can write,
// load or name another file.
func plainSelect(text string) bool {
	text = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(text), ";"))
	if !strings.HasPrefix(text, "select ") || strings.ContainsAny(text, ";\x00") || strings.Contains(text, "--") || strings.Contains(text, "/*") {
		return false
	}
	for {
		before, rest, more := strings.Cut(text, "(")
		if !more {
			return true
		}
		before = strings.TrimRight(before, " \t\n")
		if !harmlessFunction(before[strings.LastIndexFunc(before, notOfName)+1:]) {
			return false
		}
		text = rest
	}
}

// harmlessFunction reports what may stand before a parenthesis: nothing, a word
// of the language, or a function that computes.
func harmlessFunction(name string) bool {
	return name == "" || slices.Contains(strings.Fields(
		"in and or not where select from on by as values over exists when then else limit having join using distinct all between like "+
			"count sum avg min max total abs round length lower upper trim ltrim rtrim substr substring replace instr coalesce ifnull nullif iif cast "+
			"date time datetime julianday strftime group_concat json_extract json_array_length printf format typeof row_number rank dense_rank lag lead"), name)
}

func notOfName(c rune) bool {
	return !(c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
}
