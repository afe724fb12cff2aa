package language

import (
	"slices"
	"strings"
	"testing"
)

func TestTitles(t *testing.T) {
	for _, c := range []struct{ text, has, hasNot string }{
		{`delete the "Old plan" now`, "Old plan", "Old|plan|Old plan now"},
		{"cancel the Garden Walk please", "Garden Walk|Garden|Walk", "the Garden Walk|the|please|Walk please"},
		{"open report.docx", "report.docx", ""},
		{"see Alpha, Beta", "Alpha|Beta", "Alpha, Beta"},
		{"one Zed", "", "Zed|one"},
		{"Aaaa Bbbb Cccc Dddd Eeee Ffff Gggg", "Aaaa Bbbb Cccc Dddd Eeee Ffff", "Aaaa Bbbb Cccc Dddd Eeee Ffff Gggg"},
	} {
		got := NewLexicon().Titles(c.text)
		for want := range strings.SplitSeq(c.has, "|") {
			if want != "" && !slices.Contains(got, want) {
				t.Errorf("%q: %q is no title: %q", c.text, want, got)
			}
		}
		for no := range strings.SplitSeq(c.hasNot, "|") {
			if slices.Contains(got, no) {
				t.Errorf("%q: %q is a title", c.text, no)
			}
		}
	}
	if got := NewLexicon().Titles("cancel Garden Walk"); slices.Index(got, "Garden Walk") > slices.Index(got, "Garden") {
		t.Errorf("the shorter comes first: %q", got)
	}
	exact := strings.Repeat("x", maxTitle)
	if got := NewLexicon().Titles(`"` + exact + `"`); !slices.Contains(got, exact) {
		t.Error("the longest title is lost")
	}
	if got := NewLexicon().Titles(`"` + exact + `y"`); slices.Contains(got, exact+"y") {
		t.Error("a longer one is kept")
	}
	if got := NewLexicon().Titles(strings.Repeat("Zebra ", 300)); len(got) != maxTitles {
		t.Errorf("%d titles", len(got))
	}
}

func TestQuotes(t *testing.T) {
	said := []string{"Post to the team: see you at lunch! Then stop.", "Nothing else"}
	for text, want := range map[string]bool{
		"see you at lunch": true, "See you at lunch!": true, "\"see you\"": true, "nothing else": true,
		"lunch": false, "ee you": false, "see you at lunc": false, "see you at dinner": false, "": false, "!?": false,
		"else nothing": false, "stop. Nothing else": false, "you see": false,
	} {
		if got := Quotes(said, text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	// The first place may be inside a word and the second one stand by itself.
	if !Quotes([]string{"resee you, then see you"}, "see you") || Quotes([]string{"resee you"}, "see you") || Quotes([]string{"see youth"}, "see you") {
		t.Error("words are cut")
	}
	if Quotes(nil, "see you") {
		t.Error("who said nothing is quoted")
	}
	if Quotes([]string{"sée you é"}, "e you") {
		t.Error("a letter beyond ASCII does not end a word")
	}
}

func TestHasOnly(t *testing.T) {
	const one, two = "DE89370400440532013000", "GB29NWBK60161331926819"
	for _, c := range []struct {
		said, value string
		want        bool
	}{
		{"my friend has " + one, one, true},
		{"my friend has DE89 3704 0044 0532 0130 00", one, true},
		{"he has " + one + " and she has " + two, one, false},
		{"he has " + one + " and writes from a@b.example", one, true},
		{"mail a@b.example", "a@b.example", true},
		{"mail a@b.example or c@d.example", "a@b.example", false},
		{"mail a@b.example", "c@d.example", false},
		{`the hotel "Blue Sky"`, "Blue Sky", true},
		{`the hotel "Blue Sky" or "Red Sea"`, "Blue Sky", false},
		{"see https://news.example/a", "https://news.example/a", false},
		{"ask Anna", "Anna", false},
		{"", "", false},
		{"ask", "a b", false},
	} {
		var s Stated
		s.Add(c.said)
		if got := s.HasOnly(c.value); got != c.want {
			t.Errorf("%q only %q: %v", c.said, c.value, got)
		}
	}
}

func TestNamesNumbersAndWords(t *testing.T) {
	var s Stated
	s.Add(`Ask Anna and Bo about the Refund of 10.50 and 20, says "the Participants list 77"`)
	if !s.HasName("Anna") || s.HasName("anna") || s.HasName("Carl") || s.HasName("refund") {
		t.Error("names")
	}
	if got := s.Names(); !slices.Contains(got, "Anna") || slices.Contains(got, "Bo") || slices.Contains(got, "Anna and") {
		t.Errorf("%q", got)
	}
	if got := s.Numbers(); !slices.Contains(got, 10.5) || !slices.Contains(got, 20) || slices.Contains(got, 77) {
		t.Errorf("%v", got)
	}
	if !s.HasWord("refund") || !s.HasWord("REFUND") || s.HasWord("participants") || s.HasWord("refun") || s.HasWord("") {
		t.Error("words")
	}
	var many Stated
	for i := range maxGiven + 1 {
		many.Add("pay " + itoa(i+10) + " EUR")
		many.Add("ask Annabel" + string(rune('a'+i)))
	}
	if len(many.Numbers()) != maxGiven || len(many.Names()) != maxGiven {
		t.Errorf("%d %d", len(many.Numbers()), len(many.Names()))
	}
}

func TestPointsAndNamesTarget(t *testing.T) {
	for _, c := range []struct {
		text          string
		points, names bool
	}{
		{"send them 5 euros", true, false},
		{"invite him", true, false},
		{"Write her a mail", true, false},
		{"send it", false, false},
		{`send "them and us"`, false, true},
		{"send it to Anna", false, true},
		{"send it to a@b.example", false, true},
		{"send it on May 5", false, false},
		{"save it to /work/a", false, true},
		{"send DE89370400440532013000 5 EUR", false, true},
	} {
		list := NewLexicon().Requests(c.text)
		if len(list) != 1 {
			t.Fatalf("%q: %d clauses", c.text, len(list))
		}
		if got := list[0].Points(); got != c.points {
			t.Errorf("%q points: %v", c.text, got)
		}
		if got := list[0].NamesTarget(); got != c.names {
			t.Errorf("%q names: %v", c.text, got)
		}
	}
}

func TestWords(t *testing.T) {
	words, all := Words(`Post "see you" to general`)
	if !all || !slices.Contains(words, "general") || !slices.Contains(words, "see you") || slices.Contains(words, "you") {
		t.Errorf("%q", words)
	}
	if words, all := Words(strings.Repeat("x ", maxWords)); !all || len(words) != maxWords {
		t.Error("as many words as may be")
	}
	if words, all := Words(strings.Repeat("x ", maxWords+1)); all || len(words) != maxWords {
		t.Error("one more")
	}
}

// Plain words are no title, because they are in every message.
func TestPlainWordsAreNoTitles(t *testing.T) {
	for text, want := range map[string]string{
		"invite the same participants to lunch": "",
		"Participants are coming":               "",
		"Lunch":                                 "",
		"have lunch. Dinner follows":            "",
		"have Lunch":                            "Lunch",
		"delete notes.txt of it":                "notes.txt",
	} {
		got := NewLexicon().Titles(text)
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestCalled(t *testing.T) {
	list := NewLexicon().Requests(`Invite Anna to "the club" on May 5 please`)
	if got := list[0].Called(); !slices.Equal(got, []string{"Anna", "the club"}) {
		t.Errorf("%q", got)
	}
	if got := NewLexicon().Requests("Invite everybody")[0].Called(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
