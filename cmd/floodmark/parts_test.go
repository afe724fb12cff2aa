package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
)

func TestReportNeverShowsAStack(t *testing.T) {
	var b bytes.Buffer
	c := &cli.Console{Stderr: &b, Getenv: func(string) string { return "" }}
	err := cli.Guard(func(*cobra.Command, []string) error { return errors.New("disk on fire") })(nil, nil)
	if code := c.Report(nil, err); code != cli.ExitInternal {
		t.Errorf("code %d", code)
	}
	if got := b.String(); !strings.Contains(got, "internal error: disk on fire") || !strings.Contains(got, "report it") {
		t.Errorf("got %q", got)
	}
}

// A panic is printed as a sentence. Here a command panics when it reads its environment.
func TestPanicIsASentence(t *testing.T) {
	var out, errs bytes.Buffer
	c := &cli.Console{Stdout: &out, Stderr: &errs, Stdin: strings.NewReader(""), Getenv: func(name string) string {
		if name == "HOME" {
			panic("no environment")
		}
		return ""
	}}
	if code := run(t.Context(), c, []string{"status"}); code != cli.ExitInternal {
		t.Errorf("code %d", code)
	}
	if got := errs.String(); strings.Contains(got, "goroutine") || !strings.Contains(got, "this is a bug") {
		t.Errorf("got %q", got)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestFullDiskIsNoSuccess(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"version", "-o", "json"}, {"policy", "catalog", "show"}, {"help"}} {
		var errs bytes.Buffer
		c := &cli.Console{Stdout: fullDisk{}, Stderr: &errs, Stdin: strings.NewReader(""), Getenv: func(string) string { return "" }}
		if code := run(t.Context(), c, args); code == cli.ExitOK || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%v: code %d, %s", args, code, errs.String())
		}
	}
}

func TestReadHasALimit(t *testing.T) {
	c := &cli.Console{Stdin: strings.NewReader(strings.Repeat("x", cli.MaxInput))}
	if data, err := c.Read(cli.StdinName); err != nil || len(data) != cli.MaxInput {
		t.Errorf("at the limit: %d bytes, %v", len(data), err)
	}
	c.Stdin = strings.NewReader(strings.Repeat("x", cli.MaxInput+1))
	if _, err := c.Read(cli.StdinName); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("beyond the limit: %v", err)
	}
}
