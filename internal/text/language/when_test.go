package language

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// What the owner says about time allows the day and the hour he named, and
// nothing near it.
func TestWhenAllowsWhatWasSaid(t *testing.T) {
	for _, c := range []struct{ said, yes, no string }{
		{"meet on 2024-05-19", "2024-05-19|2024-05-19 08:00|2024-05-19T23:30:00|2024-05-19T10:00:00Z", "2024-05-20|2025-05-19|2024-06-19|10:00"},
		{"on May 19th 2024 at 10:00", "2024-05-19 10:00|2024-05-19 11:00|2024-05-19T22:00|2024-05-19|10:00|10:30:00", "2024-05-19 09:59|2024-05-19 22:01|2023-05-19 10:00|09:00"},
		{"on May 19th 2024 at 10:00", "2024-05-19 00:00|2024-05-19 23:59", "00:00|23:59|2024-05-18 00:00"},
		{"on 19 May", "2024-05-19|2031-05-19 07:00", "2024-05-18|2024-04-19"},
		{"on the 22nd of Dec.", "2024-12-22", "2024-12-21|2024-11-22"},
		{"on the 1st of June 2025", "2025-06-01", "2024-06-01"},
		{"Sept 3rd", "2024-09-03", "2024-10-03"},
		{"on May 5 at 3pm", "2024-05-05 15:00|2024-05-05 16:30", "2024-05-05 03:00|2024-05-05 14:59"},
		{"on May 5 at 1pm", "2024-05-05 13:00", "2024-05-05 12:59|2024-05-05 01:00"},
		{"on May 5 at 3 p.m.", "2024-05-05 15:00", "2024-05-05 03:00"},
		{"on May 5 at 3:30 pm", "2024-05-05 15:30", "2024-05-05 15:00|2024-05-05 03:30"},
		{"on May 5 at 12am", "2024-05-05 00:00|2024-05-05 12:00", "2024-05-05 12:01|2024-05-05 13:00"},
		{"on May 5 at 12pm", "2024-05-05 12:00", "2024-05-05 11:00"},
		{"at 10:00", "10:00|12:00:00", "2024-05-05 10:00|2024-05-05|09:00"},
		{"on 2024-05-19 at 10:00", "2024-05-19 10:00", "2024-05-19 09:00|2024-05-20 10:00"},
		{"5 May 6", "2024-05-06", "2024-05-05"},
		{"on May 5 and on June 7", "2024-05-05|2024-06-07", "2024-05-07|2024-06-05"},
		{"the meeting of May 5 2024 or 2024", "2024-05-05", "2025-05-05"},
	} {
		w := NewLexicon().ReadWhen(c.said)
		for v := range strings.SplitSeq(c.yes, "|") {
			if !w.Allows(v) {
				t.Errorf("%q does not allow %q", c.said, v)
			}
		}
		for v := range strings.SplitSeq(c.no, "|") {
			if w.Allows(v) {
				t.Errorf("%q allows %q", c.said, v)
			}
		}
	}
}

// Words that name no day say nothing about time, and neither do words in quotes.
func TestWhenSaysNothing(t *testing.T) {
	for _, said := range []string{
		"", "soon", "next week", "tomorrow", "on Friday", "at 10:00", "May", "you may go", "5 apples", "May 32", "May 0th", "32 May", "the 19th",
		`read "the notes of May 19 2024"`, `look at "2024-05-19 10:00 plan"`, "mar 5", "ma 5", "mayo 5", "2024-13-01", "2024-02-30", "0 May", "12345 May", "May 12345",
		strings.Repeat("x", maxTimeWord+1), "2024-05-19x",
	} {
		if w := NewLexicon().ReadWhen(said); w.Says() || w.Allows("2024-05-19") || w.Allows("2024-05-19 10:00") || w.Allows("") || w.Allows("soon") {
			t.Errorf("%q says %+v", said, w)
		}
	}
	if w := NewLexicon().ReadWhen(`on May 5, see "3pm on June 7"`); !w.Allows("2024-05-05 01:00") || w.Allows("2024-06-07") {
		t.Errorf("%+v", w)
	}
	for _, hour := range []string{"0pm", "13pm", "24:00", "10:60", "10 o'clock", "pm", "1234pm"} {
		if w := NewLexicon().ReadWhen("May 5 at " + hour); len(w.clocks) != 0 {
			t.Errorf("%s is an hour: %+v", hour, w)
		}
	}
}

// Only as many days and hours are kept as a person would say.
func TestWhenHasLimits(t *testing.T) {
	var b strings.Builder
	for i := range maxTimes + 1 {
		b.WriteString("on " + []string{"May", "June"}[i/31] + " " + itoa(i%31+1) + ", ")
	}
	w := NewLexicon().ReadWhen(b.String())
	if len(w.days) != maxTimes || !w.Allows("2024-06-01") || w.Allows("2024-06-02") {
		t.Errorf("%d days", len(w.days))
	}
	w = NewLexicon().ReadWhen("May 5 " + strings.Repeat("11:00 ", maxTimes) + "10:00")
	if len(w.clocks) != maxTimes || w.Allows("2024-05-05 10:00") || !w.Allows("2024-05-05 11:00") {
		t.Errorf("%d hours", len(w.clocks))
	}
	if w := NewLexicon().ReadWhen("at 00:00"); !w.Allows("00:00") || w.Allows(strings.Repeat("x", 40)) || w.Allows("x") {
		t.Error("what is no time is allowed")
	}
	long := "2024-05-19T10:00:00.000000000+07:00"
	if w := NewLexicon().ReadWhen("2024-05-19"); !w.Allows(long) || !w.Allows(" 2024-05-19 ") || w.Allows("2024-05-19T10:00:00.0000000000+07:00") {
		t.Error("the longest time is read and nothing beyond")
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return string(rune('0'+n/10)) + string(rune('0'+n%10))
}

// A clause says the day in it, not the day in another clause.
func TestWhenOfAClause(t *testing.T) {
	list := NewLexicon().Requests("Book a room on May 5. Then read the notes of June 7.")
	var first, both When
	list[0].AddTo(&first)
	for _, r := range list {
		r.AddTo(&both)
	}
	if !first.Allows("2024-05-05") || first.Allows("2024-06-07") || !both.Allows("2024-06-07") {
		t.Errorf("%+v %+v", first, both)
	}
}

// No message makes the reading panic, and a day is allowed only if its number is in the
// message.
func FuzzWhen(f *testing.F) {
	for _, s := range []string{"on May 19th 2024 at 10:00", "3 p.m. 5 of June", "2024-05-19T10:00:00Z", `"May 5"`, "dec. 24. 1999 12am"} {
		f.Add(s, "2024-05-19 10:00")
	}
	words := NewLexicon()
	f.Fuzz(func(t *testing.T, said, value string) {
		w := words.ReadWhen(said)
		if w.Allows(value) {
			at, hasDay, hasClock := tokens.ReadTime(value)
			if !hasDay && !hasClock {
				t.Errorf("%q is no time", value)
			}
			if hasDay && !strings.Contains(said, itoa(at.Day())) {
				t.Errorf("%q allows %q", said, value)
			}
		}
		if len(w.days) > maxTimes || len(w.clocks) > maxTimes {
			t.Error("too many")
		}
		if quoted := words.ReadWhen(`read "a ` + strings.Map(plainRune, said) + ` b"`); quoted.Says() {
			t.Errorf("a quoted text says %+v", quoted)
		}
	})
}

// plainRune leaves what cannot end a quoted string.
func plainRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == ' ' || r == '-' || r == ':' {
		return r
	}
	return -1
}
