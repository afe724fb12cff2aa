package language

import (
	"slices"
	"testing"
)

func TestReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		names []string
		one   bool
		ok    bool
	}{
		{"Summarise the article that Anna posted in 'garden' and send it to Bert", []string{"Anna", "garden"}, true, true},
		{"Read the link Anna shared", []string{"Anna"}, true, true},
		{"Summarise all the websites posted to \"garden\"", []string{"garden"}, false, true},
		{"Visit every page posted to \"garden\"", []string{"garden"}, false, true},
		{"Visit each page posted to \"garden\"", []string{"garden"}, false, true},
		{"Open any link mentioned by Anna", []string{"Anna"}, false, true},
		{"Email Bert and summarise the article that Anna posted", []string{"Anna"}, true, true},
		{"Summarise the article", nil, false, false},                       // it does not say where it is
		{"Summarise what Anna posted", nil, false, false},                  // no link
		{"Summarise the mail. Anna posted an article.", nil, false, false}, // said of something else
		{"Don't read the article that Anna posted", nil, false, false},
		{"Anna read the article that Bert posted", nil, false, false},
		{"Delete the article that Anna posted", nil, false, false},
		{"Posted by Anna: read the article", nil, false, false},
	} {
		var got Reading
		ok := false
		for _, r := range NewLexicon().Requests(c.text) {
			if reading, yes := r.Reads(); yes {
				got, ok = reading, true
			}
		}
		if ok != c.ok || got.One != c.one || !slices.Equal(got.Names, c.names) {
			t.Errorf("%q: %+v %v, want %q one %v, %v", c.text, got, ok, c.names, c.one, c.ok)
		}
	}
	var none *Lexicon
	for _, r := range none.Requests("Read the link Anna shared") {
		if _, ok := r.Reads(); ok {
			t.Error("without words something is read")
		}
	}
}
