package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// One puts an article before a word.
func One(what string) string {
	if strings.ContainsRune("AEIO", rune(what[0])) {
		return "an " + what
	}
	return "a " + what
}

// Needs accepts exactly one argument, called what.
func Needs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("%s needs %s", cmd.CommandPath(), One(what))
		case len(args) > 1:
			return fmt.Errorf("%s takes one %s; %q is too many", cmd.CommandPath(), what, args[1])
		}
		return nil
	}
}

// GroupArgs refuses a word that is neither one of the group's commands nor "help".
func GroupArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || len(args) == 1 && args[0] == "help" {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if guesses := cmd.SuggestionsFor(args[0]); len(guesses) > 0 {
		text += "; did you mean " + Either(guesses) + "?"
	}
	return errors.New(text)
}

// HelpWidth is where help wraps: the width every terminal has.
const HelpWidth = 80

// ExitKey is the annotation with what a command's exit codes mean there.
const ExitKey = "exit"

// Exits notes what the codes 0 and 1 mean for a command. 2 and 3 mean the same
// everywhere.
func Exits(ok, no string) map[string]string {
	text := "0  " + ok + "\n"
	if no != "" {
		text += "1  " + no + "\n"
	}
	return map[string]string{ExitKey: text + CommonExits}
}

// BothKey is the annotation of a command that both runs and has commands of its own.
const BothKey = "both"

// Both notes that a command does something by itself and has commands of its own.
func Both(notes map[string]string) map[string]string {
	notes[BothKey] = "yes"
	return notes
}

// CommonExits says what the codes 2 and 3 mean for every command.
const CommonExits = "2  wrong usage, or a file that cannot be read or written\n3  an internal error"

// Indent puts something before each line that is not empty.
func Indent(text, by string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n")
}

// Reason returns the end of an error's chain: what happened, without the context.
func Reason(err error) string {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return fmt.Sprint(err)
}

// Count is a number with its word.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// maxEcho is how much of a wrong input an error repeats.
const maxEcho = 40

// Shorten cuts a text that is repeated in an error.
func Shorten(text string) string {
	if r := []rune(text); len(r) > maxEcho {
		return string(r[:maxEcho]) + "…"
	}
	return text
}
