package main

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/boxticket"
)

// maxNamed is how many paths or hosts one line names.
const maxNamed = 3

// advice returns what an agent should know after a command's output: what the command wrote that
// was not kept, and why it may have failed. If the command did not fail, advice does not mention
// what the box withheld.
func advice(o *boxticket.Outcome, s *box.Spec, command, env []string, dir string) (lines []string) {
	if refused := notKept(o.Changes); len(refused) > 0 {
		lines = append(lines, "not kept: "+some(refused)+": if it is wanted, write it in a call of its own")
	}
	if o.Unmoved != "" {
		lines = append(lines, "what it wrote was not kept, or not all of it: "+shown(o.Unmoved))
	}
	if o.Exit != 0 || o.Signal != 0 {
		lines = append(lines, whyFailed(o, s, command, env, dir)...)
	}
	if o.Left {
		lines = append(lines, "processes that were left running have ended with the command: start a server in a background call")
	}
	return lines
}

// whyFailed guesses what a failed command was missing. It makes only checks that are faster than a
// short command.
func whyFailed(o *boxticket.Outcome, s *box.Spec, command, env []string, dir string) (lines []string) {
	switch {
	case len(o.Hosts) > 0:
		lines = append(lines, "no network in the box: "+some(o.Hosts)+" was wanted: make the part of the line that needs it a call of its own, or make the same call again: then a person is asked")
	case service(command) != "":
		lines = append(lines, "no service of the machine can be reached from the box, so "+service(command)+" has nothing to talk to: leave this to the person, or do without it")
	case s.ReadOnly:
		lines = append(lines, "the project is read-only for a command in the background: let it write below /tmp")
	}
	if missing := hidden(s, command, dir); len(missing) > 0 {
		lines = append(lines, some(missing)+" is empty in the box, because it keeps secrets: leave what needs it to the person, or do without it")
	}
	if missing := unset(command, env); len(missing) > 0 {
		lines = append(lines, "not set in the box, because variables may hold logins: "+some(missing)+": if it is no secret, write it before the command (NAME=value command)")
	}
	return lines
}

// notKept lists the changes that were refused, grouped by reason.
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

// words returns the words of a command line without quotes and operators of the shell.
func words(command []string) []string {
	return strings.FieldsFunc(strings.Join(command, " "), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>'\"", r) })
}

// hidden returns the files that a command line names and that the box shows empty, if the command
// runs in dir.
func hidden(s *box.Spec, command []string, dir string) (list []string) {
	for _, word := range words(command) {
		_, value, _ := strings.Cut(word, "=") // --env-file=.env
		for _, name := range []string{word, value} {
			at := name
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
			rel, err := filepath.Rel(s.Project, at)
			if err == nil && name != "" && s.Hides(rel) && !slices.Contains(list, shown(name)) {
				list = append(list, shown(name))
			}
		}
	}
	return list
}

// unset returns the variables that a command line uses, that the agent has and that the box
// removed. Variables that the line sets itself are left out.
func unset(command, env []string) (list []string) {
	const shortest = 3 // a shorter name may appear by accident
	line := strings.Join(command, " ")
	named := strings.FieldsFunc(line, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, name := range box.Dropped(env) {
		if len(name) >= shortest && slices.Contains(named, name) && !strings.Contains(line, name+"=") {
			list = append(list, shown(name))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// service returns a program in the command line that only talks to a service of the machine; empty
// if there is none.
func service(command []string) string {
	for _, word := range words(command) {
		switch name := path.Base(word); name {
		case "docker", "docker-compose", "podman", "nerdctl", "systemctl":
			return name
		}
	}
	return ""
}

// some lists the first few names, and how many more there are.
func some(list []string) string {
	if len(list) <= maxNamed {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNamed], ", "), len(list)-maxNamed)
}

// shown returns foreign text on one line.
func shown(text string) string {
	quoted := strconv.Quote(text)
	if quoted == `"`+text+`"` {
		return text
	}
	return quoted
}
