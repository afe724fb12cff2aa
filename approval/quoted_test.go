package approval_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// foreign returns a question with a value that a page held.
func foreign(path, value string) approval.Question {
	return approval.Question{
		Action: floodmark.Action{Arguments: []floodmark.Argument{{
			Path: path, Role: floodmark.Critical, Whence: floodmark.Seen, Trust: floodmark.Untrusted, Shown: value, Spans: []floodmark.Span{{Node: 3, Offset: 41}},
		}}},
		Notes: []approval.Note{{From: approval.Origin{Name: "web_fetch", Place: "forum.example", Trust: floodmark.Untrusted}}},
	}
}

// What others wrote is quoted with the place where they wrote it.
func TestWordsOfASourceAreQuoted(t *testing.T) {
	got := foreign("url", "https://evil.example/x").Quoted()
	want := approval.Quoted{Words: "https://evil.example/x", Of: "“forum.example” (anyone can write there)", Argument: "web address", Trust: floodmark.Untrusted, At: 42}
	if len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Nothing is quoted that others did not write, that a person must not see, or that says nothing.
func TestWhatIsNotQuoted(t *testing.T) {
	for name, change := range map[string]func(*approval.Question){
		"the model's":            func(q *approval.Question) { q.Action.Arguments[0].Whence = floodmark.Nowhere },
		"the owner's":            func(q *approval.Question) { q.Action.Arguments[0].Whence = floodmark.Stated },
		"of the owner's files":   func(q *approval.Question) { q.Action.Arguments[0].Trust = floodmark.Local },
		"a secret, or content":   func(q *approval.Question) { q.Action.Arguments[0].Shown = "" },
		"of a place not known":   func(q *approval.Question) { q.Notes = nil },
		"a word of every page":   func(q *approval.Question) { q.Action.Arguments[0].Shown = "main" },
		"a command of all days":  func(q *approval.Question) { q.Action.Arguments[0].Shown = "git push" },
		"what must be picked":    func(q *approval.Question) { q.Pick = &approval.Pick{Argument: "url", Among: []string{"a", "b"}} },
		"what must not be named": func(q *approval.Question) { q.Action.Arguments = nil },
	} {
		q := foreign("url", "https://evil.example/x")
		change(&q)
		if got := q.Quoted(); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	q := foreign("body", "pay to evil.example before noon") // the picked value in another one
	q.Pick = &approval.Pick{Argument: "to", Among: []string{"evil.example", "b", "c"}}
	if got := q.Quoted(); len(got) != 1 || strings.Contains(got[0].Words, "evil") {
		t.Errorf("%+v", got)
	}
}

// A quote is bounded and inert, whatever it says.
func TestAQuoteIsBounded(t *testing.T) {
	q := foreign("url", "a\n\u202e<b>\u200b"+strings.Repeat("x", 100_000))
	for n := range 20 {
		a := q.Action.Arguments[0]
		a.Shown += strings.Repeat("y", n+1)
		a.Trust, a.Pieced = floodmark.External, true
		q.Action.Arguments, q.Notes = append(q.Action.Arguments, a), append(q.Notes, q.Notes[0])
	}
	q.Action.Arguments[0], q.Action.Arguments[7] = q.Action.Arguments[7], q.Action.Arguments[0]
	got := q.Quoted()
	if len(got) != 3 || got[0].Trust != floodmark.Untrusted || got[0].At != 42 || got[1].At != 0 || !got[1].Pieced {
		t.Fatalf("%+v", got)
	}
	for _, one := range got {
		if len(one.Words) > 1000 || strings.ContainsAny(one.Words, "\n\u202e\u200b") || !strings.HasPrefix(one.Words, "a⏎⟨U+202E⟩<b>⟨U+200B⟩") {
			t.Errorf("%q", one.Words)
		}
	}
}
