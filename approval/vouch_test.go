package approval_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// A question about content names the content, in a frame, and the consequence of an approval.
func TestVouchCard(t *testing.T) {
	q := approval.Question{Vouch: approval.Origin{Name: "page", Place: "https://one.example/”", Trust: floodmark.Untrusted}}
	c := q.Card(false)
	var lines []string
	for _, p := range c.Body {
		lines = append(lines, p.String())
	}
	text := strings.Join(lines, "\n")
	if !strings.HasPrefix(text, "It is: “page https://one.example/⟨U+201D⟩” (untrusted)\nIf you allow it: It counts as a file of your own") || c.Hides {
		t.Errorf("%s", text)
	}
	if head := approval.Head([]approval.Question{q}).String(); head != "You typed that you vouch for something your agent has read" {
		t.Errorf("%s", head)
	}
}

// Only «.endorse» takes a code after the digest.
func TestParseVouch(t *testing.T) {
	if c, err := approval.ParseCommand(".endorse 0123ABCD BF619DF9"); err != nil || c.Digest != "0123abcd" || c.Code != "bf619df9" {
		t.Errorf("%+v, %v", c, err)
	}
	for text, says := range map[string]string{
		".endorse 0123abcd bf619df":           "a code has 8 hex digits",
		".endorse 0123abcd bf619df90":         "a code has 8 hex digits",
		".endorse 0123abcd bf619dfx":          "a code has 8 hex digits",
		".endorse 0123abcd bf619df9 bf619df9": "write: .endorse",
		".withdraw 0123abcd bf619df9":         "write: .withdraw",
		".endorse 0123abc bf619df9":           "write: .endorse",
	} {
		if _, err := approval.ParseCommand(text); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
