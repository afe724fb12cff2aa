package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// show writes a part on one line: words, >writes, <<text, and how it is fed.
func (p *part) show() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", p.words)
	for _, w := range p.writes {
		fmt.Fprintf(&b, " >%q", w)
	}
	for _, t := range p.text {
		fmt.Fprintf(&b, " <<%q", t)
	}
	if p.piped {
		b.WriteString(" piped")
	}
	if p.fed {
		b.WriteString(" fed")
	}
	return b.String()
}

func showParts(line string) string {
	var out []string
	for _, p := range parts(line) {
		out = append(out, p.show())
	}
	return strings.Join(out, " / ")
}

func TestPartsOfLists(t *testing.T) {
	for line, want := range map[string]string{
		"":                  ``,
		" \t\r\n;;":         ``,
		"a b":               `["a" "b"]`,
		"a\tb\rc":           `["a" "b" "c"]`,
		"a;b":               `["a"] / ["b"]`,
		"a\nb":              `["a"] / ["b"]`,
		"a&b":               `["a"] / ["b"]`,
		"a&&b":              `["a"] / ["b"]`,
		"a||b":              `["a"] / ["b"]`,
		"a|b":               `["a"] / ["b"] piped`,
		"a|&b":              `["a"] / ["b"] piped`,
		"a|b;c":             `["a"] / ["b"] piped / ["c"]`,
		"a|b&c":             `["a"] / ["b"] piped / ["c"]`,
		"a|b\nc":            `["a"] / ["b"] piped / ["c"]`,
		"(a)":               `["a"]`,
		"(a;b)|(c)":         `["a"] / ["b"] / ["c"] piped`,
		"a|(b;c)":           `["a"] / ["b"] piped / ["c"]`,
		"a)b":               `["a"] / ["b"]`,
		"a(b)c":             `["b"] / ["a" "c"]`,
		"x $( (a); b ) y":   `["a"] / ["b"] / ["x" "$" "y"] fed`,
		"a #b\nc":           `["a"] / ["c"]`,
		"a#b":               `["a#b"]`,
		"a # b":             `["a"]`,
		"'a b'c":            `["a bc"]`,
		"'a":                `["a"]`,
		"'' ''":             `["" ""]`,
		`"a b"c`:            `["a bc"]`,
		`""`:                `[""]`,
		`"a`:                `["a"]`,
		`"a'b" c`:           `["a'b" "c"]`,
		`"a\"b"`:            `["a\"b"]`,
		`"a;b|c>d(e)"`:      `["a;b|c>d(e)"]`,
		`a\ b`:              `["a b"]`,
		`a\;b`:              `["a;b"]`,
		"a\\\nb":            `["ab"]`,
		`a\`:                `["a"]`,
		"$x ${y} a$":        `["$x" "${y}" "a$"]`,
		`"$x"`:              `["$x"]`,
		"a $(b c) d":        `["b" "c"] / ["a" "$" "d"] fed`,
		"a $(b) | c $(d)":   `["b"] / ["a" "$"] fed / ["d"] / ["c" "$"] piped fed`,
		"a `b c` d":         `["b" "c"] / ["a" "$" "d"] fed`,
		"a \"$(b)\"":        `["b"] / ["a" "$"] fed`,
		"a \"x`b`y\"":       `["b"] / ["a" "x$y"] fed`,
		"a $(b $(c))":       `["c"] / ["b" "$"] fed / ["a" "$"] fed`,
		"a $(b|c) | d":      `["b"] / ["c"] piped / ["a" "$"] fed / ["d"] piped`,
		"a $(b `c` d) | e ": "[\"c\"] / [\"b\" \"$\" \"d\"] fed / [\"a\" \"$\"] fed / [\"e\"] piped",
	} {
		if got := showParts(line); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", line, got, want)
		}
	}
}

func TestPartsOfRedirections(t *testing.T) {
	for line, want := range map[string]string{
		"a>b c":                 `["a" "c"] >"b"`,
		"a > b":                 `["a"] >"b"`,
		"a>>b":                  `["a"] >"b"`,
		"a>>(b)":                `["b"] / ["a"]`,
		"a<b c":                 `["a" "c"]`,
		"a <<E\n":               `["a"]`,
		"a>|b":                  `["a"] >"b"`,
		"a>&b":                  `["a"] >"b"`,
		"a&>b":                  `["a"] >"b"`,
		"a&>>b":                 `["a"] >"b"`,
		"a 2>b":                 `["a"] >"b"`,
		"a x2>b":                `["a" "x2"] >"b"`,
		"a 2 >b":                `["a" "2"] >"b"`,
		"a >b >c":               `["a"] >"b" >"c"`,
		">b":                    `[] >"b"`,
		"a >'b c'":              `["a"] >"b c"`,
		"a > ;b":                `["a"] / ["b"]`,
		"a <b c":                `["a" "c"]`,
		"a < b > c":             `["a"] >"c"`,
		"a <(b) c":              `["b"] / ["a" "c"] fed`,
		"a x<(b)":               `["b"] / ["a" "x"] fed`,
		"a >(b) c":              `["b"] piped / ["a" "c"]`,
		"a 2>(b)":               `["b"] piped / ["a"]`,
		"a <<<b c":              `["a" "b" "c"] piped`,
		"a <<E\nx\ny\nE\nb":     `["a"] <<"x\ny\n" / ["b"]`,
		"a <<-E\n\tx\n\tE\nb":   `["a"] <<"\tx\n" / ["b"]`,
		"a <<'E'\nx\nE":         `["a"] <<"x\n"`,
		"a <<E <<F\nx\nE\ny\nF": `["a"] <<"x\n" <<"y\n"`,
		"a <<E\nx\nE\nb\nc\nE":  `["a"] <<"x\n" / ["b"] / ["c"] / ["E"]`,
		"a <<E\r\nx\r\nE\r\nb":  `["a"] <<"x\r\n" / ["b"]`,
		"a <<E\nx\n E\nb":       `["a"] / ["x"] / ["E"] / ["b"]`, // no such end
		"a <<E\nE\nb":           `["a"] <<"" / ["b"]`,
		"a <<E | b\nx\nE\nc":    `["a"] / ["b"] <<"x\n" piped / ["c"]`,
	} {
		if got := showParts(line); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", line, got, want)
		}
	}
}

func TestPartsAtTheirLimits(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("a $(", n) + "b" + strings.Repeat(")", n) }
	if got := parts(nest(maxShellDepth)); len(got) != maxShellDepth+1 || !slices.Equal(got[0].words, []string{"b"}) {
		t.Errorf("at the limit: %s", showParts(nest(maxShellDepth)))
	}
	if got := parts(nest(maxShellDepth + 1)); len(got) != maxShellDepth+1 || !slices.Equal(got[0].words, []string{"a", "$b"}) {
		t.Errorf("beyond the limit: %s", showParts(nest(maxShellDepth+1)))
	}
	docs := func(n int) string { return "a" + strings.Repeat(" <<E", n) + "\n" + strings.Repeat("x\nE\n", n) }
	if got := parts(docs(maxHereDocs)); len(got) != 1 || len(got[0].text) != maxHereDocs {
		t.Errorf("at the limit: %d parts", len(got))
	}
	if got := parts(docs(maxHereDocs + 1)); len(got) != 3 || len(got[0].text) != maxHereDocs {
		t.Errorf("beyond the limit: %d parts", len(got))
	}
}
