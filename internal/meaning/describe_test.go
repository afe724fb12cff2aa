package meaning_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/meaning"
)

// The text reaches people who copy commands from it: a name that a server chose must not
// become more than one word of one.
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
