package main

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

	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/mcplogin"
	"github.com/floodmark/floodmark/internal/mcpservice"
	"github.com/floodmark/floodmark/wire"
)

type mcpLoginFlags struct {
	place
	config string
	port   int
}

// newMCPLogin logs the owner in at a server.
func newMCPLogin(c *console) *cobra.Command {
	var f mcpLoginFlags
	cmd := &cobra.Command{
		Use:   "login SERVER",
		Short: "Log in at an MCP server that wants OAuth",
		Long: `Log in at a server of gateway.yaml through your browser. The command prints an
address; open it, look who asks for your password, and log in. The page sends you
back to this machine, and the gateway shows the server from then on what it gave
you, and renews it. Clients and agents never see it.

It is kept in a file that is yours alone, for this server at this address and for
the issuer that is printed. Only you begin a login: a server that asks for one in
the middle of a session gets none, and its calls say what you can do.

The issuer must be reached by https and lie in the open network. One that is on
this machine or in a closed network you name yourself, in gateway.yaml:

  - name: tracker
    url: https://mcp.firm.example/v1
    oauth: {issuer: https://login.firm.example}

There, too, stand client_id and client_secret if floodmark was registered by hand,
and scopes. With grant: client-credentials the gateway logs in by these alone, and
this command is not needed.

You must say this at a terminal that no agent was started from, and the monitor
must run.`,
		Example: `  floodmark mcp login tracker
  floodmark mcp login tracker --port 8765`,
		Annotations: exits("you are logged in", "you are not"),
		Args:        needs("SERVER"),
		RunE:        guard(func(cmd *cobra.Command, args []string) error { return c.mcpLogin(cmd.Context(), f, args[0]) }),
	}
	addPlace(cmd, &f.place)
	cmd.Flags().StringVar(&f.config, "config", "", "the `FILE` that names the servers instead of the usual gateway.yaml")
	cmd.Flags().IntVar(&f.port, "port", 0, "the `PORT` on this machine where the browser comes back to instead of any; for a client that was registered with one")
	return cmd
}

// newMCPLogout deletes a login.
func newMCPLogout(c *console) *cobra.Command {
	var f mcpLoginFlags
	cmd := &cobra.Command{
		Use:   "logout SERVER",
		Short: "Forget the login at an MCP server",
		Long: `Forget what a server gave you when you logged in, and tell its issuer that it is
no longer used. From then on the gateway shows the server nothing.

You must say this at a terminal that no agent was started from, and the monitor
must run.`,
		Example:     `  floodmark mcp logout tracker`,
		Annotations: exits("you are not logged in any more", "you were not"),
		Args:        needs("SERVER"),
		RunE:        guard(func(cmd *cobra.Command, args []string) error { return c.mcpLogout(cmd.Context(), f, args[0]) }),
	}
	addPlace(cmd, &f.place)
	cmd.Flags().StringVar(&f.config, "config", "", "the `FILE` that names the servers instead of the usual gateway.yaml")
	return cmd
}

// asOwner refuses a process that an agent started, as the monitor sees it, and a caller that is not
// at a terminal.
func (c *console) asOwner(ctx context.Context, p place) error {
	if _, err := ask(ctx, c, p, (*desk).Status, &wire.StatusRequest{}); err != nil {
		return err
	}
	if !c.stdinTerminal {
		return refuse("use a terminal that no agent was started from", "a person at a terminal of this machine must say this")
	}
	return nil
}

func (c *console) mcpLogin(ctx context.Context, f mcpLoginFlags, name string) error {
	if err := c.asOwner(ctx, f.place); err != nil {
		return err
	}
	book, at, err := c.loginAt(f, name)
	switch {
	case err != nil:
		return err
	case at.Machine:
		return refuse("", "the gateway logs in at %s by itself (grant: %s)", name, config.ByMachine)
	case f.port < 0 || f.port > 65535:
		return refuse("", "%d is no port", f.port)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = book.Login(ctx, at, mcplogin.Desk{Port: f.port, Show: func(issuer, address string) {
		fmt.Fprintf(c.stdout, "%s lets you log in at %s. Open this, and see in your browser that it is who you mean:\n\n  %s\n\n", name, issuer, plain(address))
	}})
	if err != nil {
		return &failure{code: exitNo, text: fmt.Sprintf("not logged in at %s: %s", name, plain(err.Error())), hint: "nothing was kept; try again when that is mended"}
	}
	fmt.Fprintf(c.stdout, "You are logged in at %s. The gateway uses it from its next request on.\n", name)
	return nil
}

func (c *console) mcpLogout(ctx context.Context, f mcpLoginFlags, name string) error {
	if err := c.asOwner(ctx, f.place); err != nil {
		return err
	}
	book, at, err := c.loginAt(f, name)
	if err != nil {
		return err
	}
	was, told, err := book.Logout(ctx, at)
	switch {
	case err != nil:
		return refuse("", "%s", err)
	case !was:
		fmt.Fprintf(c.stdout, "You were not logged in at %s.\n", name)
		return errNo
	case !told:
		fmt.Fprintf(c.stdout, "You are logged out at %s here. Its issuer was not told: end the session there, too, if that matters.\n", name)
		return nil
	}
	fmt.Fprintf(c.stdout, "You are logged out at %s, and its issuer was told.\n", name)
	return nil
}

// loginAt finds a server in the gateway's file.
func (c *console) loginAt(f mcpLoginFlags, name string) (*mcplogin.Book, mcplogin.Server, error) {
	paths, err := c.paths(f.place)
	if err != nil {
		return nil, mcplogin.Server{}, err
	}
	if f.config != "" {
		paths.Gateway = c.path(f.config)
	}
	gateway, err := c.gateway(paths)
	if err != nil {
		return nil, mcplogin.Server{}, err
	}
	i := slices.IndexFunc(gateway.Servers, func(s config.GatewayServer) bool { return s.Name == name })
	if i < 0 {
		return nil, mcplogin.Server{}, refuse("servers there: "+strings.Join(serverNames(gateway), ", "), "%s has no server called %q", paths.Gateway, shorten(name))
	}
	at, ok := mcpservice.LoginAt(gateway.Servers[i])
	if !ok {
		return nil, mcplogin.Server{}, refuse("", "%s takes no login: it is a command, or has a header Authorization already", name)
	}
	return mcplogin.Open(paths.Logins, c.clock), at, nil
}

func serverNames(g config.Gateway) (names []string) {
	for _, s := range g.Servers {
		names = append(names, s.Name)
	}
	return names
}

// gateway reads the gateway's file.
func (c *console) gateway(paths config.Paths) (config.Gateway, error) {
	gateway, err := config.ReadGateway(paths.Gateway)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gateway, refuse("write one; «floodmark help mcp serve» shows how", "there is no %s", paths.Gateway)
	case err != nil:
		return gateway, refuse("mend the file", "%s", err)
	}
	return gateway, nil
}

// loginsWanted returns the servers at which the owner has to log in.
func (c *console) loginsWanted(p place) (names []string, err error) {
	paths, err := c.paths(p)
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
	book := mcplogin.Open(paths.Logins, c.clock)
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

// loginLines returns them, a line for each.
func (c *console) loginLines(p place) (lines []string) {
	names, err := c.loginsWanted(p)
	if err != nil {
		return []string{"MCP gateway: " + err.Error()}
	}
	for _, name := range names {
		lines = append(lines, fmt.Sprintf("The MCP server %s wants you to log in (floodmark mcp login %s%s)", name, name, p.flags()))
	}
	return lines
}

// checkLogins reports them to the doctor.
func (c *console) checkLogins(p place) []finding {
	names, err := c.loginsWanted(p)
	if err != nil {
		return []finding{wrong("MCP gateway", "mend the file", "%s", err)}
	}
	var list []finding
	for _, name := range names {
		list = append(list, note("MCP server "+name, "floodmark mcp login "+name+p.flags(), "it wants you to log in; until then its tools are missing"))
	}
	return list
}
