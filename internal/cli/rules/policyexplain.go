package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/reports/toolbook"
	"github.com/floodmark/floodmark/internal/rules/whatif"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// explainOptions are the flags of «floodmark policy explain».
type explainOptions struct {
	agent, server            string
	args                     string
	trust, secrecy           cli.Choice
	owner, content           string
	policy, profile, service string
	projects                 []string
}

func newPolicyExplain(c *cli.Console) *cobra.Command {
	opt := &explainOptions{
		trust:   cli.Choice{Name: "LEVEL", Value: floodmark.Untrusted.String(), Known: cli.TrustWords()},
		secrecy: cli.Choice{Name: "LEVEL", Value: floodmark.Public.String(), Known: cli.SecrecyWords()},
		profile: profiles()[0],
	}
	cmd := &cobra.Command{
		Use:   "explain TOOL",
		Short: "Say whether a call would be allowed, and why",
		Long: `Say whether a call of TOOL would be allowed in a session whose context holds
content of the given trust and secrecy, and why: what the tool is, where each
argument came from, what decided, which verifiers must agree, what it would be at
every other level, and what a person can do. The answer comes from the monitor itself: a session is
made up, and the call is judged in it.

TOOL is the name of a tool, or SERVER/TOOL. A name alone identifies no tool: if
several agents have one of that name, say which with --agent. Relative paths in
the arguments are taken from the folder you are in, which counts as the project.`,
		Example: `  floodmark policy explain exec --agent openclaw --args '{"command":"make"}'
  floodmark policy explain message --agent openclaw --trust external \
      --args '{"to":"bob@firm.example","message":"I am late"}' \
      --owner "tell bob@firm.example that I am late"
  floodmark policy explain github/create_issue --policy floodmark.yaml -o json`,
		Annotations: cli.Exits("the call would be allowed", "it would not go through by itself: a person is asked, or it is refused"),
		Args:        cli.Needs("TOOL"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			return explain(c, opt, args[0], cli.Format(cmd))
		}),
		ValidArgsFunction: offerTools,
	}
	f := cmd.Flags()
	f.StringVar(&opt.agent, "agent", "", "the `AGENT` that would call it")
	f.StringVar(&opt.server, "server", "", "the `SERVER` that offers the tool")
	f.StringVar(&opt.args, "args", "", "the call's arguments as a `JSON` object; «-» reads standard input")
	f.Var(&opt.trust, "trust", "how far the content in the context is trusted: "+strings.Join(cli.TrustWords(), ", "))
	f.Var(&opt.secrecy, "secrecy", "who may see the content in the context: "+strings.Join(cli.SecrecyWords(), ", "))
	f.StringVar(&opt.owner, "owner", "", "what the owner typed, as `TEXT`: arguments named there are the owner's")
	f.StringVar(&opt.content, "content", "", "what the content in the context says, as `TEXT`: arguments found there came from it")
	f.StringVar(&opt.policy, "policy", "", "the user's policy `FILE` (without one: the shipped profile)")
	f.StringVar(&opt.profile, "profile", opt.profile, "the shipped `PROFILE` if there is no policy file: "+strings.Join(profiles(), ", "))
	f.StringVar(&opt.service, "service", "", "the `FILE` service.yaml whose verifiers count beside the policy's")
	f.StringArrayVar(&opt.projects, "project", nil, "a project's policy `FILE`; may be given more than once")
	cmd.MarkFlagsMutuallyExclusive("policy", "profile")
	offerOwners(cmd)
	cli.Complete(cmd, "trust", cli.TrustWords())
	cli.Complete(cmd, "secrecy", cli.SecrecyWords())
	cli.Complete(cmd, "profile", profiles())
	return cmd
}

func explain(c *cli.Console, opt *explainOptions, tool, form string) error {
	rules, err := rules(c, opt)
	if err != nil {
		return err
	}
	h, err := hypothesis(c, opt, tool, rules.Catalog)
	if err != nil {
		return err
	}
	e, err := h.Explain(rules)
	if err != nil {
		return err
	}
	if form == cli.AsJSON {
		err = c.JSON(e)
	} else {
		printExplanation(c, &explanation{e, toolbook.KnownTo(rules.Catalog)})
	}
	if err == nil && e.Verdict != floodmark.Allow {
		err = cli.ErrNo
	}
	return err
}

// rules loads the policy and the catalog in force.
func rules(c *cli.Console, opt *explainOptions) (kernel.Rules, error) {
	if !slices.Contains(profiles(), opt.profile) {
		return kernel.Rules{}, cli.Refuse("known are "+strings.Join(profiles(), ", "), "--profile: there is no %q", opt.profile)
	}
	shipped, err := c.ShippedCatalog()
	if err != nil {
		return kernel.Rules{}, err
	}
	user := policy.Layer{Name: "--profile " + opt.profile, Data: []byte("version: 1\nprofile: " + opt.profile + "\n")}
	if opt.policy != "" {
		if user, err = layer(c, opt.policy, false); err != nil {
			return kernel.Rules{}, err
		}
	}
	below, err := projectLayers(c, opt.projects)
	if err != nil {
		return kernel.Rules{}, err
	}
	p, problems := policy.Load(append([]policy.Layer{user}, below...)...)
	if problems.Failed() {
		return kernel.Rules{}, cli.Refuse("«floodmark policy check» shows the lines", "%s", problems.Error())
	}
	rules := kernel.NewRules(p, catalog.New(p.Tools(), shipped))
	if opt.service != "" {
		data, err := c.Read(opt.service)
		if err != nil {
			return kernel.Rules{}, err
		}
		s, err := config.ParseService(opt.service, data)
		if err != nil {
			return kernel.Rules{}, cli.Refuse("mend the file", "%s", err)
		}
		rules.Gates = s.Gates()
	}
	return rules, nil
}

// hypothesis reads the call to explain.
func hypothesis(c *cli.Console, opt *explainOptions, tool string, cat *catalog.Catalog) (whatif.Hypothesis, error) {
	h := whatif.Hypothesis{Owner: opt.owner, Content: opt.content, Project: c.Dir, Home: c.Getenv("HOME")}
	h.Label.Trust, _ = floodmark.ParseTrust(opt.trust.Value) // the flags accept only valid words
	h.Label.Secrecy, _ = floodmark.ParseSecrecy(opt.secrecy.Value)
	text := opt.args
	if text == cli.StdinName {
		data, err := c.Read(cli.StdinName)
		if err != nil {
			return h, err
		}
		text = string(data)
	}
	ref, err := cli.Resolve(cat, tool, opt.agent, opt.server)
	if err != nil {
		return h, err
	}
	h.Agent, h.Call = ref.Agent, hook.Call{ID: "call", Server: ref.Server, Name: ref.Name, Args: json.RawMessage(text)}
	if text = strings.TrimSpace(text); text != "" && !strings.HasPrefix(text, "{") {
		return h, cli.Refuse(`write it like '{"to":"bob@firm.example"}'`, "--args is not a JSON object: %s", cli.Shorten(text))
	}
	if _, err := h.Call.Leaves(); err != nil {
		return h, cli.Refuse(`write it like '{"to":"bob@firm.example"}'`, "--args: %s", err)
	}
	return h, nil
}
