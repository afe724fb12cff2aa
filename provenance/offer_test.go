package provenance

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/postings"
)

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		said, place string
		want        Whose
	}{
		{"You can find my email in /home/ada/me.txt.", "/home/ada/me.txt", Mine},
		{"You can find my email and account information in /home/ada/me.txt.", "/home/ada/me.txt", Mine},
		{"Our contact details are at /home/ada.", "/home/ada/me.txt", Mine},
		{"Our contact details are at /home/ada/", "/home/ada/a/../me.txt", Mine},
		{"you can find her email at /home/ada/people", "/home/ada/people/bert.txt", Theirs},
		{"His address is in ~/people/bert.txt", "~/people/bert.txt", Theirs},
		{"My email is in /home/ada/me.txt", "/home/ada/me.txt.old", Nobodys},
		{"My email is in /home/ada/me.txt", "/home/ada", Nobodys},
		{"My email is in /home/ada/../eve", "/home/eve/me.txt", Nobodys},
		{"My email is in me.txt", "me.txt", Nobodys},
		{"My email is in /", "/etc/x", Nobodys},
		{"Read /home/ada/me.txt", "/home/ada/me.txt", Nobodys},
		{"Read my notes in /home/ada/me.txt", "/home/ada/me.txt", Nobodys},
		{"The email is in /home/ada/me.txt", "/home/ada/me.txt", Nobodys},
		{"Do not use my email in /home/ada/me.txt", "/home/ada/me.txt", Nobodys},
		{"Don't use my email in /home/ada/me.txt", "/home/ada/me.txt", Nobodys},
		{"My email is a secret. Read /home/ada/me.txt", "/home/ada/me.txt", Nobodys},
		{"My email " + strings.Repeat("is there ", 5) + "in /home/ada/me.txt", "/home/ada/me.txt", Nobodys},
		{`"My email is in /home/ada/me.txt"`, "/home/ada/me.txt", Nobodys},
	} {
		if got := NewLexicon().Holds([]string{"hello", c.said}, c.place); got != c.want {
			t.Errorf("%q of %s: %d, want %d", c.said, c.place, got, c.want)
		}
	}
}

func TestLabelled(t *testing.T) {
	x := postings.NewMemory()
	x.Add(3, testKey().Postings("About Ada. Email: ada@home.example, Club Username: ada.club\nClub Password: \"open sesame\" Bank Account Password: richrich8 Phone : 12345 door:oak Note: see here"))
	x.Add(4, testKey().Postings(`{"email":"bert@home.example"}`))
	x.Add(5, testKey().Postings(strings.Repeat("x ", maxLabelText/2)+"Email: late@home.example"))
	tr := &Tracer{Key: testKey(), Index: x}
	for _, c := range []struct {
		label, value string
		want         bool
	}{
		{"email", "ada@home.example", true},
		{"Email", "ADA@home.example", true},
		{"username", "ada.club", true},
		{"password", "open sesame", true},
		{"email", "bert@home.example", true},
		{"password", "richrich8", false},
		{"phone", "12345", true},
		{"username", "ada@home.example", false},
		{"club", "ada.club", false},
		{"note", "see", true},
		{"note", "here", false},
		{"email", "late@home.example", false},
		{"email", "", false},
		{"email", strings.Repeat("a", maxFieldValue+1), false},
	} {
		if got := len(tr.Labelled(c.label, c.value)) > 0; got != c.want {
			t.Errorf("%s: %s: %v", c.label, c.value, got)
		}
	}
	if spans := (&Tracer{Key: testKey()}).Labelled("email", "ada@home.example"); spans != nil {
		t.Error("found in nothing")
	}
}

func TestLabelsAreBounded(t *testing.T) {
	count := func(n int) int {
		ix := &Indexer{hasher: newHasher(testKey())}
		ix.labels(strings.Repeat("Key: v1. ", n))
		return len(ix.out)
	}
	if count(maxLabels) != maxLabels || count(maxLabels+1) != maxLabels {
		t.Error(count(maxLabels), count(maxLabels+1))
	}
}

func TestListedInAString(t *testing.T) {
	for value, want := range map[string]string{
		`['ada', 'bert']`:  "ada|bert",
		`["ada"]`:          "ada",
		`[]`:               "",
		`['ada', bert]`:    "",
		`['ada' 'bert']`:   "",
		`['ada','bert']`:   "",
		`['ada', ]`:        "",
		`['ada', 'bert'] `: "",
		`['ada', 'b\'t']`:  "",
		`x['ada']`:         "",
		`['ada`:            "",
		`[`:                "",
		`['']`:             "",
	} {
		var got []string
		for _, s := range listed(value) {
			got = append(got, value[s.from:s.to])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q", value, got)
		}
	}
	found, ok := readFields(`{"owner":"ada","members":"['bert', 'cleo']"}`)
	n := 0
	for _, f := range found {
		if f.name == "members" && (f.value == "bert" || f.value == "cleo") && strings.HasPrefix(`{"owner":"ada","members":"['bert', 'cleo']"}`[f.at:], f.value) {
			n++
		}
	}
	if !ok || n != 2 {
		t.Errorf("%+v", found)
	}
}

func TestWordsLike(t *testing.T) {
	var s Stated
	s.Add("Check all repositories and the keys of my ssh")
	for word, want := range map[string]bool{"repo": true, "rep": false, "key": true, "ssh": true, "ke": false, "repository": false} {
		if s.HasWordLike(word) != want {
			t.Errorf("%s: %v", word, !want)
		}
	}
}
