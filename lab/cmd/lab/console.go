package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/linetext"
)

// A console is all that a command sees of the world outside. A test builds its own.
type console struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	dir            string // what relative names mean
	stderrTerminal bool
	version        string // the commit this program was built from
}

// A failure is an error a person has to do something about.
type failure struct {
	code int
	text string // what happened
	hint string // what to do
}

func (f *failure) Error() string { return f.text }

// refuse is a failure for wrong usage or input that cannot be read.
func refuse(hint, format string, args ...any) error {
	return &failure{code: exitUsage, text: fmt.Sprintf(format, args...), hint: hint}
}

// guard runs a command in the form that was asked for, and marks every error that is not
// already a failure as a fault of this program.
func guard(do func(cmd *cobra.Command, form string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		form := cmd.Flag(outputFlag).Value.String()
		err := oneOf("--"+outputFlag, []string{form}, []string{asText, asJSON})
		if err == nil {
			err = do(cmd, form)
		}
		if f := (&failure{}); err != nil && !errors.As(err, &f) {
			return &failure{code: exitInternal, text: "internal error: " + err.Error()}
		}
		return err
	}
}

// oneOf refuses words that a flag does not know.
func oneOf(flag string, words, known []string) error {
	for _, w := range words {
		if !slices.Contains(known, w) {
			return refuse("known are "+strings.Join(known, ", "), "%s: there is no %q", flag, w)
		}
	}
	return nil
}

// The forms of an answer.
const (
	outputFlag = "output"
	asText     = "text"
	asJSON     = "json"
)

// json writes a value for programs.
func (c *console) json(v any) error {
	enc := json.NewEncoder(c.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// path is where a name given by the user lies.
func (c *console) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.dir, name)
}

// newProgress shows how far a long command is.
func (c *console) newProgress(label string) *linetext.Bar {
	return &linetext.Bar{To: c.stderr, Terminal: c.stderrTerminal, Label: label}
}

// complete lets shells offer the words a flag takes.
func complete(cmd *cobra.Command, flag string, words []string) {
	// The only error is a flag that does not exist, which the tests of its command show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// plain drops what could steer a terminal from text that others wrote.
func plain(s string) string { return linetext.Printable(s) }

// profiles are the policies that come with the product.
func profiles() []string { return []string{"assistant", "coding", "strict", "dry-run"} }

// service reads the settings of the monitor in a folder, or of the usual one.
func (c *console) service(dir string) (config.Service, config.Paths, error) {
	paths := config.DirPaths(c.path(dir))
	if dir == "" {
		var err error
		if paths, err = config.UserPaths(c.getenv, c.getenv("HOME")); err != nil {
			return config.Service{}, paths, refuse("", "%s", err)
		}
	}
	s, err := config.LoadService(paths.Service)
	return s, paths, err
}
