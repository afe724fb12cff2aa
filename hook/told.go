package hook

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// Held returns the line of a question, worded for the model rather than for the person.
func (r Reply) Held() string {
	const yours, theirs = ": waits for your approval", ": waits for the person's approval"
	line := strings.TrimSpace(strings.TrimSuffix(r.Line, r.Decision.Remedy.Person))
	if at := strings.LastIndex(line, yours); at >= 0 { // the text before may be foreign
		line = line[:at] + theirs + line[at+len(yours):]
	}
	return line
}

// maxTicket bounds the name of a question in a line.
const maxTicket = 64

// Told returns the line of a reply, worded for the model. For a question it adds the ticket and
// what to do after the answer.
func (r Reply) Told() string {
	if r.Ticket == "" || r.Decision.Verdict != floodmark.Confirm || r.Line == "" {
		return r.Line
	}
	return r.Held() + " The person answers question " + floodmark.OneLine(string(r.Ticket), maxTicket) + " with «floodmark watch» in a terminal; after a yes, the same call passes."
}
