package meaning_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/text/meaning"
)

func TestEveryLevelHasAMeaning(t *testing.T) {
	said := map[string]string{}
	for v := floodmark.Untrusted; v <= floodmark.System; v++ {
		said["trust "+v.String()] = meaning.Trust(v)
	}
	for v := floodmark.Secret; v <= floodmark.Public; v++ {
		said["secrecy "+v.String()] = meaning.Secrecy(v)
	}
	for v := floodmark.Admin; v <= floodmark.Observe; v++ {
		said["effect "+v.String()] = meaning.Effect(v)
	}
	for v := floodmark.Restrict; v <= floodmark.Allow; v++ {
		said["verdict "+v.String()] = meaning.Verdict(v)
	}
	for what, text := range said {
		if strings.Contains(text, "unknown") {
			t.Errorf("%s has no meaning", what)
		}
	}
	if len(said) != 6+4+7+4 {
		t.Errorf("%d meanings", len(said))
	}
}
