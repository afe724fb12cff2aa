package protection

import (
	"testing"

	"github.com/floodmark/floodmark/hook"
)

func TestVerbatimFinds(t *testing.T) {
	run := verbatimRun{believed: []*folded{newFolded("Pay “Ann  Smith” $1,250.50 for order #7 and item number 12 by 2024-05-19. See https://shop.example/a/ (id: 31)")}}
	tests := []struct {
		value, role string
		want        bool
	}{
		{"ann smith", "dest", true},
		{"nn smith", "dest", false}, // cuts through a word
		{"Ann", "dest", true},
		{"1250.5", "amount", true},
		{"250.5", "amount", false},
		{"7", "target", true},
		{"12", "target", true},
		{"31", "target", true},
		{"1250", "target", false},
		{"19", "target", false}, // a day, not the number of something
		{"http://shop.example/a", "url", true},
		{"shop.example/b", "url", false},
		{"2024-05-19T16:00", "when", true},
		{"2024-05-20 16:00", "when", false},
		{"", "dest", true},
	}
	for _, tt := range tests {
		if got := run.found(hook.Leaf{Value: tt.value}, tt.role); got != tt.want {
			t.Errorf("found(%q as %s) = %v", tt.value, tt.role, got)
		}
	}
}

func TestIdentifiers(t *testing.T) {
	for text, want := range map[string]bool{
		"- general\n- random\n": true,
		"- a b\n":               false,
		"":                      true,
		"- Straße_1":            true,
		"- please do this":      false,
	} {
		if got := identifiers(text); got != want {
			t.Errorf("identifiers(%q) = %v", text, got)
		}
	}
}

func FuzzFolded(f *testing.F) {
	f.Add("Pay 1,250.50 to Ann #7", "7")
	f.Fuzz(func(t *testing.T, text, value string) {
		d := newFolded(text)
		d.names(bare(value))
		if v := fold(text); !d.has(v) && v != "" {
			t.Errorf("%q is not in itself", v)
		}
		identifiers(text)
	})
}
