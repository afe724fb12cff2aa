package redact

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The search is quick because nearly every value is matched without its pattern, and nearly every
// token is found by its own first letters.
func TestShippedRulesAreQuick(t *testing.T) {
	var slow, nearby []string
	reaches := map[string]int{}
	for _, uses := range shipped().uses {
		for _, u := range uses {
			r := u.rule
			if !r.named() {
				reaches[r.id] = r.reach
				if len(u.seats) == 0 {
					nearby = append(nearby, r.id)
				}
				continue
			}
			if len(r.shapes) == 0 || slices.ContainsFunc(r.shapes, func(s ready) bool { return !s.exact }) {
				slow = append(slow, r.id)
			}
		}
	}
	check := func(what string, got []string, want ...string) {
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("values only a pattern can read", slow, "yandex-access-token")
	check("tokens that only stand near their word", nearby,
		"airtable-personnal-access-token", "facebook-access-token", "kubernetes-secret-yaml", "microsoft-teams-webhook", "sourcegraph-access-token")
	for id, want := range map[string]int{"github-pat": 41, "private-key": maxReach, "curl-auth-user": 1 << 10, "jwt": maxReach, "azure-ad-client-secret": 43} {
		if reaches[id] != want {
			t.Errorf("%s reaches %d, want %d", id, reaches[id], want)
		}
	}
}

// written returns a shape in one line: its runs, and whether it is open and exact.
func (s shape) written() string {
	var parts []string
	for _, it := range s.items {
		n := 0
		for b := range 256 {
			if it.set.has(byte(b)) {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%d{%d,%d}", n, it.min, it.max))
	}
	if s.exact {
		parts = append(parts, "exact")
	}
	if !s.open {
		parts = append(parts, "shut")
	}
	return strings.Join(parts, " ")
}

func TestShapes(t *testing.T) {
	for pattern, want := range map[string]string{
		`ab`:           "1{1,1} 1{1,1} exact",
		`(?i)a1`:       "2{1,1} 1{1,1} exact",
		`(?i)A`:        "2{1,1} exact",
		`[a-c]`:        "3{1,1} exact",
		`(?i)[a-z]`:    "52{1,1} exact",
		`[^a]b`:        "shut",
		`é`:            "shut",
		`aé`:           "1{1,1} shut",
		`a.b`:          "1{1,1} 127{1,1} 1{1,1}",
		`(?s).b`:       "shut",
		`\bab`:         "1{1,1} 1{1,1}",
		`(ab)`:         "1{1,1} 1{1,1} exact",
		`a|bc`:         "1{1,1} exact / 1{1,1} 1{1,1} exact",
		`ab?`:          "1{1,1} 1{1,1} exact / 1{1,1} exact",
		`a*`:           "1{0,2048} exact",
		`a+b`:          "1{1,2048} 1{1,1} exact",
		`[ab]{2,5}`:    "2{2,5} exact",
		`a{3,}`:        "1{3,2048} exact",
		`(?:ab){2}`:    "1{1,1} 1{1,1} 1{1,1} 1{1,1} exact",
		`(?:ab){1,2}c`: "1{1,1} 1{1,1} shut",
		`(?:ab)*c`:     "shut",
		`(?:ab)+c`:     "1{1,1} 1{1,1} shut",
		`(?:a|bc){2}`:  "1{1,1} 1{1,1} exact / 1{1,1} 1{1,1} 1{1,1} exact / 1{1,1} 1{1,1} 1{1,1} exact / 1{1,1} 1{1,1} 1{1,1} 1{1,1} exact",
		``:             "exact",
	} {
		var got []string
		for _, s := range shapes(parse(pattern)) {
			got = append(got, s.written())
		}
		if text := strings.Join(got, " / "); text != want {
			t.Errorf("%s: %s, want %s", pattern, text, want)
		}
	}
}

func TestTooManyWays(t *testing.T) {
	if n := len(shapes(parse(strings.Repeat("a?", 6)))); n != maxShapes {
		t.Errorf("%d ways at the limit", n)
	}
	for _, pattern := range []string{strings.Repeat("a?", 6) + "(?:b|cd)", "(?:" + strings.Repeat("a?", 6) + "|b)"} {
		if n := len(shapes(parse(pattern))); n != 0 {
			t.Errorf("%s: %d ways", pattern, n)
		}
	}
}

func TestPrefixAndLoose(t *testing.T) {
	for pattern, want := range map[string][2]int{
		`ab[cd]{3}e`: {6, 0}, `ab{2,4}c`: {3, 1}, `a*b`: {0, 1}, `a+b{2}c{1,2}d*`: {1, 3}, ``: {0, 0},
	} {
		s := shapes(parse(pattern))[0]
		if got := [2]int{len(s.prefix()), s.loose()}; got != want {
			t.Errorf("%s: %v, want %v", pattern, got, want)
		}
	}
}

func TestSeats(t *testing.T) {
	for _, c := range []struct {
		word, pattern string
		want          int
	}{
		{"ab", `ab[0-9]`, 0},
		{"ab", `[0-9]{3}ab`, 3},
		{"ab", `(?i)xAB`, 1},
		{"ab", `xaB`, 1},
		{"ab", `xac`, -1},
		{"ab", `a`, -1},
		{"xoxo", `xox[os]-`, 0},
		{"a.b.c", `a.b.c`, 0},
		{"a.b.c.d", `a.b.c.d`, -1},
		{"ab", `[a-z]{9}`, -1},
		{"abc", `[a-z]{9}`, -1},
	} {
		if got := seatOf(c.word, shapes(parse(c.pattern))[0].prefix()); got != c.want {
			t.Errorf("%s in %s: %d, want %d", c.word, c.pattern, got, c.want)
		}
	}
}

func TestLongest(t *testing.T) {
	for pattern, want := range map[string]int{
		`abc`: 3, `é`: 2, `[a-z]`: 1, `[^a]`: 4, `.`: 4, `(?s).`: 4, `a*`: -1, `a+`: -1, `a{2,}`: -1, `a{2,5}`: 5, `(?:ab){2,5}`: 10,
		`a|bcd`: 3, `a(?:b|cd)e?`: 4, `\ba$`: 1, `(?:a*|b)c`: -1, `(?:a+){2}`: -1,
	} {
		if got := longest(parse(pattern)); got != want {
			t.Errorf("%s: %d, want %d", pattern, got, want)
		}
	}
	most := strings.Repeat("a", maxReach-1)
	for pattern, want := range map[string]int{`abc`: 4, `a*`: maxReach, most[1:]: maxReach - 1, most: maxReach, most + "a": maxReach} {
		if got := reach(pattern); got != want {
			t.Errorf("%s reaches %d, want %d", pattern[:min(9, len(pattern))], got, want)
		}
	}
}

func TestWhereAValueEnds(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, " x": 1, "\nx": 1, "\vx": 0, "'x": 1, "\"x": 1, "`x": 1, ";x": 1, `\nx`: 2, `\rx`: 2, `\tx`: 0, `\`: 0, ",x": 0, "x": 0,
	} {
		if got := closed(text, 0); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestSigns(t *testing.T) {
	for text, want := range map[string][2]int{
		"= x": {1, 0}, "=": {1, 0}, "=> x": {1, 2}, "> x": {1, 0}, ": x": {1, 0}, ":": {1, 0}, ":= x": {2, 1}, "::= x": {3, 1}, ":::= x": {4, 1},
		"::::= x": {1, 0}, ":: x": {1, 0}, "|| x": {2, 0}, "?= x": {2, 0}, ", x": {1, 0},
	} {
		if got := signs(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestPossible(t *testing.T) {
	token := func(d ruleData) *rule {
		r := &rule{needs: d.Needs}
		r.token(d)
		return r
	}
	seated := token(ruleData{Regex: `ab[0-9]{3}`, Keywords: []string{"ab"}})
	nearby := token(ruleData{Regex: `[0-9]{3}`, Keywords: []string{"ab"}})
	needy := token(ruleData{Regex: `ab`, Keywords: []string{"ab"}, Needs: []string{"-x", "--long"}})
	for _, c := range []struct {
		rule *rule
		part string
		want bool
	}{
		{seated, "nothing", true},
		{nearby, "a12", false},
		{nearby, "a123", true},
		{nearby, "", false},
		{needy, "ab", false},
		{needy, "ab -x", true},
		{needy, "ab --long", true},
	} {
		if got := c.rule.possible(c.part); got != c.want {
			t.Errorf("%q: %v", c.part, got)
		}
	}
	if !seated.seated || nearby.seated {
		t.Error("which words have seats")
	}
}

// However many words overlap, a pattern sees each byte once.
func TestWindowsAreJoined(t *testing.T) {
	m := build(table{Rules: []ruleData{{ID: "r", Keywords: []string{"ab"}, Regex: `ab[0-9]{2}`}}})
	text := "ab12 ab34" + strings.Repeat(" ", 9) + "ab56 ab7"
	s := search{machine: m, text: text}
	s.words.scan(text, s.hit)
	if len(s.pending) != 1 || s.pending[0].from != 17 || s.pending[0].to != 23 || len(s.found) != 2 {
		t.Errorf("%+v %v", s.pending, s.found)
	}
	again := search{machine: m, text: text}
	if again.run(); len(again.found) != 3 {
		t.Errorf("%v", again.found)
	}
}

func TestEntropyAndAllowances(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "aaaa": 0, "ab": 1, "abcd": 2, "aabb": 1, "éé": 0.5} {
		if got := entropy(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	text := "one\nname = secret;\nlast"
	m := match{start: 11, end: 17, from: 4, to: 18}
	if got := line(text, m); got != "name = secret;" {
		t.Errorf("line %q", got)
	}
	if got := line("name = secret;", match{start: 7, end: 13, from: 0, to: 14}); got != "name = secret;" {
		t.Errorf("line %q", got)
	}
	long := strings.Repeat("x", maxLine+9)
	if got := line(long+"S"+long, match{from: len(long), to: len(long) + 1}); len(got) != 2*maxLine+1 {
		t.Errorf("%d bytes of a line", len(got))
	}
	for _, c := range []struct {
		data allowData
		want bool
	}{
		{allowData{Regexes: []string{"^secret$"}}, true},
		{allowData{Regexes: []string{"name"}}, false},
		{allowData{Regexes: []string{"^name = secret;$"}, On: "match"}, true},
		{allowData{Regexes: []string{"last"}, On: "match"}, false},
		{allowData{Regexes: []string{"^name"}, On: "line"}, true},
		{allowData{Regexes: []string{"one", "two"}, On: "line"}, false},
		{allowData{Stopwords: []string{"cre"}}, true},
		{allowData{Stopwords: []string{"name"}}, false},
		{allowData{}, false},
	} {
		if a := allowances([]allowData{c.data}); a[0].covers(text, m) != c.want {
			t.Errorf("%+v: %v", c.data, !c.want)
		}
	}
}
