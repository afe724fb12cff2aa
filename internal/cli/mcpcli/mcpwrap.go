package mcpcli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/internal/agents/hookrun"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/mcp/mcpgateway"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
	"github.com/floodmark/floodmark/internal/mcp/mcpstdio"
	"github.com/floodmark/floodmark/internal/service/heap"
)

// maxServerName bounds the name of a server. Clients' settings have shorter ones.
const maxServerName = 128

// wrapWait is how long a call waits for a person. Together with the time to judge it, that is half
// of the minute that clients usually give a call.
const wrapWait = 15 * time.Second

type wrapFlags struct {
	cli.Place
	server, socket, pins string
}

// newMCPWrap is the command «floodmark mcp wrap».
func newMCPWrap(c *cli.Console) *cobra.Command {
	var f wrapFlags
	cmd := &cobra.Command{
		Use:   "wrap [--server NAME] -- COMMAND [ARGUMENT]...",
		Short: "Start an MCP server with the monitor in front of it",
		Long: `Start an MCP server and pass messages between it and its client, on standard input
and output. Use it as a prefix in a client's settings: where these run COMMAND, let
them run «floodmark mcp wrap -- COMMAND».

A tool call reaches the server only after the monitor has allowed it. A refused
one comes back as the tool's error, with a line that the model reads: what was
refused, why, and what to do instead. If you have to be asked and «floodmark watch»
runs, the call waits half a minute for your answer; then, or if it does not run, it
is refused for now: approve it and the same call passes. What the server says
(results, resources, prompts, its descriptions of tools, its instructions, its
errors) is a source at the label of that server and tool, and is written down
before the client sees it. Unknown requests are judged like a tool without a
description. Everything else passes as it is.

Tools that could not be called at the session's mark, with any arguments,
are not shown. A tool whose description changed since you saw it, or that hides
characters, is held.

NAME is your name for the server. The catalog knows tools by it («floodmark
policy catalog show»), so use the usual one. Without it, it is made from the command:
the package or program, without scope, version and «server-».

The monitor is started if none listens at its default place. While it does not
answer, no call is made and no tool is shown, and the connection stays.

What the server writes to standard error goes to standard error, in plain lines
that steer no terminal. It ends when the client closes standard input; a server
that does not end by then is made to.`,
		Example: `  floodmark mcp wrap -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  floodmark mcp wrap --server github -- docker run -i --rm ghcr.io/github/github-mcp-server
  claude mcp add notes -- floodmark mcp wrap --server notes -- notes-mcp --stdio`,
		Args:        cobra.ArbitraryArgs,
		Annotations: cli.Exits("the client left", "the server ended, or sent a message that cannot be passed on"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Refuse("write it behind two dashes: floodmark mcp wrap -- COMMAND", "there is no command to start")
			}
			return mcpWrap(cmd.Context(), c, f, args)
		}),
	}
	cmd.Flags().StringVar(&f.server, "server", "", "your `NAME` for the server, by which the catalog and the policy know its tools")
	cmd.Flags().StringVar(&f.socket, "socket", "", "the monitor's hook.sock at this `PATH` instead of the usual one")
	cmd.Flags().StringVar(&f.pins, "pins", "", "the record of servers you have reviewed, at this `PATH` instead of the usual one")
	cli.AddPlace(cmd, &f.Place)
	return cmd
}

func mcpWrap(ctx context.Context, c *cli.Console, f wrapFlags, args []string) error {
	name := f.server
	if name == "" {
		name = serverName(args)
	}
	if err := checkServerName(name); err != nil {
		return err
	}
	paths, err := c.Paths(f.Place)
	if err != nil {
		return err
	}
	if f.socket != "" {
		paths.HookSocket = c.Path(f.socket)
	}
	var pins mcpgateway.Pins
	if book, err := wrapBook(c, f); err == nil {
		pins = book
	} else {
		c.Say("floodmark: %s: %s", name, err)
	}
	heap.TuneGateway(c.Getenv)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	judge, err := client.Dial(paths.HookSocket, client.Options{})
	if err != nil {
		return cli.Refuse("give the path of hook.sock", "%s", err)
	}
	defer judge.Close()
	if err := hookrun.Wake(ctx, paths.HookSocket, c.Getenv); err != nil {
		c.Say("floodmark: %s; until then no tool of %s is called or shown", err, name)
	}
	var talk sync.Mutex
	note := func(line string) {
		talk.Lock()
		defer talk.Unlock()
		c.Say("floodmark: %s: %s", name, line)
	}
	server, err := mcpstdio.Start(mcpstdio.Command{Args: args, Dir: c.Dir, Stderr: c.Stderr, Skipped: note})
	if err != nil {
		return cli.Refuse("check the command behind the dashes", "%s", err)
	}
	session := mcpgateway.NewSession(judge, mcpgateway.Client{
		Agent: c.Getenv("FLOODMARK_AGENT"), Claims: floodmark.SessionID(c.Getenv("FLOODMARK_SESSION")),
		Project: c.Dir, Home: c.Getenv("HOME"), Wait: wrapWait,
	})
	err = mcpgateway.Run(ctx, mcpstdio.Lines(c.Stdin, c.Stdout, closing(c.Stdin), note), server, mcpgateway.Options{
		Server: name, Identity: strings.Join(args, "\x00"), Session: session, Pins: pins, Note: note,
	})
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = session.End(last) // if the monitor is gone, there is no session to end
	if err != nil && ctx.Err() == nil {
		c.Say("floodmark: %s: %s", name, err)
		return cli.ErrNo
	}
	return nil
}

// wrapBook opens the pins at the path that the flag --pins names, else the usual ones.
func wrapBook(c *cli.Console, f wrapFlags) (*mcppins.Book, error) {
	if f.pins != "" {
		return bookAt(c.Path(f.pins))
	}
	return book(c, f.Place)
}

// closing returns a function that closes a stream, if it can be closed.
func closing(r io.Reader) func() error {
	return func() error {
		if f, ok := r.(io.Closer); ok {
			return f.Close()
		}
		return nil
	}
}

// checkServerName refuses names that a journal or a policy cannot contain.
func checkServerName(name string) error {
	switch {
	case name == "":
		return cli.Refuse("give it one with --server", "no name for the server follows from the command")
	case len(name) > maxServerName:
		return cli.Refuse("give it a shorter one with --server", "the server's name has %d bytes, at most %d", len(name), maxServerName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return cli.Refuse("give it another one with --server", "the server's name contains characters that cannot be printed")
	}
	return nil
}

// serverName derives a name from a command: npx -y @scope/server-files@1.2 gives «files».
func serverName(args []string) string {
	word := args[0]
	launchers := []string{"npx", "bunx", "pnpx", "uvx", "pipx", "node", "bun", "deno", "python", "python3", "uv", "pnpm", "yarn", "docker", "podman", "env"}
	if slices.Contains(launchers, filepath.Base(word)) {
		for _, a := range args[1:] {
			verb := slices.Contains([]string{"run", "exec", "dlx", "x", "tool"}, a) || slices.Contains(launchers, a)
			if !verb && !strings.HasPrefix(a, "-") && !strings.Contains(a, "=") {
				word = a
				break
			}
		}
	}
	word = path.Base(filepath.ToSlash(word))
	if i := strings.IndexAny(word[min(1, len(word)):], "@:"); i >= 0 {
		word = word[:i+1]
	}
	for _, ext := range []string{".js", ".mjs", ".cjs", ".ts", ".py", ".sh", ".exe"} {
		word = strings.TrimSuffix(word, ext)
	}
	for _, prefix := range []string{"mcp-server-", "server-", "mcp-"} {
		if rest := strings.TrimPrefix(word, prefix); rest != "" && rest != word {
			return rest
		}
	}
	return word
}
