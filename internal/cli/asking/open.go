package asking

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"regexp"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/wire"
)

// NewOpen is the command «floodmark open».
func NewOpen(c *cli.Console) *cobra.Command {
	var p cli.Place
	var only, end, show bool
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Open the console in your browser",
		Long: `Open the console, the monitor's pages, in a browser on this machine. The link works
once and for a minute. Without a desktop, or with --print, it is only printed: whoever
opens it first, from a program that no agent started, answers as you do.

The console listens on this machine alone, and only once it was opened. A page stays
logged in until you close it, until it asked for nothing for 12 hours, for a week at
most, or until the monitor ends. With --close all of them end at once.

You must say it at a terminal that no agent was started from.`,
		Example: `  floodmark open
  floodmark open --print
  floodmark open --close`,
		Annotations: cli.Exits("it is open, or with --close ended", "no monitor runs, or you may not open it"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			if end {
				return endConsole(c, cmd, p)
			}
			return open(c, cmd, p, only, show)
		}),
	}
	cmd.Flags().BoolVar(&only, "print", false, "print the link and open no browser")
	cmd.Flags().BoolVar(&show, "only-show", false, "nothing can be answered or changed in it")
	cmd.Flags().BoolVar(&end, "close", false, "end all pages and links")
	cmd.MarkFlagsMutuallyExclusive("print", "close")
	cmd.MarkFlagsMutuallyExclusive("only-show", "close")
	cli.AddPlace(cmd, &p)
	return cmd
}

// open asks for a link and hands it to the browser.
func open(c *cli.Console, cmd *cobra.Command, p cli.Place, only, show bool) error {
	a, err := cli.Ask(cmd.Context(), c, p, func(d *cli.Desk, ctx context.Context, q *wire.OpenConsoleRequest) (*wire.OpenConsoleResponse, error) {
		return d.Console.OpenConsole(ctx, q)
	}, &wire.OpenConsoleRequest{OnlyShows: show})
	if err != nil {
		return err
	}
	if !ours(a.GetLink()) {
		return cli.Refuse("see with «floodmark status» who answers there", "what answered is no monitor: it sent %q, which is no link to a console on this machine", a.GetLink())
	}
	if cli.Format(cmd) == cli.AsJSON {
		return c.Message(a)
	}
	if a.GetOnlyShows() != "" {
		c.Say("it only shows: %s", a.GetOnlyShows())
	}
	if !only && browse(c, a.GetLink()) {
		c.Say("the console opens in your browser; «floodmark open --close%s» ends it", p.Flags())
		return nil
	}
	fmt.Fprintln(c.Stdout, cli.Plain(a.GetLink()))
	c.Say("open it in a browser on this machine, within a minute; it works once")
	return nil
}

// link is the form of a link to the console: an address of the loopback, a port and a code.
var link = regexp.MustCompile(`^http://(127\.\d{1,3}\.\d{1,3}\.\d{1,3}:\d{1,5})/#open=[\w-]{43}$`)

// ours reports whether a link leads to a console on this machine. Another program may listen in the
// place of a monitor that has ended, and the program that opens links runs others for some.
func ours(text string) bool {
	m := link.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	at, err := netip.ParseAddrPort(m[1])
	return err == nil && at.Addr().IsLoopback() && at.Port() != 0
}

// endConsole ends all pages.
func endConsole(c *cli.Console, cmd *cobra.Command, p cli.Place) error {
	a, err := cli.Ask(cmd.Context(), c, p, func(d *cli.Desk, ctx context.Context, q *wire.CloseConsoleRequest) (*wire.CloseConsoleResponse, error) {
		return d.Console.CloseConsole(ctx, q)
	}, &wire.CloseConsoleRequest{})
	if err != nil {
		return err
	}
	if cli.Format(cmd) == cli.AsJSON {
		return c.Message(a)
	}
	c.Say("%s ended", cli.Count(int(a.GetEnded()), "page was", "pages were"))
	return nil
}

// browseTime is how long the program that opens a link may take to say that it cannot.
const browseTime = 3 * time.Second

// browse opens a link in the browser of the desktop session; false if there is none.
func browse(c *cli.Console, link string) bool {
	program := opener(c.Getenv)
	if program == "" || !c.StdoutTerminal {
		return false
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return false
	}
	cmd := exec.CommandContext(context.Background(), path, link) // it may be the browser itself, which outlives this command
	if cmd.Start() != nil {
		return false
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err == nil
	case <-time.After(browseTime):
		return true
	}
}

// opener returns the program that opens links in the desktop session; empty if there is none.
func opener(getenv func(string) string) string {
	switch {
	case runtime.GOOS == "darwin" && getenv("SSH_CONNECTION") == "":
		return "open"
	case runtime.GOOS == "linux" && (getenv("WAYLAND_DISPLAY") != "" || getenv("DISPLAY") != ""):
		return "xdg-open"
	}
	return ""
}
