package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/boxticket"
)

// maxNamed is how many paths or hosts one line names.
const maxNamed = 3

// advice is what an agent should know at the end of a command's output: what was
// written and is not there, and why the command may have failed. A command that
// did not fail is not told of what it did without.
func advice(o *boxticket.Outcome, s *box.Spec) (lines []string) {
	if refused := notKept(o.Changes); len(refused) > 0 {
		lines = append(lines, "not kept: "+some(refused)+": if it is wanted, write it in a call of its own")
	}
	if o.Unmoved != "" {
		lines = append(lines, "what it wrote was not kept, or not all of it: "+shown(o.Unmoved))
	}
	failed := o.Exit != 0 || o.Signal != 0
	switch {
	case failed && len(o.Hosts) > 0:
		lines = append(lines, "no network in the box: "+some(o.Hosts)+" was wanted: make the call that needs it (a push, a fetch, an install) on its own, without other commands")
	case failed && s.ReadOnly:
		lines = append(lines, "the project is read-only for a command in the background: let it write below /tmp")
	}
	if o.Left {
		lines = append(lines, "processes that were left running have ended with the command: start a server in a background call")
	}
	return lines
}

// notKept names what was refused, once for each reason.
func notKept(changes []boxticket.Change) (list []string) {
	paths := map[string][]string{}
	var reasons []string
	for _, c := range changes {
		if c.Refused == "" {
			continue
		}
		if paths[c.Refused] == nil {
			reasons = append(reasons, c.Refused)
		}
		paths[c.Refused] = append(paths[c.Refused], shown(c.Path))
	}
	for _, why := range reasons {
		list = append(list, some(paths[why])+" ("+shown(why)+")")
	}
	return list
}

// some names the first few.
func some(list []string) string {
	if len(list) <= maxNamed {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNamed], ", "), len(list)-maxNamed)
}

// shown writes foreign text on one line.
func shown(text string) string {
	quoted := strconv.Quote(text)
	if quoted == `"`+text+`"` {
		return text
	}
	return quoted
}
