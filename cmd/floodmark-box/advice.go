package main

import (
	"fmt"
	"path"
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
func advice(o *boxticket.Outcome, s *box.Spec, command []string) (lines []string) {
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
	case failed && service(command) != "":
		lines = append(lines, "no service of the machine can be reached from the box, so "+service(command)+" has nothing to talk to: leave this to the person, or do without it")
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

// service is a program in a command line that only speaks with a service of the
// machine, or empty.
func service(command []string) string {
	words := strings.FieldsFunc(strings.Join(command, " "), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"", r) })
	for _, word := range words {
		switch name := path.Base(word); name {
		case "docker", "docker-compose", "podman", "nerdctl", "systemctl":
			return name
		}
	}
	return ""
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
