package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/text/spelling"
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
		text += "; did you mean " + spelling.Either(guesses) + "?"
	}
	return errors.New(text)
}

// HelpWidth is the width at which help wraps. Every terminal has it.
const HelpWidth = 80

// ExitKey is the annotation with the meaning of a command's exit codes.
const ExitKey = "exit"

// Exits returns the annotation that says what the codes 0 and 1 mean for a command. 2 and 3 mean
// the same for all commands.
func Exits(ok, no string) map[string]string {
	text := "0  " + ok + "\n"
	if no != "" {
		text += "1  " + no + "\n"
	}
	return map[string]string{ExitKey: text + CommonExits}
}

// BothKey is the annotation of a command that does something by itself and also has subcommands.
const BothKey = "both"

// Both adds that annotation.
func Both(notes map[string]string) map[string]string {
	notes[BothKey] = "yes"
	return notes
}

// CommonExits says what the codes 2 and 3 mean.
const CommonExits = "2  wrong usage, or a file that cannot be read or written\n3  an internal error"

// Indent puts by before each line that is not empty.
func Indent(text, by string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n")
}

// Reason returns the innermost error of a chain: what happened, without the context.
func Reason(err error) string {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return fmt.Sprint(err)
}

// Count returns a number with its noun, singular or plural.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// maxEcho is how many characters of a wrong input an error repeats.
const maxEcho = 40

// Shorten cuts a text that is repeated in an error.
func Shorten(text string) string {
	if r := []rune(text); len(r) > maxEcho {
		return string(r[:maxEcho]) + "…"
	}
	return text
}
