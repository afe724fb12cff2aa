package fleetcli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// NewToken is the command «floodmark fleet token».
func NewToken(c *cli.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Let agents and people in over the network",
		Long: `A client that reaches the monitor over the network proves itself by a token or by a
client certificate. An agent's token can send events and can never approve, trust
or change anything. Only hashes are kept. A change counts at once; the monitor need
not run.`,
		Example: `  floodmark fleet token create build-agent
  floodmark fleet token list
  floodmark fleet token revoke 0123abcd`,
	}
	cmd.AddCommand(newTokenCreate(c), newTokenList(c), newTokenRevoke(c))
	return cmd
}

// Tokens opens the tokens of an installation.
func Tokens(c *cli.Console, p cli.Place) (*httpapi.Tokens, error) {
	paths, err := c.Paths(p)
	if err != nil {
		return nil, err
	}
	service, err := config.LoadService(paths.Service)
	if err != nil {
		return nil, cli.Refuse("repair the file: it may say where the tokens are", "%s", err)
	}
	file := cmp.Or(service.Tokens, paths.Tokens)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, cli.Refuse("check that you may write there", "make the folder of tokens: %s", cli.Reason(err))
	}
	t, err := httpapi.OpenTokens(file, c.Clock)
	if err != nil {
		return nil, cli.Refuse("", "%s", err)
	}
	return t, nil
}

func newTokenCreate(c *cli.Console) *cobra.Command {
	var p cli.Place
	var want httpapi.Token
	var may []string
	var during time.Duration
	kind := &cli.Choice{Name: "KIND", Value: string(httpapi.AgentKind), Known: []string{string(httpapi.AgentKind), string(httpapi.OwnerKind), string(httpapi.EnrolKind)}}
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a token",
		Long: `Make a token and print it. It is shown this once: only its hash is kept. NAME is
the name of its user in the journal.

An agent's token sends events and nothing else. An owner's token may do what --may
says: view, approve, policy, admin. With --kind enrol it lets laptops join the
fleet («floodmark fleet join --token FILE»): one, or as many as --uses says, counted at
all nodes together. For a rollout by a management system say how many laptops
there are, and with --for how long it takes; a laptop that joins again counts
again. With --certificate no token is made; who shows a verified client
certificate of that name is let in instead.`,
		Example: `  floodmark fleet token create build-agent --for 2160h
  floodmark fleet token create anna --kind owner --may view,approve
  floodmark fleet token create laptops --kind enrol --tenant firm --uses 200 --for 24h
  floodmark fleet token create build-agent --certificate spiffe://firm.example/agents/build`,
		Annotations: cli.Exits("it is made", "you may not make one"),
		Args:        cli.Needs("NAME"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			want.Name, want.Kind = args[0], httpapi.Kind(kind.Value)
			if cmd.Flags().Changed("uses") && (want.Uses < 1 || want.Uses > httpapi.MaxUses || want.Kind != httpapi.EnrolKind) {
				return cli.Refuse("say --kind enrol --uses 200", "--uses takes 1 to %d, and is for --kind enrol", httpapi.MaxUses)
			}
			return createToken(cmd.Context(), c, p, want, may, during, cli.Format(cmd))
		}),
	}
	cli.AddPlace(cmd, &p)
	f := cmd.Flags()
	f.Var(kind, "kind", "what it is for: agent, owner, enrol")
	f.StringSliceVar(&may, "may", nil, "what an owner may do: view, approve, policy, admin (default view)")
	f.DurationVar(&during, "for", 0, "how long it is valid, such as `720h` (default: until it is revoked)")
	f.Int64Var(&want.Uses, "uses", 0, "how many laptops can join with this token, `N` (default 1)")
	f.StringVar(&want.Tenant, "tenant", "", "whose sessions it is about, where there are several `TENANT`s")
	f.StringSliceVar(&want.Groups, "group", nil, "the `GROUP`s whose questions an owner answers, where service.yaml has answers")
	f.StringVar(&want.Certificate, "certificate", "", "let in this certificate's `NAME` instead")
	cli.Complete(cmd, "kind", kind.Known)
	cli.Complete(cmd, "may", httpapi.OwnerMay.Words())
	return cmd
}

// A madeToken is a new token, for programs.
type madeToken struct {
	Text string        `json:"token,omitempty"` // shown only now
	Kept httpapi.Token `json:"kept"`
}

func createToken(ctx context.Context, c *cli.Console, p cli.Place, want httpapi.Token, may []string, during time.Duration, form string) error {
	want, err := wanted(c, want, may, during)
	if err != nil {
		return err
	}
	if err := c.MayChange(ctx, p); err != nil {
		return err
	}
	t, err := Tokens(c, p)
	if err != nil {
		return err
	}
	if err := knownTenant(c, p, want.Tenant); err != nil {
		return err
	}
	var made madeToken
	if want.Certificate != "" {
		made.Kept, err = t.Admit(want)
	} else {
		made.Text, made.Kept, err = t.Create(want)
	}
	switch {
	case err != nil:
		return cli.Refuse("", "%s", err)
	case form == cli.AsJSON:
		return c.JSON(made)
	case made.Text == "":
		c.Say("the certificate %s is let in as %s; take it back with «floodmark fleet token revoke %s%s»", made.Kept.Certificate, made.Kept.Name, made.Kept.ID, p.Flags())
		return nil
	}
	fmt.Fprintln(c.Stdout, made.Text)
	c.Say("this is shown once; take it back with «floodmark fleet token revoke %s%s»", made.Kept.ID, p.Flags())
	return nil
}

// knownTenant warns of a tenant that service.yaml does not name. A token for it is refused until
// service.yaml does.
func knownTenant(c *cli.Console, p cli.Place, tenant string) error {
	paths, err := c.Paths(p)
	if err != nil || tenant == "" {
		return err
	}
	service, err := config.LoadService(paths.Service)
	if err != nil {
		return cli.Refuse("mend the file", "%s", err)
	}
	if _, named := service.Tenants[tenant]; !named {
		c.Say("%s names no tenant %s, so the token is refused until it does", paths.Service, cli.Shorten(tenant))
	}
	return nil
}

// wanted checks and completes the token that is to be made.
func wanted(c *cli.Console, want httpapi.Token, may []string, during time.Duration) (httpapi.Token, error) {
	switch {
	case want.Kind != httpapi.OwnerKind && len(may) > 0:
		return want, cli.Refuse("leave --may out, or say --kind owner", "what --kind %s may do is fixed", want.Kind)
	case want.Kind == httpapi.OwnerKind && len(may) == 0:
		may = httpapi.MayView.Words()
	case during < 0:
		return want, cli.Refuse("write 720h", "--for takes a length of time above 0")
	}
	var err error
	if want.May, err = httpapi.ParseMay(may); err != nil {
		return want, cli.Refuse("", "--may: %s", err)
	}
	if during > 0 {
		want.Expires = c.Clock().Add(during).UTC().Truncate(time.Second)
	}
	return want, nil
}

func newTokenList(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:         "list",
		Short:       "List tokens and certificates",
		Long:        "List the tokens and certificates that are let in, oldest first. The tokens\nthemselves are kept nowhere.",
		Example:     "  floodmark fleet token list\n  floodmark fleet token list --output json",
		Annotations: cli.Exits("they are listed, if there are any", ""),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			t, err := Tokens(c, p)
			if err != nil {
				return err
			}
			list, err := t.List()
			switch {
			case err != nil:
				return cli.Refuse("", "%s", err)
			case cli.Format(cmd) == cli.AsJSON:
				return c.JSON(struct {
					Tokens []httpapi.Token `json:"tokens"`
				}{append([]httpapi.Token{}, list...)})
			case len(list) == 0:
				c.Say("no caller is admitted over the network")
				return nil
			}
			fmt.Fprint(c.Stdout, TokensText(c.OutStyle(), list, c.Clock()))
			return nil
		}),
	}
	cli.AddPlace(cmd, &p)
	return cmd
}

// TokensText formats the list for people.
func TokensText(st cli.Style, list []httpapi.Token, now time.Time) string {
	p := &cli.Sheet{St: st}
	head := cli.Cells("ID", "KIND", "MAY", "ENDS", "NAME")
	for i := range head {
		head[i].Paint = st.Dim
	}
	rows := [][]cli.Cell{head}
	for _, t := range list {
		ends := cli.Cell{Text: "never"}
		if !t.Expires.IsZero() {
			ends.Text = t.Expires.Local().Format("2006-01-02 15:04")
		}
		if !t.Expires.IsZero() && !now.Before(t.Expires) {
			ends = cli.Cell{Text: "ended", Paint: st.Red}
		}
		name := t.Name
		if t.Certificate != "" {
			name += ", certificate " + t.Certificate
		}
		if t.Tenant != "" {
			name += ", tenant " + t.Tenant
		}
		if n := t.Most(); n > 0 {
			name += ", for " + cli.Count(int(n), "laptop", "laptops")
		}
		rows = append(rows, []cli.Cell{{Text: t.ID}, {Text: string(t.Kind)}, {Text: strings.Join(t.May.Words(), ",")}, ends, {Text: name}})
	}
	p.Table(0, rows)
	return p.String()
}

func newTokenRevoke(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:         "revoke ID",
		Short:       "Revoke a token or a certificate",
		Long:        "Revoke a token or a certificate. It is refused from the next call on.",
		Example:     "  floodmark fleet token revoke 0123abcd",
		Annotations: cli.Exits("it is revoked", "you may not revoke it"),
		Args:        cli.Needs("ID"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			if err := c.MayChange(cmd.Context(), p); err != nil {
				return err
			}
			t, err := Tokens(c, p)
			if err != nil {
				return err
			}
			if err := t.Revoke(args[0]); err != nil {
				return cli.Refuse("«floodmark fleet token list"+p.Flags()+"» shows their ids", "%s", err)
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.JSON(map[string]string{"revoked": args[0]})
			}
			c.Say("revoked %s", args[0])
			return nil
		}),
	}
	cli.AddPlace(cmd, &p)
	return cmd
}
