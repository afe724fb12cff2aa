package setup

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/ask/webhook"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/verify"
)

func newDoctorWebhook(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Find out whether the other system answers",
		Long: `Send a test to every webhook that service.yaml names under «verifier», signed like
a real request, and say what came back: the connection, the status, the decision
and its reason. The test is about a tool «floodmark_test» that does not exist, so
that no answer can make anything run. Nothing is written to the journal.

The variables that service.yaml names must be set where this command runs, as they
are where the monitor runs. A policy that names a verifier without an address is
reported as well.`,
		Example: `  floodmark doctor webhook
  VERIFIER_HMAC_SECRET=… floodmark doctor webhook --output json`,
		Annotations: cli.Exits("every webhook gave an answer", "a problem was found"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return doctorWebhook(cmd.Context(), c, p, cli.Format(cmd))
		}),
	}
	cli.AddPlace(cmd, &p)
	return cmd
}

func doctorWebhook(ctx context.Context, c *cli.Console, p cli.Place, form string) error {
	return lookAtService(c, p, form, func(paths config.Paths, s config.Service) []cli.Finding {
		names, hooks := s.Webhooks()
		rules, err := config.LoadRules(paths.Policy)
		if err != nil {
			return []cli.Finding{cli.Wrong("policy", "«floodmark policy check» shows each place", "it cannot be read")}
		}
		rules.Gates = s.Gates()
		list := checkNamedGates(rules.Rules)
		if len(hooks) == 0 && len(list) == 0 {
			list = append(list, unset(paths, "no webhook under «verifier» that is on"))
		}
		for i, h := range hooks {
			list = append(list, checkWebhook(ctx, c, names[i], rules.Rules, h)...)
		}
		return list
	})
}

// checkWebhook sends a test.
func checkWebhook(ctx context.Context, c *cli.Console, name string, rules kernel.Rules, settings *config.Webhook) []cli.Finding {
	o, err := settings.Options(name)
	if err != nil {
		return []cli.Finding{cli.Wrong(name, "set it where this command and the monitor run", "%s", err)}
	}
	o.Now, o.Version = c.Clock, c.Build.Line()
	h, err := webhook.New(o)
	if err != nil {
		return []cli.Finding{cli.Wrong(name, "mend it in service.yaml", "%s", err)}
	}
	defer h.Close()
	signed := "it is signed"
	if o.Secret == "" {
		signed = "it is not signed, so that the receiver cannot know who asks"
	}
	silence := rules.Gates.Silence(name, func(agent string) verify.FailMode { return rules.Gate(agent, name).FailMode })
	where, _, _ := strings.Cut(o.URL, "?") // the query may contain a token
	list := []cli.Finding{cli.OK(name, "a test goes to %s; %s; without an answer failMode says %s", where, signed, silence)}
	if o.Secret == "" {
		list[0] = cli.Note(name, "set «secret: ${VERIFIER_HMAC_SECRET}»", "a test goes to %s; %s", where, signed)
	}
	r := h.Try(ctx, webhook.Test(uuid.NewString(), c.Clock()))
	if r.Failure != nil {
		return append(list, cli.Wrong(name+" answer", webhook.Hint(r.Failure.Kind), "%s (%s, %s)", r.Failure.Text, cli.Count(r.Tries, "try", "tries"), took(r.Took)))
	}
	list = append(list, cli.OK(name+" connection", "%s, %s, after %s", cmp.Or(r.TLS, "in the clear, on this machine"), r.Status, took(r.Took)))
	if r.Took > slowAnswer {
		list = append(list, cli.Note(name+" time", "agents wait 10 s for a hook at most: a slower answer counts only when the agent tries again", "it took %s", took(r.Took)))
	}
	said := "deny"
	if r.Answer.Allow {
		said = "allow"
	}
	if r.Answer.Reason != "" {
		said += ", because «" + r.Answer.Reason + "»"
	}
	list = append(list, cli.OK(name+" answer", "%s", said))
	if r.TLS == "" {
		list = append(list, cli.Note(name+" receiver", "let it run as another user, or give it a certificate and write https (with «ca:» for one of your own)",
			"any program of your user could listen there while it does not run, and answer yes: only TLS proves who answers"))
	}
	return list
}

// slowAnswer is longer than the hooks of most agents wait.
const slowAnswer = 5 * time.Second

func took(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// checkNamedGates finds verifiers that the policy names but service.yaml does not describe. Calls
// in their scope are refused.
func checkNamedGates(rules kernel.Rules) []cli.Finding {
	var missing []string
	for _, v := range rules.Policy.Verifiers("") {
		if !rules.Gates.Has(v.Name) {
			missing = append(missing, v.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []cli.Finding{cli.Wrong("policy", "describe it in service.yaml under «verifier», or take it out of the policy", "it asks %s, which service.yaml does not say how to reach: every call in its scope is refused", strings.Join(missing, ", "))}
}
