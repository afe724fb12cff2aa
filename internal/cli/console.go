// Package cli contains what the commands share: the console through which they see the outside, the
// flags that choose an installation, and how answers look.
package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/text/linetext"
)

// A Console is all that a command sees of the outside: streams, the environment, the folder it was
// started in. Tests make their own.
type Console struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Dir is the folder that relative names start from.
	Dir                            string
	StdoutTerminal, StderrTerminal bool
	// StdinTerminal says that a person can be asked.
	StdinTerminal bool
	Build         Build
	// NoColor is the flag --no-color.
	NoColor bool
	// Home is this user's home folder according to the system, not to a variable. Usual are the
	// owner's sockets of the monitor there, unless variables put them elsewhere.
	Home  string
	Usual []string
	// Program is the path of this program; empty if the system does not say.
	Program string
	// Now is the clock; nil: the real one.
	Now func() time.Time
	// Shipped returns the catalog that comes with the program; nil: it is read.
	Shipped func() (*catalog.Catalog, error)
}

// ShippedCatalog returns the catalog that comes with the program.
func (c *Console) ShippedCatalog() (*catalog.Catalog, error) {
	if c.Shipped == nil {
		return catalog.Shipped()
	}
	return c.Shipped()
}

// Clock returns the time now.
func (c *Console) Clock() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// MaxInput bounds every file that a command reads. A larger policy or story is a mistake; their
// readers have lower limits of their own.
const MaxInput = 16 << 20

// StdinName is given instead of a file name to read standard input.
const StdinName = "-"

// Path resolves a name given by the user.
func (c *Console) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Dir, name)
}

// Read returns the content of a file the user named, or of standard input.
func (c *Console) Read(name string) ([]byte, error) {
	if name == StdinName {
		return readAll("standard input", c.Stdin)
	}
	info, err := os.Stat(c.Path(name))
	if err != nil {
		return nil, Unreadable(name, err)
	}
	if info.IsDir() {
		return nil, Refuse("name a file", "read %s: it is a folder", name)
	}
	f, err := os.Open(c.Path(name))
	if err != nil {
		return nil, Unreadable(name, err)
	}
	defer f.Close()
	return readAll(name, f)
}

func readAll(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxInput+1))
	if err != nil {
		return nil, Unreadable(name, err)
	}
	if len(data) > MaxInput {
		return nil, Refuse("split it", "read %s: larger than %d bytes", name, MaxInput)
	}
	return data, nil
}

// Unreadable says why a file cannot be read, without the name of the system call.
func Unreadable(name string, err error) error {
	why, hint := err.Error(), ""
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why, hint = "there is no such file", "check the name and the folder you are in"
	case errors.Is(err, fs.ErrPermission):
		why, hint = "you may not read it", "check its permissions"
	case errors.As(err, &at):
		why = at.Err.Error()
	}
	return Refuse(hint, "read %s: %s", name, why)
}

// Say writes a note to standard error, so that standard output can be used by a program.
func (c *Console) Say(format string, args ...any) {
	fmt.Fprintln(c.Stderr, Printable(fmt.Sprintf(format, args...)))
}

// Printable removes characters that could control a terminal. Texts such as stories or policies may
// come from any source.
func Printable(s string) string { return linetext.Printable(s) }

// A Sink remembers a failed write, so that commands need not check after each line, and a full disk
// is not taken for success.
type Sink struct {
	To  io.Writer
	Err error
}

// Write writes to To. After an error it writes nothing and returns that error.
func (s *Sink) Write(p []byte) (int, error) {
	if s.Err != nil {
		return 0, s.Err
	}
	n, err := s.To.Write(p)
	s.Err = err
	return n, err
}
