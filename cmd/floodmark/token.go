package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/httpapi"
)

func newToken(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Let agents and people in over the network",
		Long: `Whoever reaches the monitor over the network proves itself by a token or by a
client certificate. An agent's token can send events and can never approve,
endorse or change anything. Only hashes are kept. A change counts at once; the
monitor need not run.`,
		Example: `  floodmark fleet token create build-agent
  floodmark fleet token list
  floodmark fleet token revoke 0123abcd`,
	}
	cmd.AddCommand(newTokenCreate(c), newTokenList(c), newTokenRevoke(c))
	return cmd
}

// tokens opens the file of an installation.
func (c *console) tokens(p place) (*httpapi.Tokens, error) {
	paths, err := c.paths(p)
	if err != nil {
		return nil, err
	}
	service, err := config.LoadService(paths.Service)
	if err != nil {
		return nil, refuse("mend the file: it may say where the tokens are", "%s", err)
	}
	file := cmp.Or(service.Tokens, paths.Tokens)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, refuse("check that you may write there", "make the folder of tokens: %s", reason(err))
	}
	t, err := httpapi.OpenTokens(file, c.clock)
	if err != nil {
		return nil, refuse("", "%s", err)
	}
	return t, nil
}

func newTokenCreate(c *console) *cobra.Command {
	var p place
	var want httpapi.Token
	var may []string
	var during time.Duration
	kind := &choice{name: "KIND", value: string(httpapi.AgentKind), known: []string{string(httpapi.AgentKind), string(httpapi.OwnerKind), string(httpapi.EnrolKind)}}
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
		Annotations: exits("it is made", "you may not make one"),
		Args:        needs("NAME"),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			want.Name, want.Kind = args[0], httpapi.Kind(kind.value)
			if cmd.Flags().Changed("uses") && (want.Uses < 1 || want.Uses > httpapi.MaxUses || want.Kind != httpapi.EnrolKind) {
				return refuse("say --kind enrol --uses 200", "--uses takes 1 to %d, and is for --kind enrol", httpapi.MaxUses)
			}
			return c.createToken(cmd.Context(), p, want, may, during, format(cmd))
		}),
	}
	addPlace(cmd, &p)
	f := cmd.Flags()
	f.Var(kind, "kind", "whom it is for: agent, owner, enrol")
	f.StringSliceVar(&may, "may", nil, "what an owner may do: view, approve, policy, admin (default view)")
	f.DurationVar(&during, "for", 0, "how long it holds, such as `720h` (default: until it is revoked)")
	f.Int64Var(&want.Uses, "uses", 0, "how many laptops a token to enrol enrols, `N` (default 1)")
	f.StringVar(&want.Tenant, "tenant", "", "whose sessions it is about, where there are several `TENANT`s")
	f.StringSliceVar(&want.Groups, "group", nil, "the `GROUP`s whose questions an owner answers, where service.yaml has answers")
	f.StringVar(&want.Certificate, "certificate", "", "let in this certificate's `NAME` instead")
	complete(cmd, "kind", kind.known)
	complete(cmd, "may", httpapi.OwnerMay.Words())
	return cmd
}

// A madeToken is a new token, for programs.
type madeToken struct {
	Text string        `json:"token,omitempty"` // shown only now
	Kept httpapi.Token `json:"kept"`
}

func (c *console) createToken(ctx context.Context, p place, want httpapi.Token, may []string, during time.Duration, form string) error {
	want, err := c.wanted(want, may, during)
	if err != nil {
		return err
	}
	if err := c.mayChange(ctx, p); err != nil {
		return err
	}
	t, err := c.tokens(p)
	if err != nil {
		return err
	}
	if err := c.knownTenant(p, want.Tenant); err != nil {
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
		return refuse("", "%s", err)
	case form == asJSON:
		return c.json(made)
	case made.Text == "":
		c.say("the certificate %s is let in as %s; take it back with «floodmark fleet token revoke %s%s»", made.Kept.Certificate, made.Kept.Name, made.Kept.ID, p.flags())
		return nil
	}
	fmt.Fprintln(c.stdout, made.Text)
	c.say("this is shown once; take it back with «floodmark fleet token revoke %s%s»", made.Kept.ID, p.flags())
	return nil
}

// knownTenant warns of a tenant that service.yaml does not name: its token is refused until it
// does. It may be named later.
func (c *console) knownTenant(p place, tenant string) error {
	paths, err := c.paths(p)
	if err != nil || tenant == "" {
		return err
	}
	service, err := config.LoadService(paths.Service)
	if err != nil {
		return refuse("mend the file", "%s", err)
	}
	if _, named := service.Tenants[tenant]; !named {
		c.say("%s names no tenant %s, so the token is refused until it does", paths.Service, shorten(tenant))
	}
	return nil
}

// wanted checks the token that is to be made.
func (c *console) wanted(want httpapi.Token, may []string, during time.Duration) (httpapi.Token, error) {
	switch {
	case want.Kind != httpapi.OwnerKind && len(may) > 0:
		return want, refuse("leave --may out, or say --kind owner", "what --kind %s may do is fixed", want.Kind)
	case want.Kind == httpapi.OwnerKind && len(may) == 0:
		may = httpapi.MayView.Words()
	case during < 0:
		return want, refuse("write 720h", "--for takes a length of time above 0")
	}
	var err error
	if want.May, err = httpapi.ParseMay(may); err != nil {
		return want, refuse("", "--may: %s", err)
	}
	if during > 0 {
		want.Expires = c.clock().Add(during).UTC().Truncate(time.Second)
	}
	return want, nil
}

func newTokenList(c *console) *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:         "list",
		Short:       "List who is let in",
		Long:        "List the tokens and certificates that are let in, oldest first. The tokens\nthemselves are kept nowhere.",
		Example:     "  floodmark fleet token list\n  floodmark fleet token list --output json",
		Annotations: exits("they are listed, if there are any", ""),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			t, err := c.tokens(p)
			if err != nil {
				return err
			}
			list, err := t.List()
			switch {
			case err != nil:
				return refuse("", "%s", err)
			case format(cmd) == asJSON:
				return c.json(struct {
					Tokens []httpapi.Token `json:"tokens"`
				}{append([]httpapi.Token{}, list...)})
			case len(list) == 0:
				c.say("no caller is admitted over the network")
				return nil
			}
			fmt.Fprint(c.stdout, tokensText(c.outStyle(), list, c.clock()))
			return nil
		}),
	}
	addPlace(cmd, &p)
	return cmd
}

// tokensText is the list for people.
func tokensText(st style, list []httpapi.Token, now time.Time) string {
	p := &sheet{st: st}
	head := cells("ID", "KIND", "MAY", "ENDS", "NAME")
	for i := range head {
		head[i].paint = st.dim
	}
	rows := [][]cell{head}
	for _, t := range list {
		ends := cell{text: "never"}
		if !t.Expires.IsZero() {
			ends.text = t.Expires.Local().Format("2006-01-02 15:04")
		}
		if !t.Expires.IsZero() && !now.Before(t.Expires) {
			ends = cell{"ended", st.red}
		}
		name := t.Name
		if t.Certificate != "" {
			name += ", certificate " + t.Certificate
		}
		if t.Tenant != "" {
			name += ", tenant " + t.Tenant
		}
		if n := t.Most(); n > 0 {
			name += ", for " + count(int(n), "laptop", "laptops")
		}
		rows = append(rows, []cell{{text: t.ID}, {text: string(t.Kind)}, {text: strings.Join(t.May.Words(), ",")}, ends, {text: name}})
	}
	p.table(0, rows)
	return p.String()
}

func newTokenRevoke(c *console) *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:         "revoke ID",
		Short:       "Let a token or a certificate in no more",
		Long:        "Let a token or a certificate in no more. It counts from the next call on.",
		Example:     "  floodmark fleet token revoke 0123abcd",
		Annotations: exits("it is revoked", "you may not revoke it"),
		Args:        needs("ID"),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			if err := c.mayChange(cmd.Context(), p); err != nil {
				return err
			}
			t, err := c.tokens(p)
			if err != nil {
				return err
			}
			if err := t.Revoke(args[0]); err != nil {
				return refuse("«floodmark fleet token list"+p.flags()+"» shows their ids", "%s", err)
			}
			if format(cmd) == asJSON {
				return c.json(map[string]string{"revoked": args[0]})
			}
			c.say("revoked %s", args[0])
			return nil
		}),
	}
	addPlace(cmd, &p)
	return cmd
}
