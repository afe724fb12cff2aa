package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/text/linetext"
)

// A Choice is a flag that takes one of a few words.
type Choice struct {
	Name  string // the name of the value in help
	Value string
	Known []string
}

func (c *Choice) String() string { return c.Value }

// Set takes one of the known words.
func (c *Choice) Set(word string) error {
	if !slices.Contains(c.Known, word) {
		return fmt.Errorf("want one of %s", strings.Join(c.Known, ", "))
	}
	c.Value = word
	return nil
}

// Type is the name of the value in help.
func (c *Choice) Type() string { return c.Name }

// The forms of an answer.
const (
	AsText  = "text"
	AsJSON  = "json"
	AsSARIF = "sarif"
)

// OutputFlag is the flag that chooses the form of an answer.
const OutputFlag = "output"

// AddOutput gives a command the flag that chooses the form of the answer.
func AddOutput(cmd *cobra.Command, persistent bool, known ...string) {
	flags := cmd.Flags()
	if persistent {
		flags = cmd.PersistentFlags()
	}
	flags.VarP(&Choice{Name: "FORM", Value: AsText, Known: known}, OutputFlag, "o", "how to answer: "+strings.Join(known, ", "))
	Complete(cmd, OutputFlag, known)
}

// Complete completes the values of a flag.
func Complete(cmd *cobra.Command, flag string, words []string) {
	// The only error is a flag that does not exist, which every help test would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// Format returns the form that the user chose.
func Format(cmd *cobra.Command) string {
	if f := cmd.Flags().Lookup(OutputFlag); f != nil {
		return f.Value.String()
	}
	return AsText
}

// JSON writes a value for programs.
func (c *Console) JSON(v any) error {
	enc := json.NewEncoder(c.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Steps shows a command's progress to a person; for JSON it shows nothing.
func (c *Console) Steps(form string) *linetext.Steps {
	if form == AsJSON {
		return &linetext.Steps{}
	}
	return &linetext.Steps{To: c.Stderr, InPlace: c.StderrTerminal && c.Getenv("TERM") != "dumb"}
}

// Create writes a new file, and replaces an old one only with force.
func (c *Console) Create(name string, data []byte, force bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(c.Path(name), flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return Refuse("choose another name, or replace it with --force", "write %s: it exists already", name)
	}
	if err != nil {
		return Refuse("check that you may write there", "write %s: %s", name, Reason(err))
	}
	if _, err = f.Write(data); err == nil {
		err = f.Close()
	}
	if err != nil {
		return Refuse("check that there is room", "write %s: %s", name, Reason(err))
	}
	c.Say("wrote %s", name)
	return nil
}

// Outcome prints the answer to an order. The notice goes to standard output, because it is the
// answer. If the order was not followed, the command ends with exit code 1.
func (c *Console) Outcome(form string, done bool, notice string, asMessage func() error) error {
	st := c.OutStyle()
	paint := st.Green
	if !done {
		paint = st.Yellow
	}
	if form == AsJSON {
		if err := asMessage(); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.Stdout, paint(Plain(strings.TrimSpace(notice))))
	}
	if !done {
		return ErrNo
	}
	return nil
}
