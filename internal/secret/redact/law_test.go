package redact

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// written returns every rule in the form of gitleaks, as one slow pattern.
func written(t *testing.T) map[string][]*rule {
	t.Helper()
	var file table
	if err := json.Unmarshal(gitleaks, &file); err != nil {
		t.Fatal(err)
	}
	rules := map[string][]*rule{}
	for _, d := range file.Rules {
		if len(d.Names) > 0 {
			var names []string
			for _, n := range d.Names {
				if spelled := d.Spelled[n]; spelled != nil {
					names = append(names, "(?-i:"+strings.Join(spelled, "|")+")")
				} else {
					names = append(names, regexp.QuoteMeta(n))
				}
			}
			value, fold := strings.CutPrefix(d.Value, "(?i)")
			d.Regex = `(?i)[\w.-]{0,50}?(?:` + strings.Join(names, "|") + `)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`
			if fold {
				d.Regex += `(` + value + `)(?:[\x60'"\s;]|\\[nr]|$)`
			} else {
				d.Regex += `(?-i:(` + value + `))(?:[\x60'"\s;]|\\[nr]|$)`
			}
		}
		rules[d.ID] = append(rules[d.ID], &rule{
			id: d.ID, entropy: d.Entropy, short: -1, allow: allowances(d.Allow), pattern: lazily(d.Regex),
		})
	}
	return rules
}

// The quick search finds exactly what the slow patterns find in all examples. In examples with
// other text around them it may find more, because a pattern skips the text that it has matched, as
// in «api_key=token = …», and our search does not.
func TestLawQuickSearchFindsWhatThePatternsFind(t *testing.T) {
	slow := written(t)
	var file table
	if err := json.Unmarshal(gitleaks, &file); err != nil {
		t.Fatal(err)
	}
	quick := build(file)
	random := rand.New(rand.NewPCG(1, 2))
	for i, e := range examples(t) {
		if testing.Short() && i%8 != 0 {
			continue
		}
		text, alone := e.text, i%3 != 0
		if !alone {
			text = around(random) + text + around(random)
		}
		s := search{machine: quick, text: text}
		s.run()
		s.found = slices.DeleteFunc(s.found, func(f Span) bool { return f.Rule != e.Rule })
		want := search{machine: quick, text: text}
		for _, r := range slow[e.Rule] {
			want.look(window{rule: r, to: len(text)})
		}
		got, all := tidy(s.found), tidy(want.found)
		if !alone {
			got = slices.DeleteFunc(got, func(f Span) bool { return !slices.Contains(all, f) })
		}
		if !slices.Equal(got, all) {
			t.Errorf("%s in %q: found %v, the pattern finds %v", e.Rule, text, got, all)
		}
	}
}

func around(random *rand.Rand) string {
	parts := []string{"", "\n", " ", "x", "key ", "the token is here: ", "a = b; ", "«é»", "\"", "api_key=", "::", "12"}
	text := ""
	for range random.IntN(4) {
		text += parts[random.IntN(len(parts))]
	}
	return text
}

// One pass for all words finds the same as a search for each word.
func TestLawWords(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	draw := func(most int, letters string) string {
		b := make([]byte, 1+random.IntN(most))
		for i := range b {
			b[i] = letters[random.IntN(len(letters))]
		}
		return string(b)
	}
	type hit struct{ word, end int }
	for range 2000 {
		var list []string
		for range 1 + random.IntN(6) {
			if word := draw(4, "ab-"); !slices.Contains(list, word) {
				list = append(list, word)
			}
		}
		text := draw(40, "abAB-x")
		var got, want []hit
		w := newWords(list)
		w.scan(text, func(word, end int) { got = append(got, hit{word, end}) })
		lower := strings.ToLower(text)
		for end := range len(text) + 1 {
			for i, word := range list {
				if strings.HasSuffix(lower[:end], word) {
					want = append(want, hit{i, end})
				}
			}
		}
		order := func(a, b hit) int { return (a.end-b.end)*100 + a.word - b.word }
		slices.SortFunc(got, order)
		if !slices.Equal(got, want) || w.has(text) != (len(want) > 0) {
			t.Fatalf("%q in %q: found %v, want %v", list, text, got, want)
		}
	}
}

// An exact shape ends where its pattern ends.
func TestLawExactShapes(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, pattern := range []string{
		`[a-c]{2,4}`, `(?i)[a-c]{3}`, `a+b`, `(?:ab|b)[a-c]{1,2}`, `a?b{2}`, `(live|test)_[a-c]{2}`, `[a-c]{2,}-[a-c]{1,3}`,
		`(?:a[b-c]){2}`, `[^a]b`, `\babc`, `(?:ab)+c`, `.b`, `a*`, `(?i)K[a-z]`,
	} {
		r := &rule{value: pattern}
		r.assignment(ruleData{Value: pattern})
		for range 3000 {
			b := make([]byte, random.IntN(10))
			for i := range b {
				b[i] = "abcABCk-_ ;\n"[random.IntN(12)]
			}
			if got, want := r.valueEnd(string(b), 0), r.patternEnd(string(b), 0); got != want {
				t.Fatalf("%s on %q: ends at %d, the pattern at %d", pattern, b, got, want)
			}
		}
	}
}
