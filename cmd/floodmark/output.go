package main

import (
	"encoding/json"
	"fmt"
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
