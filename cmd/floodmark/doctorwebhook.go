package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/webhook"
	"github.com/floodmark/floodmark/verify"
)

func newDoctorWebhook(c *console) *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Find out whether the other system answers",
		Long: `Send a test to every webhook that service.yaml names under «verifier», signed like
a real request, and say what came back: the connection, the status, the decision
and its reason. The test is about a tool «floodmark_test» that does not exist, so
that nothing can run whatever is answered. Nothing is written to the journal.

The variables that service.yaml names must be set where this command runs, as they
are where the monitor runs. A policy that names a verifier nobody can reach is
found as well.`,
		Example: `  floodmark doctor webhook
  VERIFIER_HMAC_SECRET=… floodmark doctor webhook --output json`,
		Annotations: exits("every webhook gave an answer", "a problem was found"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			return c.doctorWebhook(cmd.Context(), p, format(cmd))
		}),
	}
	addPlace(cmd, &p)
	return cmd
}

func (c *console) doctorWebhook(ctx context.Context, p place, form string) error {
	return c.lookAtService(p, form, func(paths config.Paths, s config.Service) []finding {
		names, hooks := s.Webhooks()
		list := checkNamedGates(paths, s)
		if len(hooks) == 0 && len(list) == 0 {
			list = append(list, unset(paths, "no webhook under «verifier»"))
		}
		for i, h := range hooks {
			list = append(list, c.checkWebhook(ctx, names[i], s, h)...)
		}
		return list
	})
}

// checkWebhook sends a test.
func (c *console) checkWebhook(ctx context.Context, name string, s config.Service, settings *config.Webhook) []finding {
	o, err := settings.Options(name)
	if err != nil {
		return []finding{wrong(name, "set it where this command and the monitor run", "%s", err)}
	}
	o.Now, o.Version = c.clock, c.build.line()
	h, err := webhook.New(o)
	if err != nil {
		return []finding{wrong(name, "mend it in service.yaml", "%s", err)}
	}
	defer h.Close()
	signed := "it is signed"
	if o.Secret == "" {
		signed = "it is not signed, so that the receiver cannot know who asks"
	}
	gate, _ := s.Gates().Gate("", name)
	where, _, _ := strings.Cut(o.URL, "?") // what stands there may be a token
	list := []finding{ok(name, "a test goes to %s; %s; without an answer failMode says %s", where, signed, gate.FailMode)}
	if o.Secret == "" {
		list[0] = note(name, "set «secret: ${VERIFIER_HMAC_SECRET}»", "a test goes to %s; %s", where, signed)
	}
	r := h.Try(ctx, testRequest(c.clock()))
	if r.Failure != nil {
		return append(list, wrong(name+" answer", todoOf(r.Failure.Kind), "%s (%s, %s)", r.Failure.Text, count(r.Tries, "try", "tries"), took(r.Took)))
	}
	way := "in the clear, on this machine"
	if r.TLS != "" {
		way = r.TLS
	}
	list = append(list, ok(name+" connection", "%s, %s, after %s", way, r.Status, took(r.Took)))
	if r.Took > slowAnswer {
		list = append(list, note(name+" time", "agents wait 10 s for a hook at most: a slower answer counts only when the agent tries again", "it took %s", took(r.Took)))
	}
	said := "deny"
	if r.Answer.Allow {
		said = "allow"
	}
	if r.Answer.Reason != "" {
		said += ", because «" + r.Answer.Reason + "»"
	}
	list = append(list, ok(name+" answer", "%s", said))
	if r.TLS == "" {
		list = append(list, note(name+" receiver", "let it run as another user, or give it a certificate and write https (with «ca:» for one of your own)",
			"whatever runs as your user could listen there while it does not run, and answer yes: only TLS proves who answers"))
	}
	return list
}

// slowAnswer is what most agents' hooks have no time for.
const slowAnswer = 5 * time.Second

// testRequest is about a tool that does not exist.
func testRequest(now time.Time) verify.Request {
	return verify.Request{
		ID: uuid.NewString(), At: now, Session: "floodmark/doctor", Agent: "floodmark", Tool: "floodmark_test",
		Params: []byte(`{"note":"a test by «floodmark doctor webhook»: nothing runs"}`),
	}
}

// todoOf says what to do about an answer that did not come.
func todoOf(k verify.FailureKind) string {
	switch k {
	case verify.Unreachable:
		return "start the receiver, or mend «url:»"
	case verify.Untrusted:
		return "give the receiver a certificate for its host; one of your own maker needs «ca:»"
	case verify.Redirected:
		return "write the address it points to into «url:»"
	case verify.Status:
		return "look into the receiver's log: is the path right, and does it accept the signature and the headers?"
	case verify.Malformed, verify.TooLarge:
		return `answer {"decision":"allow"} or {"decision":"deny","reason":"…"} and nothing else`
	case verify.TimedOut:
		return "make the receiver faster, or raise «timeout:»"
	default:
		return "try again"
	}
}

func took(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// checkNamedGates finds verifiers that the policy names and nobody can reach:
// their calls are refused.
func checkNamedGates(p config.Paths, s config.Service) []finding {
	rules, err := config.LoadRules(p.Policy)
	if err != nil {
		return []finding{wrong("policy", "«floodmark policy check» shows each place", "it cannot be read")}
	}
	var known, missing []string
	for _, g := range s.Gates() {
		known = append(known, g.Name)
	}
	for _, v := range rules.Policy.Verifiers("") {
		if !slices.Contains(known, v.Name) {
			missing = append(missing, v.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []finding{wrong("policy", "describe it in service.yaml under «verifier», or take it out of the policy", "it asks %s, which service.yaml does not say how to reach: every call in its scope is refused", strings.Join(missing, ", "))}
}
