package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/text/spelling"
)

// The exit codes. Scripts rely on them, so their meaning never changes.
const (
	ExitOK       = 0
	ExitNo       = 1 // the answer is no, a story failed, or a problem was found
	ExitUsage    = 2 // wrong usage, or input that cannot be read
	ExitInternal = 3 // our own fault
)

// ErrNo ends a command whose answer is no, after all of the answer was printed.
var ErrNo = errors.New("the answer is no")

// A Failure is an error that a person has to act on.
type Failure struct {
	Code int
	Text string // what happened, with file and line where there is one
	Hint string // what to do
}

func (f *Failure) Error() string { return f.Text }

// Refuse returns a failure for wrong usage or input that cannot be read.
func Refuse(hint, format string, args ...any) error {
	return &Failure{Code: ExitUsage, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// Broken returns a failure for a bug of ours.
func Broken(err error) error {
	return &Failure{
		Code: ExitInternal, Text: "internal error: " + err.Error(),
		Hint: "this is a bug: please report it with the command you ran",
	}
}

// A Runner is what a command does.
type Runner func(cmd *cobra.Command, args []string) error

// Guard turns every error that is not already a failure into an internal error. So an error that
// Execute returns without a failure comes from parsing the command line.
func Guard(run Runner) Runner {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		var f *Failure
		var s Status
		if err == nil || errors.Is(err, ErrNo) || errors.As(err, &f) || errors.As(err, &s) {
			return err
		}
		return Broken(err)
	}
}

// Report prints an error and returns its exit code. cmd is nil after a panic.
func (c *Console) Report(cmd *cobra.Command, err error) int {
	var f *Failure
	var s Status
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &s):
		return int(s)
	case errors.Is(err, ErrNo):
		return ExitNo
	case !errors.As(err, &f):
		f = &Failure{Code: ExitUsage, Text: usageText(err), Hint: fmt.Sprintf("run «%s --help» to see how it is used", cmd.CommandPath())}
	}
	program := "floodmark"
	if cmd != nil {
		program = cmd.Root().Name()
	}
	st := c.ErrStyle()
	fmt.Fprintf(c.Stderr, "%s %s\n", st.Red(program+":"), Printable(f.Text))
	if f.Hint != "" {
		fmt.Fprintf(c.Stderr, "  %s\n", Printable(f.Hint))
	}
	return f.Code
}

// usageText rewords cobra's message, on one line.
func usageText(err error) string {
	exclusive := regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)
	if m := exclusive.FindStringSubmatch(err.Error()); m != nil {
		return "give one of --" + strings.Join(strings.Fields(m[1]), " and --") + ", not both"
	}
	text, guesses, found := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	if !found {
		return strings.TrimSpace(text)
	}
	return strings.TrimSpace(text) + "; did you mean " + spelling.Either(strings.Fields(guesses)) + "?"
}

// A Status ends a command with that exit code, after all output was printed.
type Status int

func (s Status) Error() string { return "exit status " + strconv.Itoa(int(s)) }
