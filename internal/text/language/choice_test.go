package language

import "testing"

func TestHasChoice(t *testing.T) {
	t.Parallel()
	var s Stated
	s.Add("Share it with ann@firm.example with read permissions and the mode fast. My permission, 'write permission'.")
	for _, c := range []struct {
		setting, value string
		want           bool
	}{
		{"permission", "read", true},
		{"Permission", "r", true},
		{"permission", "R", true},
		{"permission", "rw", false},
		{"permission", "w", false}, // quoted
		{"permission", "write", false},
		{"permission", "my", false}, // a common word chooses nothing
		{"permission", "re", false},
		{"permission", "", false},
		{"mode", "read", false},
		{"", "read", false},
	} {
		if got := s.HasChoice(c.setting, c.value); got != c.want {
			t.Errorf("HasChoice(%q, %q) = %v", c.setting, c.value, got)
		}
	}
}
