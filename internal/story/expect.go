package story

import (
	"fmt"
	"strings"
)

// expect compares a statement with how things stand:
//
//	mark TRUST/SECRECY         the session's mark
//	expect line TEXT           the refusal's one line contains TEXT
//	expect footer|notice|text|warning TEXT
//	expect no footer|notice|text|warning|ticket
//	expect turn blocked / expect consumed / expect ticket
//	expect calls VERDICT…      what after_llm_call said of each call
//	expect graph kept / expect context logged
func (w *world) expect(verb, rest string) (got string, ok bool) {
	if verb == "mark" {
		got = w.session().state.Mark().String()
		return "the mark is " + got, got == rest
	}
	what, text, _ := strings.Cut(rest, " ")
	switch what {
	case "turn":
		return "the turn is not blocked", w.reply.BlockTurn == (text == "blocked")
	case "consumed":
		return "the message is passed on to the model", w.reply.Consumed
	case "ticket":
		return "nobody was asked", w.reply.Ticket != ""
	case "calls":
		var words []string
		for _, d := range w.reply.Calls {
			words = append(words, d.Verdict.String())
		}
		got = strings.Join(words, " ")
		return "the calls would be: " + got, got == text
	case "no":
		got = w.part(text)
		return fmt.Sprintf("there is one: %q", got), got == ""
	}
	got = w.part(what)
	return fmt.Sprintf("the %s is %q", what, got), text != "" && strings.Contains(got, text)
}

// part is one text of the last answer.
func (w *world) part(what string) string {
	switch what {
	case "line":
		return w.reply.Line
	case "footer":
		return w.reply.Footer
	case "notice":
		return w.reply.Notice
	case "text":
		return w.reply.Text
	case "warning":
		return w.reply.Warning
	case "ticket":
		return string(w.reply.Ticket)
	}
	return "(stories know no " + what + ")"
}
