package language

import (
	"strings"
	"testing"
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

func TestWordsLike(t *testing.T) {
	var s Stated
	s.Add("Check all repositories and the keys of my ssh")
	for word, want := range map[string]bool{"repo": true, "rep": false, "key": true, "ssh": true, "ke": false, "repository": false} {
		if s.HasWordLike(word) != want {
			t.Errorf("%s: %v", word, !want)
		}
	}
}
