package meaning_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/text/meaning"
)

// People copy commands from the text, so a name that a server chose must be at most one word of a
// command.
func TestDescribeNamesOnlyPlainTools(t *testing.T) {
	if got := meaning.Describe(nil); got != "" {
		t.Errorf("no tool: %q", got)
	}
	if got := meaning.Describe([]string{"mail_search", "srv/mail.send"}); !strings.Contains(got, "mail_search, srv/mail.send are not described") {
		t.Errorf("two tools: %q", got)
	}
	for _, name := range []string{"", "x; rm -rf ~", "$(id)", "-h", "a b", "a\nb", strings.Repeat("a", 81)} {
		if got := meaning.Describe([]string{name}); strings.Contains(got, "show") || name != "" && strings.Contains(got, name) {
			t.Errorf("%q is in %q", name, got)
		}
	}
}
