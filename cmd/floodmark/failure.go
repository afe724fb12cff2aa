package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes. Scripts rely on them: they never change their meaning.
const (
	exitOK       = 0
	exitNo       = 1 // the answer is no, a story failed, a problem was found
	exitUsage    = 2 // wrong usage, or input that cannot be read
	exitInternal = 3 // our own fault
)

// errNo ends a command whose answer is no, after all of it has been printed.
var errNo = errors.New("the answer is no")

// A failure is an error that a person has to act on.
type failure struct {
	code int
	text string // what happened, with file and line where there is one
	hint string // what to do
}

func (f *failure) Error() string { return f.text }

// refuse is a failure for wrong usage or input that cannot be read.
func refuse(hint, format string, args ...any) error {
	return &failure{code: exitUsage, text: fmt.Sprintf(format, args...), hint: hint}
}

// broken is a failure that is our own bug.
func broken(err error) error {
	return &failure{
		code: exitInternal, text: "internal error: " + err.Error(),
		hint: "this is a bug: please report it with the command you ran",
	}
}

type runner func(cmd *cobra.Command, args []string) error

// guard marks every error that is not already a failure as our bug. What Execute returns unmarked
// then comes from reading the command line.
func guard(run runner) runner {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		var f *failure
		var s status
		if err == nil || errors.Is(err, errNo) || errors.As(err, &f) || errors.As(err, &s) {
			return err
		}
		return broken(err)
	}
}

// report prints an error and returns the exit code for it.
func (c *console) report(cmd *cobra.Command, err error) int {
	var f *failure
	var s status
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &s):
		return int(s)
	case errors.Is(err, errNo):
		return exitNo
	case !errors.As(err, &f):
		f = &failure{code: exitUsage, text: usageText(err), hint: fmt.Sprintf("run «%s --help» to see how it is used", cmd.CommandPath())}
	}
	st := c.errStyle()
	fmt.Fprintf(c.stderr, "%s %s\n", st.red("floodmark:"), printable(f.text))
	if f.hint != "" {
		fmt.Fprintf(c.stderr, "  %s\n", printable(f.hint))
	}
	return f.code
}

// usageText returns cobra's message in our words, on one line.
func usageText(err error) string {
	exclusive := regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)
	if m := exclusive.FindStringSubmatch(err.Error()); m != nil {
		return "give one of --" + strings.Join(strings.Fields(m[1]), " and --") + ", not both"
	}
	text, guesses, found := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	if !found {
		return strings.TrimSpace(text)
	}
	return strings.TrimSpace(text) + "; did you mean " + either(strings.Fields(guesses)) + "?"
}

// either joins words with commas and «or».
func either(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}

// A status ends a command with that exit code, after all of its output.
type status int

func (s status) Error() string { return "exit status " + strconv.Itoa(int(s)) }
