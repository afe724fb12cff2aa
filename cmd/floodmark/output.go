package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/linetext"
)

// A choice is a flag that takes one of a few words.
type choice struct {
	name  string // what help calls the value
	value string
	known []string
}

func (c *choice) String() string { return c.value }

// Set takes one of the known words.
func (c *choice) Set(word string) error {
	if !slices.Contains(c.known, word) {
		return fmt.Errorf("want one of %s", strings.Join(c.known, ", "))
	}
	c.value = word
	return nil
}

// Type is what help shows for the value.
func (c *choice) Type() string { return c.name }

// The forms of an answer.
const (
	asText  = "text"
	asJSON  = "json"
	asSARIF = "sarif"
)

const outputFlag = "output"

// addOutput gives a command the flag that says in which form to answer.
func addOutput(cmd *cobra.Command, persistent bool, known ...string) {
	flags := cmd.Flags()
	if persistent {
		flags = cmd.PersistentFlags()
	}
	flags.VarP(&choice{name: "FORM", value: asText, known: known}, outputFlag, "o", "how to answer: "+strings.Join(known, ", "))
	complete(cmd, outputFlag, known)
}

// complete lets shells offer the words a flag takes.
func complete(cmd *cobra.Command, flag string, words []string) {
	// The only error is a flag that does not exist, which every help test would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// format is the form the user asked for.
func format(cmd *cobra.Command) string {
	if f := cmd.Flags().Lookup(outputFlag); f != nil {
		return f.Value.String()
	}
	return asText
}

// json writes a value for programs.
func (c *console) json(v any) error {
	enc := json.NewEncoder(c.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// steps shows the steps of a command to a person, and nothing to a program.
func (c *console) steps(form string) *linetext.Steps {
	if form == asJSON {
		return &linetext.Steps{}
	}
	return &linetext.Steps{To: c.stderr, InPlace: c.stderrTerminal && c.getenv("TERM") != "dumb"}
}

// create writes a new file, and replaces an old one only with force.
func (c *console) create(name string, data []byte, force bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(c.path(name), flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return refuse("choose another name, or replace it with --force", "write %s: it exists already", name)
	}
	if err != nil {
		return refuse("check that you may write there", "write %s: %s", name, reason(err))
	}
	if _, err = f.Write(data); err == nil {
		err = f.Close()
	}
	if err != nil {
		return refuse("check that there is room", "write %s: %s", name, reason(err))
	}
	c.say("wrote %s", name)
	return nil
}

// outcome reports how an order was taken. The notice is the answer, so it goes to standard output;
// an order that was not followed ends with exit code 1.
func (c *console) outcome(form string, done bool, notice string, asMessage func() error) error {
	st := c.outStyle()
	paint := st.green
	if !done {
		paint = st.yellow
	}
	if form == asJSON {
		if err := asMessage(); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.stdout, paint(plain(strings.TrimSpace(notice))))
	}
	if !done {
		return errNo
	}
	return nil
}
