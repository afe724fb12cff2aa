package shellscan

import "testing"

// The output of printf is known if it prints one plain text.
func TestPrinted(t *testing.T) {
	plain := func(s string) []word { return []word{literal(s)} }
	for _, c := range []struct {
		name string
		args []word
		want string
		ok   bool
	}{
		{"printf", plain("a"), "a", true},
		{"printf", plain(`a\nb\tc\\n`), "a\nb\tc\\n", true},
		{"printf", plain(`a\x41`), "", false},
		{"printf", plain(`a\`), "", false},
		{"printf", plain(`a\\`), `a\`, true},
		{"printf", plain(`\\\`), "", false},
		{"printf", plain(`a\c`), "", false},
		{"printf", plain("%s"), "", false},
		{"printf", plain("-v"), "", false},
		{"printf", nil, "", false},
		{"printf", []word{literal("a"), literal("b")}, "", false},
		{"printf", []word{{text: "a", vague: true}}, "", false},
		{"printf", []word{{text: "a", glob: true}}, "", false},
		{"printf", []word{{text: "a", split: true}}, "", false},
		{"echo", plain("a"), "", false},
	} {
		if got, ok := printed(c.name, c.args); got != c.want || ok != c.ok {
			t.Errorf("%s %+v: %q %v", c.name, c.args, got, ok)
		}
	}
}
