package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/linetext"
)

// A console is all that a command sees of the world outside: streams, the
// environment, the folder it was started in. A test builds its own.
type console struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	// dir is the folder that relative names start from.
	dir                            string
	stdoutTerminal, stderrTerminal bool
	// stdinTerminal says that a person can be asked.
	stdinTerminal bool
	build         build
	// noColor is the flag --no-color.
	noColor bool
	// home is this user's, as the system has it, and usual are the owner's sockets of the monitor
	// there if no variable moves them.
	home  string
	usual []string
	// program is the path of this program; empty if the system does not say.
	program string
	// now is the clock; nil for the real one.
	now func() time.Time
	// shipped is the catalog that comes with the program; nil to read it.
	shipped func() (*catalog.Catalog, error)
}

// shippedCatalog returns the catalog that comes with the program.
func (c *console) shippedCatalog() (*catalog.Catalog, error) {
	if c.shipped == nil {
		return catalog.Shipped()
	}
	return c.shipped()
}

// clock is the time now.
func (c *console) clock() time.Time {
	if c.now == nil {
		return time.Now()
	}
	return c.now()
}

// maxInput bounds every file a command reads. A policy or story of this size
// is a mistake; the readers behind it have narrower limits of their own.
const maxInput = 16 << 20

// stdinName stands for standard input in place of a file name.
const stdinName = "-"

// path resolves a name given by the user.
func (c *console) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.dir, name)
}

// read returns the content of a file the user named, or of standard input.
func (c *console) read(name string) ([]byte, error) {
	if name == stdinName {
		return readAll("standard input", c.stdin)
	}
	info, err := os.Stat(c.path(name))
	if err != nil {
		return nil, unreadable(name, err)
	}
	if info.IsDir() {
		return nil, refuse("name a file", "read %s: it is a folder", name)
	}
	f, err := os.Open(c.path(name))
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer f.Close()
	return readAll(name, f)
}

func readAll(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, unreadable(name, err)
	}
	if len(data) > maxInput {
		return nil, refuse("split it", "read %s: larger than %d bytes", name, maxInput)
	}
	return data, nil
}

// unreadable says why a file cannot be read, without the name of the system call.
func unreadable(name string, err error) error {
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
	return refuse(hint, "read %s: %s", name, why)
}

// say writes a note to standard error, so that standard output can be used by a program.
func (c *console) say(format string, args ...any) {
	fmt.Fprintln(c.stderr, printable(fmt.Sprintf(format, args...)))
}

// printable drops what could steer a terminal from foreign text: a story or a policy may come from
// any source.
func printable(s string) string { return linetext.Printable(s) }

// A sink remembers a failed write, so that no command has to check after each line, and a full disk
// is not taken for success.
type sink struct {
	to  io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.to.Write(p)
	s.err = err
	return n, err
}
