// Command floodmark is the whole product in one program. The commands are in internal/cli; main
// builds the console and runs one of them. Only main reads the environment: commands see what their
// console shows.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"runtime"
	"runtime/debug"

	"golang.org/x/term"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/setup"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// version is set by the linker for a release; empty otherwise.
var version string

func main() {
	if text := notHere(runtime.GOOS); text != "" {
		fmt.Fprintln(os.Stderr, text)
		os.Exit(cli.ExitUsage)
	}
	setup.Vitals()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, edge(), os.Args[1:])
	stop()
	os.Exit(code)
}

// edge returns the console of a real process.
func edge() *cli.Console {
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // the folder was removed; opening a file will say so
	}
	c := &cli.Console{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Dir: dir,
		StdoutTerminal: terminal(os.Stdout), StderrTerminal: terminal(os.Stderr),
		StdinTerminal: terminal(os.Stdin),
	}
	info, _ := debug.ReadBuildInfo()
	c.Build = cli.NewBuild(version, info)
	if me, err := user.Current(); err == nil { // HOME could be changed, so the system is asked
		c.Home, c.Usual = me.HomeDir, config.UsualOwnerSockets(os.Getuid(), me.HomeDir)
	}
	c.Program, _ = os.Executable() // without it, services use the default path
	return c
}

// terminal reports whether f is a terminal, so that a person probably sees it.
func terminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
