package mcpcli

import (
	"context"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/internal/agents/hookrun"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/fleetcli"
	"github.com/floodmark/floodmark/internal/mcp/mcplogin"
	"github.com/floodmark/floodmark/internal/mcp/mcpservice"
	"github.com/floodmark/floodmark/internal/service/heap"
	"github.com/floodmark/floodmark/internal/service/httpapi"
)

type mcpServeFlags struct {
	cli.Place
	config, listen string
}

// newMCPServe is the command «floodmark mcp serve».
func newMCPServe(c *cli.Console) *cobra.Command {
	var f mcpServeFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Put several MCP servers behind one address, with the monitor in front",
		Long: `Answer MCP clients over Streamable HTTP on this machine, with the servers that
gateway.yaml names behind one address. The tools of the server «files» are called
files__read and so on; prompts are named alike, and resources keep their
addresses. Every call is decided and every answer taken in as with «floodmark mcp
wrap».

A client shows a token that «floodmark fleet token create NAME» made. Each of its
sessions is a session of the monitor, and has servers of its own: what one client
read cannot reach another through a server. A client that is an agent with hooks,
or that one started, is in that agent's session: on Linux the system tells which
program is at the other end. What a client says of itself in the header
Floodmark-Session can only add a mark.

gateway.yaml lies beside the policy and belongs to you alone (chmod 600). A server
is a command or a url:

  servers:
    - name: files
      command: npx
      args: [-y, "@modelcontextprotocol/server-filesystem", /home/anna/notes]
    - name: tracker
      url: https://mcp.firm.example/v1
      headers: {Authorization: "Bearer ${TRACKER_TOKEN}"}
    - name: wiki
      url: https://wiki.firm.example/mcp
      oauth: {}

At a server with OAuth you log in with «floodmark mcp login NAME».
What ${NAME} stands for is taken from the gateway's own environment, which no
server and no client sees: a command gets PATH, HOME and the like, and what its
env says.

With «shared: true» a server is one for all clients. What it says then carries the
marks of all sessions that wrote to it.

A server that ends does not affect the others: its open calls are answered with an
error, its tools vanish, and the next call to one of them restarts it.`,
		Example: `  floodmark mcp serve
  floodmark mcp serve --config ./gateway.yaml --listen 127.0.0.1:9000`,
		Args:        cobra.NoArgs,
		Annotations: cli.Exits("it was stopped", "it could not go on"),
		RunE:        cli.Guard(func(cmd *cobra.Command, _ []string) error { return mcpServe(cmd.Context(), c, f) }),
	}
	cli.AddPlace(cmd, &f.Place)
	cmd.Flags().StringVar(&f.config, "config", "", "the `FILE` that names the servers instead of the usual gateway.yaml")
	cmd.Flags().StringVar(&f.listen, "listen", "", "the loopback `ADDRESS` to answer on instead of what the file says")
	return cmd
}

func mcpServe(ctx context.Context, c *cli.Console, f mcpServeFlags) error {
	paths, err := c.Paths(f.Place)
	if err != nil {
		return err
	}
	if f.config != "" {
		paths.Gateway = c.Path(f.config)
	}
	gateway, err := gateway(c, paths)
	if err != nil {
		return err
	}
	if f.listen != "" {
		if gateway, err = gateway.At(f.listen); err != nil {
			return cli.Refuse("", "%s", err)
		}
	}
	pins, err := book(c, f.Place)
	if err != nil {
		return err
	}
	tokens, err := fleetcli.Tokens(c, f.Place)
	if err != nil {
		return err
	}
	heap.TuneShared(c.Getenv)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	judge, err := client.Dial(paths.HookSocket, client.Options{})
	if err != nil {
		return cli.Refuse("check where the monitor listens", "%s", err)
	}
	defer judge.Close()
	if err := hookrun.Wake(ctx, paths.HookSocket, c.Getenv); err != nil {
		c.Say("floodmark: %s; until then no tool is called or shown", err)
	}
	var listen net.ListenConfig
	door, err := listen.Listen(ctx, "tcp", gateway.Listen)
	if err != nil {
		return cli.Refuse("choose another address with --listen", "listen on %s: %s", gateway.Listen, cli.Reason(err))
	}
	talk := &together{out: c.Stderr}
	service := mcpservice.New(mcpservice.Options{
		Gateway: gateway, Judge: judge, Pins: pins, Admit: admitAgent(tokens), Caller: mcpservice.LocalCaller(os.Getuid(), 0), Logins: mcplogin.Open(paths.Logins, c.Clock),
		Env: usualEnv(c), Home: c.Getenv("HOME"), Version: c.Build.Line(), Stderr: talk,
		Note: func(server, line string) { talk.do(func() { c.Say("floodmark: %s: %s", server, line) }) },
	})
	talk.do(func() { c.Say("floodmark answers MCP clients on http://%s%s", door.Addr(), mcpservice.Path) })
	if err := service.Serve(ctx, door); err != nil {
		talk.do(func() { c.Say("floodmark: %s", err) })
		return cli.ErrNo
	}
	return nil
}

// admitAgent admits callers with an agent's token. An owner's token is refused.
func admitAgent(tokens *httpapi.Tokens) func(string) (string, error) {
	return func(text string) (string, error) {
		who, err := tokens.Find(text)
		if err == nil && who.May != httpapi.MayEvents {
			err = httpapi.ErrNoToken
		}
		return who.Name, err
	}
}

// usualEnv returns the variables that most programs need to run. No others are passed on, because
// any of them may be a credential of another server.
func usualEnv(c *cli.Console) []string {
	var env []string
	for _, name := range []string{
		"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
		"APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE", // Windows
	} {
		if value := c.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// together serializes the writes of several writers to one output, and keeps our lines whole.
type together struct {
	mu  sync.Mutex // guards out
	out io.Writer
}

func (t *together) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Write(p)
}

func (t *together) do(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}
