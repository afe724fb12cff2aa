package mcpcli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/mcp/mcplogin"
	"github.com/floodmark/floodmark/internal/mcp/mcpservice"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

type mcpLoginFlags struct {
	cli.Place
	config string
	port   int
}

// newMCPLogin is the command «floodmark mcp login».
func newMCPLogin(c *cli.Console) *cobra.Command {
	var f mcpLoginFlags
	cmd := &cobra.Command{
		Use:   "login SERVER",
		Short: "Log in at an MCP server that wants OAuth",
		Long: `Log in at a server of gateway.yaml through your browser. The command prints an
address; open it, look who asks for your password, and log in. The page sends you
back to this machine, and the gateway shows the server from then on what it gave
you, and renews it. Clients and agents never see it.

The login is stored in a file that only you can read, for this server at this
address and for the issuer that is printed. Only you can begin a login: a server
that asks for one in the middle of a session gets none, and its calls fail with an
error that says what you can do.

The issuer must be reached by https and lie in the open network. One that is on
this machine or in a closed network you name yourself, in gateway.yaml:

  - name: tracker
    url: https://mcp.firm.example/v1
    oauth: {issuer: https://login.firm.example}

There, too, stand client_id and client_secret if floodmark was registered by hand,
and scopes. With grant: client-credentials the gateway logs in by these alone, and
this command is not needed.

You must say this at a terminal that no agent started, and the monitor
must run.`,
		Example: `  floodmark mcp login tracker
  floodmark mcp login tracker --port 8765`,
		Annotations: cli.Exits("you are logged in", "you are not"),
		Args:        cli.Needs("SERVER"),
		RunE:        cli.Guard(func(cmd *cobra.Command, args []string) error { return mcpLogin(cmd.Context(), c, f, args[0]) }),
	}
	cli.AddPlace(cmd, &f.Place)
	cmd.Flags().StringVar(&f.config, "config", "", "the `FILE` that names the servers instead of the usual gateway.yaml")
	cmd.Flags().IntVar(&f.port, "port", 0, "the `PORT` on this machine where the browser comes back to instead of any; for a client that was registered with one")
	return cmd
}

// newMCPLogout is the command «floodmark mcp logout».
func newMCPLogout(c *cli.Console) *cobra.Command {
	var f mcpLoginFlags
	cmd := &cobra.Command{
		Use:   "logout SERVER",
		Short: "Forget the login at an MCP server",
		Long: `Forget what a server gave you when you logged in, and tell its issuer that it is
no longer used. From then on the gateway shows the server nothing.

You must say this at a terminal that no agent started, and the monitor
must run.`,
		Example:     `  floodmark mcp logout tracker`,
		Annotations: cli.Exits("you are logged out", "you were not"),
		Args:        cli.Needs("SERVER"),
		RunE:        cli.Guard(func(cmd *cobra.Command, args []string) error { return mcpLogout(cmd.Context(), c, f, args[0]) }),
	}
	cli.AddPlace(cmd, &f.Place)
	cmd.Flags().StringVar(&f.config, "config", "", "the `FILE` that names the servers instead of the usual gateway.yaml")
	return cmd
}

// asOwner refuses a process if the monitor finds that an agent started it, and a caller who is not
// at a terminal.
func asOwner(ctx context.Context, c *cli.Console, p cli.Place) error {
	if _, err := cli.Ask(ctx, c, p, (*cli.Desk).Status, &wire.StatusRequest{}); err != nil {
		return err
	}
	if !c.StdinTerminal {
		return cli.Refuse("use a terminal that no agent started", "only a person at a terminal of this machine can do this")
	}
	return nil
}

func mcpLogin(ctx context.Context, c *cli.Console, f mcpLoginFlags, name string) error {
	if err := asOwner(ctx, c, f.Place); err != nil {
		return err
	}
	book, at, err := loginAt(c, f, name)
	switch {
	case err != nil:
		return err
	case at.Machine:
		return cli.Refuse("", "the gateway logs in at %s by itself (grant: %s)", name, config.ByMachine)
	case f.port < 0 || f.port > 65535:
		return cli.Refuse("", "%d is not a port", f.port)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = book.Login(ctx, at, mcplogin.Desk{Port: f.port, Show: func(issuer, address string) {
		fmt.Fprintf(c.Stdout, "%s lets you log in at %s. Open this, and check in your browser that it is the right site:\n\n  %s\n\n", name, issuer, cli.Plain(address))
	}})
	if err != nil {
		return &cli.Failure{Code: cli.ExitNo, Text: fmt.Sprintf("not logged in at %s: %s", name, cli.Plain(err.Error())), Hint: "nothing was kept; try again when that is mended"}
	}
	fmt.Fprintf(c.Stdout, "You are logged in at %s. The gateway uses it from its next request on.\n", name)
	return nil
}

func mcpLogout(ctx context.Context, c *cli.Console, f mcpLoginFlags, name string) error {
	if err := asOwner(ctx, c, f.Place); err != nil {
		return err
	}
	book, at, err := loginAt(c, f, name)
	if err != nil {
		return err
	}
	was, told, err := book.Logout(ctx, at)
	switch {
	case err != nil:
		return cli.Refuse("", "%s", err)
	case !was:
		fmt.Fprintf(c.Stdout, "You were not logged in at %s.\n", name)
		return cli.ErrNo
	case !told:
		fmt.Fprintf(c.Stdout, "You are logged out at %s here. Its issuer was not told: end the session there, too, if that matters.\n", name)
		return nil
	}
	fmt.Fprintf(c.Stdout, "You are logged out at %s, and its issuer was told.\n", name)
	return nil
}

// loginAt finds a server in the gateway's file.
func loginAt(c *cli.Console, f mcpLoginFlags, name string) (*mcplogin.Book, mcplogin.Server, error) {
	paths, err := c.Paths(f.Place)
	if err != nil {
		return nil, mcplogin.Server{}, err
	}
	if f.config != "" {
		paths.Gateway = c.Path(f.config)
	}
	gateway, err := gateway(c, paths)
	if err != nil {
		return nil, mcplogin.Server{}, err
	}
	i := slices.IndexFunc(gateway.Servers, func(s config.GatewayServer) bool { return s.Name == name })
	if i < 0 {
		return nil, mcplogin.Server{}, cli.Refuse("servers there: "+strings.Join(serverNames(gateway), ", "), "%s has no server called %q", paths.Gateway, cli.Shorten(name))
	}
	at, ok := mcpservice.LoginAt(gateway.Servers[i])
	if !ok {
		return nil, mcplogin.Server{}, cli.Refuse("", "%s takes no login: it is a command, or has a header Authorization already", name)
	}
	return mcplogin.Open(paths.Logins, c.Clock), at, nil
}

func serverNames(g config.Gateway) (names []string) {
	for _, s := range g.Servers {
		names = append(names, s.Name)
	}
	return names
}

// gateway reads the gateway's file.
func gateway(c *cli.Console, paths config.Paths) (config.Gateway, error) {
	gateway, err := config.ReadGateway(paths.Gateway)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gateway, cli.Refuse("write one; «floodmark help mcp serve» shows how", "there is no %s", paths.Gateway)
	case err != nil:
		return gateway, cli.Refuse("mend the file", "%s", err)
	}
	return gateway, nil
}

// loginsWanted returns the servers at which the owner has to log in.
func loginsWanted(c *cli.Console, p cli.Place) (names []string, err error) {
	paths, err := c.Paths(p)
	if err != nil {
		return nil, err
	}
	gateway, err := config.ReadGateway(paths.Gateway)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	book := mcplogin.Open(paths.Logins, c.Clock)
	for _, s := range gateway.Servers {
		at, ok := mcpservice.LoginAt(s)
		if !ok {
			continue
		}
		state, err := book.State(at)
		if err != nil {
			return nil, err
		}
		if state.Wanted {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// LoginLines returns a line for each server that wants the owner to log in.
func LoginLines(c *cli.Console, p cli.Place) (lines []string) {
	names, err := loginsWanted(c, p)
	if err != nil {
		return []string{"MCP gateway: " + err.Error()}
	}
	for _, name := range names {
		lines = append(lines, fmt.Sprintf("The MCP server %s wants you to log in (floodmark mcp login %s%s)", name, name, p.Flags()))
	}
	return lines
}

// CheckLogins returns the same servers as findings of the doctor.
func CheckLogins(c *cli.Console, p cli.Place) []cli.Finding {
	names, err := loginsWanted(c, p)
	if err != nil {
		return []cli.Finding{cli.Wrong("MCP gateway", "mend the file", "%s", err)}
	}
	var list []cli.Finding
	for _, name := range names {
		list = append(list, cli.Note("MCP server "+name, "floodmark mcp login "+name+p.Flags(), "it wants you to log in; until then its tools are missing"))
	}
	return list
}
