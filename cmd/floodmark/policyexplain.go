package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/whatif"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// explainOptions are the flags of «floodmark policy explain».
type explainOptions struct {
	agent, server            string
	args                     string
	trust, secrecy           choice
	owner, content           string
	policy, profile, service string
	projects                 []string
}

func newPolicyExplain(c *console) *cobra.Command {
	opt := &explainOptions{
		trust:   choice{name: "LEVEL", value: floodmark.Untrusted.String(), known: trustWords()},
		secrecy: choice{name: "LEVEL", value: floodmark.Public.String(), known: secrecyWords()},
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
		Annotations: exits("the call would be allowed", "it would not go through by itself: a person is asked, or it is refused"),
		Args:        needs("TOOL"),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			return c.explain(opt, args[0], format(cmd))
		}),
		ValidArgsFunction: offerTools,
	}
	f := cmd.Flags()
	f.StringVar(&opt.agent, "agent", "", "the `AGENT` that would call it")
	f.StringVar(&opt.server, "server", "", "the `SERVER` that offers the tool")
	f.StringVar(&opt.args, "args", "", "the call's arguments as a `JSON` object; «-» reads standard input")
	f.Var(&opt.trust, "trust", "how far the content in the context may be believed: "+strings.Join(trustWords(), ", "))
	f.Var(&opt.secrecy, "secrecy", "who may see the content in the context: "+strings.Join(secrecyWords(), ", "))
	f.StringVar(&opt.owner, "owner", "", "what the owner typed, as `TEXT`: arguments named there are the owner's")
	f.StringVar(&opt.content, "content", "", "what the content in the context says, as `TEXT`: arguments found there came from it")
	f.StringVar(&opt.policy, "policy", "", "the user's policy `FILE` (without one: the shipped profile)")
	f.StringVar(&opt.profile, "profile", opt.profile, "the shipped `PROFILE` if there is no policy file: "+strings.Join(profiles(), ", "))
	f.StringVar(&opt.service, "service", "", "the `FILE` service.yaml whose verifiers count beside the policy's")
	f.StringArrayVar(&opt.projects, "project", nil, "a project's policy `FILE`; may be given more than once")
	cmd.MarkFlagsMutuallyExclusive("policy", "profile")
	offerOwners(cmd)
	complete(cmd, "trust", trustWords())
	complete(cmd, "secrecy", secrecyWords())
	complete(cmd, "profile", profiles())
	return cmd
}

func (c *console) explain(opt *explainOptions, tool, form string) error {
	rules, err := c.rules(opt)
	if err != nil {
		return err
	}
	h, err := c.hypothesis(opt, tool, rules.Catalog)
	if err != nil {
		return err
	}
	e, err := h.Explain(rules)
	if err != nil {
		return err
	}
	if form == asJSON {
		err = c.json(e)
	} else {
		c.printExplanation(&explanation{e, knownTo(rules.Catalog)})
	}
	if err == nil && e.Verdict != floodmark.Allow {
		err = errNo
	}
	return err
}

// rules loads the policy and the catalog in force.
func (c *console) rules(opt *explainOptions) (kernel.Rules, error) {
	if !slices.Contains(profiles(), opt.profile) {
		return kernel.Rules{}, refuse("known are "+strings.Join(profiles(), ", "), "--profile: there is no %q", opt.profile)
	}
	shipped, err := c.shippedCatalog()
	if err != nil {
		return kernel.Rules{}, err
	}
	user := policy.Layer{Name: "--profile " + opt.profile, Data: []byte("version: 1\nprofile: " + opt.profile + "\n")}
	if opt.policy != "" {
		if user, err = c.layer(opt.policy, false); err != nil {
			return kernel.Rules{}, err
		}
	}
	below, err := c.projectLayers(opt.projects)
	if err != nil {
		return kernel.Rules{}, err
	}
	p, problems := policy.Load(append([]policy.Layer{user}, below...)...)
	if problems.Failed() {
		return kernel.Rules{}, refuse("«floodmark policy check» shows the lines", "%s", problems.Error())
	}
	rules := kernel.NewRules(p, catalog.New(p.Tools(), shipped))
	if opt.service != "" {
		data, err := c.read(opt.service)
		if err != nil {
			return kernel.Rules{}, err
		}
		s, err := config.ParseService(opt.service, data)
		if err != nil {
			return kernel.Rules{}, refuse("mend the file", "%s", err)
		}
		rules.Gates = s.Gates()
	}
	return rules, nil
}

// hypothesis reads the call to explain.
func (c *console) hypothesis(opt *explainOptions, tool string, cat *catalog.Catalog) (whatif.Hypothesis, error) {
	h := whatif.Hypothesis{Owner: opt.owner, Content: opt.content, Project: c.dir, Home: c.getenv("HOME")}
	h.Label.Trust, _ = floodmark.ParseTrust(opt.trust.value) // the flags accept only its words
	h.Label.Secrecy, _ = floodmark.ParseSecrecy(opt.secrecy.value)
	text := opt.args
	if text == stdinName {
		data, err := c.read(stdinName)
		if err != nil {
			return h, err
		}
		text = string(data)
	}
	ref, err := resolve(cat, tool, opt.agent, opt.server)
	if err != nil {
		return h, err
	}
	h.Agent, h.Call = ref.Agent, hook.Call{ID: "call", Server: ref.Server, Name: ref.Name, Args: json.RawMessage(text)}
	if text = strings.TrimSpace(text); text != "" && !strings.HasPrefix(text, "{") {
		return h, refuse(`write it like '{"to":"bob@firm.example"}'`, "--args is not a JSON object: %s", shorten(text))
	}
	if _, err := h.Call.Leaves(); err != nil {
		return h, refuse(`write it like '{"to":"bob@firm.example"}'`, "--args: %s", err)
	}
	return h, nil
}
