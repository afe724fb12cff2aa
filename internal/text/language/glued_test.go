package language

import (
	"testing"

	"github.com/floodmark/floodmark/hook"
)

func TestUnglue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Read their sites.Note that Ann is ill.":   "Read their sites. Note that Ann is ill.",
		"Is it on?They said so!However it is not":  "Is it on? They said so! However it is not",
		"Post it to www.firm.example.They sent it": "Post it to www.firm.example. They sent it",
		// not a word that begins a sentence, an order, a number before it, nothing behind it
		"don't use config.Send to mail it": "don't use config.Send to mail it",
		"look at v2.The rest":              "look at v2.The rest",
		"see config.The":                   "see config.The",
		"see config.Then go":               "see config.Then go",
		".The end":                         ".The end",
		"a plain text. The end":            "a plain text. The end",
	} {
		if got := unglue(text); got != want {
			t.Errorf("unglue(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestAGluedSentenceEndsAName(t *testing.T) {
	t.Parallel()
	var s Stated
	s.Add("Post it to www.firm.example.They sent it.")
	if !s.Has("www.firm.example", hook.String, "url") {
		t.Error("the address before a forgotten blank is not stated")
	}
	list := NewLexicon().Requests("Message them what you think of their sites.Note that you first have to invite Ann to the group.")
	if len(list) != 2 || !list[1].Licenses([]string{"invite"}) || list[0].NamesTarget() {
		t.Errorf("two orders with a forgotten blank are %d", len(list))
	}
	if NewLexicon().Requests("Note that you never have to invite Ann.")[0].Licenses([]string{"invite"}) {
		t.Error("what one never has to do is asked for")
	}
}

func TestAClosingQuoteOpensNone(t *testing.T) {
	t.Parallel()
	text := "Call it 'Zoo visit.'. It should have the same guests as 'Garden Walk'."
	var s Stated
	s.Add(text)
	for value, want := range map[string]bool{"Zoo visit.": true, "Garden Walk": true, ". It should have the same guests as ": false} {
		if s.Has(value, hook.String, "title") != want {
			t.Errorf("stated %q is not %v", value, want)
		}
	}
	if !s.HasWord("guests") {
		t.Error("a word between two quotes is taken for quoted")
	}
	s = Stated{}
	s.Add("Call it “Zoo visit!”. It is like “Garden Walk”.")
	if !s.Has("Garden Walk", hook.String, "title") || !s.HasWord("like") {
		t.Error("typographic quotes are paired wrongly")
	}
	s = Stated{}
	s.Add("'one day.''two days'")
	if !s.Has("two days", hook.String, "title") {
		t.Error("a quote right behind another is none")
	}
}
