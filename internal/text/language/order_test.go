package language

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/hook"
)

// licenses reports whether a text asks for a verb.
func licenses(text, verb string) bool {
	return slices.ContainsFunc(NewLexicon().Requests(text), func(r *Request) bool { return r.Licenses([]string{verb}) })
}

// What may come before an order.
func TestOrdersAfterOpenings(t *testing.T) {
	for _, before := range []string{
		"", "1)", "#1", "todo:", "hey Claude", "hello Claude", "hi", "please", "could you", "could you please", "now just", "go ahead 🎉",
		"I would really like you to", "I just want you to", "for now", "for now just", "we want you to", "we'd like you to", "id like you to", "I'm asking you to",
		"we're asking you to", "we are asking you to", "I am asking you to", "let", "do", "help me", "help us to", "instead",
		"if possible", "when done", "once finished", "when you are done", "when you're done", "after that", "why not,", "why don't you,", "read it and to",
		"!!!", `say "hi` + "\nread a.", `say "a".`, "say “a”.", "say 'a. b' and", "the steps:\n", "They read it.", "read it. After that,",
	} {
		if text := strings.TrimSpace(before + " send it"); !licenses(text, "send") {
			t.Errorf("%q does not ask to send", text)
		}
	}
	for _, before := range []string{
		"Bob:", "hey Claude (", "hey claude", "really could you", "possibly can you", "could", "could (you)", "could they", "could really",
		"they're asking you to", "they are asking you to", "he'd like you to", "read it and to to", "to", "would you mind just", "if Ann asks",
		"when you come", "when Ann is done", "once you", "since Ann is here", "instead of calling", "before that", "after lunch", "no,",
		"not now,", "don't wait,", "1) 2)", "7 a 8", `don't say "no. go" and`, "don't say “no. go” and", "don't say «no. go» and",
		"don't say 'no. go' and", "don't say `no. go` and", `don't say ("no. go") and`, "read it, Ann may", "Ann wants me to read it,", "to read it,", "Never do this:\nread it\n", "if you can't come and", "they read it and mail it and",
		"if so", "if yes,", "in that case", "otherwise", "maybe", "tomorrow", "no problem,", "not only that,", "done or not,", "rather than wait,", "they read it,",
		"don't wait, please,", "don't open it but read it and", "they read it, mail it and", "I'm late so",
	} {
		if text := before + " send it"; licenses(text, "send") {
			t.Errorf("%q asks to send", text)
		}
	}
}

func TestOrdersWithOtherForms(t *testing.T) {
	for _, tt := range []struct {
		text, verb string
		want       bool
	}{
		{"send", "send", true},
		{"todo: send", "send", true},
		{"hey Claude send", "send", true},
		{"hey Claude", "send", false},
		{"hey Send it", "send", true},
		{"go ahead", "go", false},
		{"go ahead 7", "go", false},
		{"help me #7", "help", false},
		{"would you mind just sending it", "send", true},
		{"do you mind sending it", "send", true},
		{"how about sending it", "send", true},
		{"what about sending it", "send", true},
		{"do sending it", "send", false},
		{"Frobnicate it", "frobnicate", true},
		{"read it and frobnicate it", "frobnicate", true},
		{"read it AND frobnicate it", "frobnicate", true},
		{"read it, and frobnicate it", "frobnicate", true},
		{"read it, frobnicate it", "frobnicate", false},
		{"read it and Frobnicate it", "frobnicate", false},
		{"reply (by Friday)", "reply", false},
		{"reply by Friday", "reply", false},
		{"email about the launch", "email", false},
		{"write about the launch", "write", true},
		{"tell him that I will not come", "tell", true},
		{"tell that I will not come", "tell", false},
		{"send that not this", "send", false},
		{"tell him saying I will not come", "tell", true},
		{"ask him if nobody comes", "ask", false},
		{"stop and halt it", "stop", true},
		{"send it to stop it", "send", false},
		{"send it\n!!!", "send", true},
		{"book it by", "book", true},
		{"book it by calling", "call", true},
		{"send it testing", "test", false},
		{"set", "set up", false},
		{"sign up for it", "sign up for", true},
		{"would you mind planning it", "send", false},
		{"schedul it", "schedule", false},
		{"want it", "want", false},
		{"sign or send", "send", true},
		{"sign or", "sign", true},
		{"why not read it and mail it", "mail", true},
		{"|send it", "send", false},
		{"use it to", "use", true},
		{"use it to send", "send", true},
		{"use it to send the note to print", "print", false},
	} {
		if licenses(tt.text, tt.verb) != tt.want {
			t.Errorf("%q asks to %s: %v", tt.text, tt.verb, !tt.want)
		}
	}
}

// Where a word that can be both is a noun, and where a verb.
func TestNounsAndVerbs(t *testing.T) {
	for _, tt := range []struct {
		text       string // the word is «mail»
		noun, verb bool
	}{
		{"mail", false, true},
		{"mail it", false, true},
		{"the mail", true, false},
		{"the (mail)", false, true},
		{"you mail", false, true},
		{"you don't mail", false, true},
		{"Ann mail", false, false},
		{"a@b.example mail", false, true},
		{"about mail", true, false},
		{"the 'mail'", false, true},
		{"谢mail", false, true},
	} {
		items := readItems(tt.text)
		at := slices.IndexFunc(items, func(it item) bool { return wordOf(it) == "mail" })
		if noun := NewLexicon().grammar().nounAt(items, at); noun != tt.noun {
			t.Errorf("%q: a noun: %v", tt.text, noun)
		}
		if verb := NewLexicon().grammar().verbAt(items, at); verb != tt.verb {
			t.Errorf("%q: a verb: %v", tt.text, verb)
		}
	}
}

func TestNegations(t *testing.T) {
	for text, want := range map[string]bool{
		"send it": false, "never": true, "I dont": true, "you can't": true, "can't forget": false, "can't hesitate": false, "why can't you": false,
		"stop it": true, "no": true, "no it": true, "no later": false, "no matter": false, "no problem": false, "no worries": false, "no more": false,
		"no 7": false, "no a7": false, "not": true, "not it": true, "not forget": false, "not hesitate": false, "not only": false, "why not": false,
		"or not": false, "instead": false, "instead of": true, "rather": false, "rather than": true, "rather good": false, "7 7": false,
	} {
		if NewLexicon().grammar().negated(readItems(text), nil) != want {
			t.Errorf("%q says no: %v", text, !want)
		}
	}
}

func TestAssentsInSeveralWords(t *testing.T) {
	for text, want := range map[string]bool{
		"go for it": true, "go for": false, "go": false, "go (for it)": false, "sounds good": true, "thank you": false, "thank you yes": true,
		"of course thanks": true, "good then": false, "good yes good": true,
	} {
		if NewLexicon().Assents(text) != want {
			t.Errorf("%q assents: %v", text, !want)
		}
	}
}

// A message is read up to its limit, and never up to the middle of a token.
func TestRequestsAtTheLimit(t *testing.T) {
	for extra, want := range map[int]string{0: "777", 1: ""} {
		end := ". Pay EUR 777"
		for _, r := range NewLexicon().Requests(strings.Repeat("x", maxStatedBytes-len(end)+extra) + end) {
			for _, amount := range []string{"7", "77", "777"} {
				if got := r.HasAsAmount(amount, hook.Number, "amount"); r.Licenses([]string{"pay"}) && got != (amount == want) {
					t.Errorf("%d bytes over the limit: %s is stated: %v", extra, amount, got)
				}
			}
		}
	}
}

func TestRequestsThatNameSomething(t *testing.T) {
	for text, want := range map[string]bool{"read it": false, `read "a b"`: true, "read a.txt": true, "read Ann": false} {
		if got := NewLexicon().Requests(text)[0].Names(); got != want {
			t.Errorf("%q names something: %v", text, got)
		}
	}
}
