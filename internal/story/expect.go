package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// expect compares a statement with how things stand:
//
//	mark TRUST/SECRECY         the session's mark
//	expect line TEXT           the refusal's one line contains TEXT
//	expect footer|notice|text|warning TEXT
//	expect no footer|notice|text|warning|ticket
//	expect turn blocked / expect consumed / expect ticket
//	expect calls VERDICT…      what after_llm_call said of each call
//	expect no line TEXT        … and this is not in it (also footer, notice, …)
//	expect graph kept / expect context logged
//	expect case TEXT           the auditor is shown TEXT
//	expect no case TEXT        … and not this
//	expect incident KIND       something ran that should not have
//	expect warning-of policy TEXT   loading the policy said TEXT
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
	case "graph":
		return "the graph is not kept", w.out.PersistGraph
	case "context":
		return "the context is not logged", w.out.LogFullContext
	case "incident":
		return "there is no such incident", w.incident(text)
	case "no":
		name, lacks, some := strings.Cut(text, " ")
		got = w.part(name)
		return fmt.Sprintf("the %s is %q", name, got), got == "" || some && !strings.Contains(got, lacks)
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
	case "case":
		return w.asked
	case "warning-of":
		return w.warnings
	}
	return "(stories know no " + what + ")"
}

// incident reports whether the current session has seen one of this kind.
func (w *world) incident(kind string) bool {
	return slices.ContainsFunc(w.session().facts, func(f floodmark.Fact) bool {
		i, ok := f.(floodmark.IncidentSeen)
		return ok && i.Kind == kind
	})
}
