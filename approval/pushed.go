package approval

import (
	"fmt"
	"strings"
)

// What a card shows of a push: more of it is shown at a terminal only.
const (
	maxPushLines = 40
	maxPushBytes = 1800
)

// pushed are the lines of a card about a push, and whether they show all of it.
func (q Question) pushed() (lines []Phrase, whole bool) {
	p := q.Push
	switch {
	case p == nil:
		return nil, true
	case !p.Reviewed():
		if p.Unseen == "" {
			return nil, true
		}
		return []Phrase{Phrase{}.say("(!) What it sends is not shown: " + p.Unseen + ". After a yes the agent itself pushes whatever is there then.")}, true
	}
	for _, l := range p.Head {
		lines = append(lines, Phrase{}.say(l))
	}
	lines = append(lines, Phrase{}.say("After a yes the monitor pushes exactly this as soon as the agent asks again, and the agent pushes nothing."))
	if len(p.Body) > maxPushLines || len(strings.Join(p.Body, "\n")) > maxPushBytes {
		return append(lines, Phrase{}.say(fmt.Sprintf("The diff has %d lines. Look at it with «floodmark approve».", len(p.Body)))), false
	}
	for _, l := range p.Body {
		lines = append(lines, Phrase{}.say(l))
	}
	return lines, true
}
