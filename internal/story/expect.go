package story

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// expect compares a statement with the state of the world. An error means that the statement is
// invalid.
//
//	mark TRUST/SECRECY         the session's mark
//	expect line TEXT           the refusal's one line contains TEXT
//	expect footer|notice|text|warning TEXT
//	expect case TEXT           the auditor is shown TEXT
//	expect request TEXT        verifiers are shown TEXT
//	expect offers TEXT         the approvals the question offers contain TEXT
//	expect hosts TEXT          the hosts that its box may let the call reach contain TEXT
//	expect warning-of policy TEXT   loading the policy said TEXT
//	expect no line [TEXT]      there is none, or TEXT is not in it (also footer, …)
//	expect ticket / expect consumed / expect no ticket / expect no consumed
//	expect no calls            after_llm_call said nothing of calls
//	expect turn blocked / expect turn open
//	expect calls VERDICT…      what after_llm_call said of each call
//	expect incident KIND       something ran that should not have
func (w *world) expect(verb, rest string) (got string, ok bool, err error) {
	if verb == "mark" {
		return w.expectMark(rest)
	}
	what, text, _ := strings.Cut(rest, " ")
	text = strings.TrimSpace(text)
	if what == "no" {
		return w.expectNo(text)
	}
	if slices.Contains(texts(), what) {
		text, err = ofPolicy(what, text)
		if err == nil && text == "" {
			err = misused(verb, fmt.Errorf("«expect %s» needs a text that is looked for", what))
		}
		got = w.part(what)
		return fmt.Sprintf("the %s is %q", what, got), strings.Contains(got, text), err
	}
	switch what {
	case "turn":
		blocked := map[bool]string{true: "blocked", false: "open"}[w.reply.BlockTurn]
		return "the turn is " + blocked, blocked == text, oneOf(what, text, "blocked", "open")
	case "consumed":
		return "the message is passed on to the model", w.reply.Consumed, oneOf(what, text, "")
	case "ticket":
		return "nobody was asked", w.reply.Ticket != "", oneOf(what, text, "")
	case "calls":
		return w.expectCalls(text)
	case "incident":
		return w.expectIncident(text)
	}
	return "", false, misused(verb, unknown("statement behind «expect»", what, statements()))
}

// texts lists the texts of an answer that a statement can search.
func texts() []string {
	return []string{"line", "footer", "notice", "text", "warning", "system-prompt", "case", "request", "offers", "hosts", "warning-of"}
}

func statements() []string {
	return append(texts(), "ticket", "consumed", "turn", "calls", "incident", "no")
}

// oneOf returns an error if the text after a statement's name is not one of the known words.
func oneOf(what, text string, known ...string) error {
	switch {
	case slices.Contains(known, text):
		return nil
	case slices.Equal(known, []string{""}):
		return fmt.Errorf("behind «expect %s» nothing more is written, not %q", what, text)
	}
	return unknown("word behind «expect "+what+"»", text, known)
}

// ofPolicy removes the word that says whose warning it is; only «policy» is allowed.
func ofPolicy(what, text string) (string, error) {
	if what != "warning-of" {
		return text, nil
	}
	of, more, _ := strings.Cut(text, " ")
	return strings.TrimSpace(more), oneOf(what, of, "policy")
}

func (w *world) expectMark(rest string) (got string, ok bool, err error) {
	trust, secrecy, ok := strings.Cut(rest, "/")
	if !ok {
		return "", false, misused("mark", errUsage)
	}
	_, err = floodmark.ParseTrust(trust)
	if err == nil {
		_, err = floodmark.ParseSecrecy(secrecy)
	}
	if err != nil {
		return "", false, misused("mark", err)
	}
	got = w.session().state.Mark().String()
	return "the mark is " + got, got == rest, nil
}

func (w *world) expectNo(rest string) (got string, ok bool, err error) {
	what, text, _ := strings.Cut(rest, " ")
	text = strings.TrimSpace(text)
	switch {
	case what == "ticket":
		return "a person was asked", w.reply.Ticket == "", oneOf("no "+what, text, "")
	case what == "consumed":
		return "the message is kept from the model", !w.reply.Consumed, oneOf("no "+what, text, "")
	case what == "calls":
		return "there are calls", len(w.reply.Calls) == 0, oneOf("no "+what, text, "")
	case !slices.Contains(texts(), what):
		return "", false, misused("expect", unknown("statement behind «expect no»", what, append(texts(), "ticket", "consumed", "calls")))
	}
	text, err = ofPolicy(what, text)
	got = w.part(what)
	return fmt.Sprintf("the %s is %q", what, got), got == "" || text != "" && !strings.Contains(got, text), err
}

func (w *world) expectCalls(text string) (got string, ok bool, err error) {
	want := strings.Fields(text)
	if len(want) == 0 {
		return "", false, errors.New("«expect calls» needs a verdict for each call, such as «expect calls allow confirm»; «expect no calls» if there are none")
	}
	for _, word := range want {
		if !slices.Contains(verdicts(), word) {
			return "", false, unknown("verdict", word, verdicts())
		}
	}
	var words []string
	for _, d := range w.reply.Calls {
		words = append(words, d.Word())
	}
	return "the calls would be: " + strings.Join(words, " "), slices.Equal(words, want), nil
}

// expectIncident looks for an incident of one kind in the current session.
func (w *world) expectIncident(kind string) (got string, ok bool, err error) {
	if kind == "" {
		return "", false, errors.New("«expect incident» needs a kind, such as «expect incident unmediated-call»")
	}
	var seen []string
	for _, f := range w.session().facts {
		if i, is := f.(floodmark.IncidentSeen); is {
			seen = append(seen, i.Kind)
		}
	}
	if len(seen) == 0 {
		return "there was no incident", false, nil
	}
	return "the incidents are: " + strings.Join(seen, ", "), slices.Contains(seen, kind), nil
}

// part returns one text of the last answer.
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
	case "system-prompt":
		return w.reply.SystemPrompt
	case "case":
		return w.asked
	case "request":
		return w.shown
	case "hosts":
		return strings.Join(w.reply.Hosts, " ")
	case "offers":
		return w.offers()
	case "warning-of":
		return w.warnings
	}
	return ""
}

// offers returns the approvals that the last question offers, in words.
func (w *world) offers() string {
	if w.out.Ask == nil {
		return ""
	}
	var list []string
	for _, o := range w.out.Ask.Call.Offers {
		list = append(list, o.Words)
	}
	return strings.Join(list, "; ")
}
