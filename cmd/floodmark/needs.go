package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// one puts an article before a word.
func one(what string) string {
	if strings.ContainsRune("AEIO", rune(what[0])) {
		return "an " + what
	}
	return "a " + what
}

// needs accepts exactly one argument, called what.
func needs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("%s needs %s", cmd.CommandPath(), one(what))
		case len(args) > 1:
			return fmt.Errorf("%s takes one %s; %q is too many", cmd.CommandPath(), what, args[1])
		}
		return nil
	}
}

// groupArgs refuses a word that is neither one of the group's commands nor "help".
func groupArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || len(args) == 1 && args[0] == "help" {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if guesses := cmd.SuggestionsFor(args[0]); len(guesses) > 0 {
		text += "; did you mean " + either(guesses) + "?"
	}
	return errors.New(text)
}

// helpWidth is where help wraps: the width every terminal has.
const helpWidth = 80

// exitKey is the annotation with what a command's exit codes mean there.
const exitKey = "exit"

// exits notes what the codes 0 and 1 mean for a command. 2 and 3 mean the same
// everywhere.
func exits(ok, no string) map[string]string {
	text := "0  " + ok + "\n"
	if no != "" {
		text += "1  " + no + "\n"
	}
	return map[string]string{exitKey: text + commonExits}
}

// bothKey is the annotation of a command that both runs and has commands of its own.
const bothKey = "both"

func both(notes map[string]string) map[string]string {
	notes[bothKey] = "yes"
	return notes
}

const commonExits = "2  wrong usage, or a file that cannot be read or written\n3  an internal error"

func indent(text, by string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n")
}

// reason returns the end of an error's chain: what happened, without the context.
func reason(err error) string {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return fmt.Sprint(err)
}

// count is a number with its word.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// maxEcho is how much of a wrong input an error repeats.
const maxEcho = 40

func shorten(text string) string {
	if r := []rune(text); len(r) > maxEcho {
		return string(r[:maxEcho]) + "…"
	}
	return text
}
