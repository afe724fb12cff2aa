package linetext_test

import (
	"fmt"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/floodmark/floodmark/internal/text/linetext"
)

// No character is lost, no row is wider than allowed (also with wide characters), and every row but
// the first is marked.
func TestMarked(t *testing.T) {
	for _, text := range []string{
		"", "a", "git push origin main", strings.Repeat("x", 200), strings.Repeat("界", 90), "a  b   c", strings.Repeat("ab ", 60),
		"one\n$ rm -rf /", strings.Repeat("é ", 50) + strings.Repeat("🙂", 40),
	} {
		for _, width := range []int{1, 10, 33, 80} {
			rows := linetext.Marked(text, width)
			whole := rows[0]
			for _, r := range rows[1:] {
				rest, marked := strings.CutPrefix(r, "↳ ")
				if !marked {
					t.Errorf("%q is not marked", r)
				}
				whole += rest
			}
			if whole != linetext.Plain(text) {
				t.Errorf("%q in %d columns: %q", text, width, rows)
			}
			for _, r := range rows {
				if w := lipgloss.Width(r); w > max(width, 6) {
					t.Errorf("%q has %d columns of %d", r, w, width)
				}
			}
		}
	}
}

// What is left out is counted exactly.
func TestFitted(t *testing.T) {
	end := func(left int) string { return fmt.Sprint(left, " more") }
	text := strings.Repeat("0123456789", 30)
	rows, left := linetext.Fitted(text, 80, 3, end)
	shown := 0
	for _, r := range rows[:2] {
		shown += len(strings.TrimPrefix(r, "↳ "))
	}
	if len(rows) != 3 || left != 300-shown || rows[2] != fmt.Sprintf("↳ %d more", 300-shown) {
		t.Errorf("%d left: %q", left, rows)
	}
	if rows, left := linetext.Fitted(text[:230], 80, 3, end); len(rows) != 3 || left != 0 {
		t.Errorf("%d left: %q", left, rows)
	}
}
