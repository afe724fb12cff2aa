package policy_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

// arg is one argument: where it was found and how far it is believed.
func arg(path string, w floodmark.Whence, t floodmark.Trust) floodmark.Argument {
	return floodmark.Argument{Path: path, Role: floodmark.Critical, Whence: w, Trust: t}
}

// flowCase is a call in a context, and what a flow rule should say about it.
type flowCase struct {
	name    string
	effect  floodmark.Effect
	mark    floodmark.Label
	args    []floodmark.Argument
	reach   policy.Reach
	verdict floodmark.Verdict
	code    floodmark.Code // of the deciding reason; empty for none of a flow
}

func mark(t floodmark.Trust, s floodmark.Secrecy) floodmark.Label {
	return floodmark.Label{Trust: t, Secrecy: s}
}

func flowCases() []flowCase {
	stated, seen := arg("to", floodmark.Stated, floodmark.Owner), arg("to", floodmark.Seen, floodmark.Untrusted)
	mailed, composed := arg("to", floodmark.Seen, floodmark.External), arg("to", floodmark.Nowhere, floodmark.Untrusted)
	local := arg("to", floodmark.Seen, floodmark.Local)
	to := policy.Reach{Network: true, Destinations: []int{0}, URLArg: -1}
	url := policy.Reach{Network: true, URLArg: 0}
	with := func(r policy.Reach, change func(*policy.Reach)) policy.Reach { change(&r); return r }
	ext, unt, loc := floodmark.External, floodmark.Untrusted, floodmark.Local
	return []flowCase{
		// secrets
		{"secret, stated destination", floodmark.Send, mark(ext, floodmark.Secret), []floodmark.Argument{stated}, to, floodmark.Confirm, floodmark.FlowSecret},
		{"secret in the arguments", floodmark.Send, mark(ext, floodmark.Secret), []floodmark.Argument{stated}, with(to, func(r *policy.Reach) { r.SecretInArgs = true }), floodmark.Restrict, floodmark.FlowSecret},
		{"secret, destination from the web", floodmark.Send, mark(unt, floodmark.Secret), []floodmark.Argument{seen}, to, floodmark.Restrict, floodmark.FlowSecret},
		{"secret, destination from a mail", floodmark.Send, mark(ext, floodmark.Secret), []floodmark.Argument{mailed}, to, floodmark.Restrict, floodmark.FlowSecret},
		{"secret, one of two destinations lured", floodmark.Send, mark(ext, floodmark.Secret), []floodmark.Argument{stated, seen}, with(to, func(r *policy.Reach) { r.Destinations = []int{0, 1} }), floodmark.Restrict, floodmark.FlowSecret},
		{"secret, code with network", floodmark.Run, mark(ext, floodmark.Secret), nil, policy.Reach{Network: true, URLArg: -1}, floodmark.Confirm, floodmark.FlowSecret},
		{"secret, code without network", floodmark.Run, mark(ext, floodmark.Secret), nil, policy.Reach{URLArg: -1}, floodmark.Confirm, ""},
		{"secret, nothing from outside", floodmark.Send, mark(loc, floodmark.Secret), []floodmark.Argument{composed}, with(to, func(r *policy.Reach) { r.SecretInArgs = true }), floodmark.Confirm, floodmark.FlowSecret},
		{"secret to a place that was named, nothing from outside", floodmark.Send, mark(loc, floodmark.Secret), []floodmark.Argument{stated}, with(to, func(r *policy.Reach) { r.SecretInArgs = true }), floodmark.Audit, ""},
		{"secret read, not in the arguments, nothing from outside", floodmark.Send, mark(loc, floodmark.Secret), []floodmark.Argument{composed}, to, floodmark.Audit, ""},
		{"secret in code with network, nothing from outside", floodmark.Run, mark(loc, floodmark.Secret), nil, policy.Reach{Network: true, URLArg: -1, SecretInArgs: true}, floodmark.Confirm, floodmark.FlowSecret},
		{"secret in code without network, nothing from outside", floodmark.Run, mark(loc, floodmark.Secret), nil, policy.Reach{URLArg: -1, SecretInArgs: true}, floodmark.Allow, ""},
		{"secret in a fetch, nothing from outside", floodmark.Fetch, mark(loc, floodmark.Public), []floodmark.Argument{composed}, with(url, func(r *policy.Reach) { r.Network, r.SecretInArgs = false, true }), floodmark.Confirm, floodmark.FlowSecret},
		{"secret, the owner alone", floodmark.Send, mark(floodmark.Owner, floodmark.Secret), []floodmark.Argument{composed}, with(to, func(r *policy.Reach) { r.SecretInArgs = true }), floodmark.Allow, ""},
		{"secret, fetch of a composed address", floodmark.Fetch, mark(ext, floodmark.Secret), []floodmark.Argument{composed}, url, floodmark.Confirm, floodmark.FlowSecret},
		{"secret in a fetch", floodmark.Fetch, mark(ext, floodmark.Public), []floodmark.Argument{stated}, with(url, func(r *policy.Reach) { r.SecretInArgs = true }), floodmark.Restrict, floodmark.FlowSecret},
		// private data
		{"private, stated destination", floodmark.Send, mark(ext, floodmark.Private), []floodmark.Argument{stated}, to, floodmark.Confirm, ""},
		{"private, composed destination", floodmark.Send, mark(ext, floodmark.Private), []floodmark.Argument{composed}, to, floodmark.Confirm, floodmark.FlowPrivate},
		{"private, no destination", floodmark.Send, mark(ext, floodmark.Private), nil, policy.Reach{Network: true, URLArg: -1}, floodmark.Confirm, floodmark.FlowPrivate},
		{"private, destination out of range", floodmark.Send, mark(ext, floodmark.Private), nil, to, floodmark.Confirm, floodmark.FlowPrivate},
		{"private, own service read", floodmark.Fetch, mark(ext, floodmark.Private), []floodmark.Argument{composed}, with(url, func(r *policy.Reach) { r.Own = true }), floodmark.Allow, ""},
		{"private, local file", floodmark.Observe, mark(ext, floodmark.Private), nil, policy.Reach{URLArg: -1}, floodmark.Allow, ""},
		{"internal is not private", floodmark.Fetch, mark(ext, floodmark.Internal), []floodmark.Argument{local}, with(url, func(r *policy.Reach) { r.HostNamed = true }), floodmark.Allow, ""},
		// a network read is a channel
		{"fetch, composed address", floodmark.Fetch, mark(ext, floodmark.Private), []floodmark.Argument{composed}, url, floodmark.Confirm, floodmark.FlowFetch},
		{"fetch, stated address", floodmark.Fetch, mark(ext, floodmark.Private), []floodmark.Argument{stated}, url, floodmark.Allow, ""},
		{"fetch, stated host, composed rest", floodmark.Fetch, mark(ext, floodmark.Private), []floodmark.Argument{composed}, with(url, func(r *policy.Reach) { r.HostStated = true }), floodmark.Confirm, floodmark.FlowFetch},
		{"fetch, stated host, rest from there", floodmark.Fetch, mark(ext, floodmark.Private), []floodmark.Argument{composed}, with(url, func(r *policy.Reach) { r.HostStated, r.RestFromHost = true, true }), floodmark.Allow, ""},
		{"fetch, listed host, rest from there", floodmark.Fetch, mark(ext, floodmark.Private), []floodmark.Argument{local}, with(url, func(r *policy.Reach) { r.HostListed, r.RestFromHost = true, true }), floodmark.Allow, ""},
		{"fetch, listed host, composed rest", floodmark.Fetch, mark(ext, floodmark.Private), []floodmark.Argument{composed}, with(url, func(r *policy.Reach) { r.HostListed = true }), floodmark.Confirm, floodmark.FlowFetch},
		{"fetch, stated address and another argument", floodmark.Fetch, mark(ext, floodmark.Private), []floodmark.Argument{stated, composed}, url, floodmark.Confirm, floodmark.FlowFetch},
		{"search, composed query", floodmark.Fetch, mark(ext, floodmark.Private), []floodmark.Argument{composed}, policy.Reach{Network: true, URLArg: -1}, floodmark.Confirm, floodmark.FlowFetch},
		{"search, without private data", floodmark.Fetch, mark(unt, floodmark.Public), []floodmark.Argument{composed}, policy.Reach{Network: true, URLArg: -1}, floodmark.Allow, ""},
		{"search, nothing from outside", floodmark.Fetch, mark(loc, floodmark.Private), []floodmark.Argument{composed}, policy.Reach{Network: true, URLArg: -1}, floodmark.Allow, ""},
		{"write on a remote server", floodmark.Write, mark(ext, floodmark.Private), []floodmark.Argument{composed}, policy.Reach{Network: true, URLArg: -1}, floodmark.Confirm, floodmark.FlowFetch},
		{"write on the owner's own server", floodmark.Write, mark(ext, floodmark.Private), []floodmark.Argument{composed}, policy.Reach{Network: true, Own: true, URLArg: -1}, floodmark.Allow, ""},
		{"send through the owner's own server", floodmark.Send, mark(ext, floodmark.Private), []floodmark.Argument{composed}, with(to, func(r *policy.Reach) { r.Own = true }), floodmark.Confirm, floodmark.FlowPrivate},
		// steered
		{"address from the web", floodmark.Fetch, mark(unt, floodmark.Public), []floodmark.Argument{seen}, url, floodmark.Confirm, floodmark.FlowFetch},
		{"address from a mail", floodmark.Fetch, mark(ext, floodmark.Internal), []floodmark.Argument{mailed}, url, floodmark.Confirm, floodmark.FlowFetch},
		{"address found nowhere", floodmark.Fetch, mark(unt, floodmark.Public), []floodmark.Argument{composed}, url, floodmark.Confirm, floodmark.FlowFetch},
		{"address found nowhere at a stated host", floodmark.Fetch, mark(unt, floodmark.Public), []floodmark.Argument{composed}, with(url, func(r *policy.Reach) { r.HostStated = true }), floodmark.Allow, ""},
		{"address found nowhere at a listed host", floodmark.Fetch, mark(unt, floodmark.Public), []floodmark.Argument{composed}, with(url, func(r *policy.Reach) { r.HostListed = true }), floodmark.Allow, ""},
		{"address found nowhere, nothing from outside", floodmark.Fetch, mark(loc, floodmark.Public), []floodmark.Argument{composed}, url, floodmark.Allow, ""},
		{"address from a local file", floodmark.Fetch, mark(unt, floodmark.Public), []floodmark.Argument{local}, with(url, func(r *policy.Reach) { r.HostNamed = true }), floodmark.Allow, ""},
		// active content
		{"link in a message", floodmark.Send, mark(ext, floodmark.Internal), []floodmark.Argument{stated}, with(to, func(r *policy.Reach) { r.ActiveContent, r.FreeContent = true, true }), floodmark.Confirm, ""},
	}
}

func (c flowCase) question() *policy.Question {
	q := ask("t", c.effect, c.mark.Trust)
	q.Mark, q.Args, q.Reach = c.mark, c.args, c.reach
	return q
}

func TestFlows(t *testing.T) {
	p := shipped(t, "assistant")
	off := load(t, user("flows: {off: [flow-secret, flow-private, flow-fetch, active-content]}"))
	free := load(t, user(`toolOverrides: {t: {"*": allow}}`))
	for _, c := range flowCases() {
		got := p.Decide(c.question())
		if got.Verdict != c.verdict || c.code != "" && (got.Reasons[0].Code != c.code || !got.Flow) || c.code == "" && got.Flow {
			t.Errorf("%s: %+v, want %s by %s", c.name, got, c.verdict, c.code)
		}
		if r := off.Decide(c.question()); r.Flow {
			t.Errorf("%s: flows are off, but %+v", c.name, r)
		}
		// Neither an override nor the owner's words lift a flow rule.
		q := c.question()
		q.Trust, q.Relaxed = floodmark.Owner, true
		if r := free.Decide(q); c.code != "" && (r.Verdict > c.verdict || !r.Flow) {
			t.Errorf("%s: relaxed and overridden: %+v", c.name, r)
		}
	}
}

func TestFetchSteeredInCoding(t *testing.T) {
	q := ask("web_fetch", floodmark.Fetch, floodmark.Untrusted)
	q.Args, q.Reach = []floodmark.Argument{arg("url", floodmark.Seen, floodmark.Untrusted)}, policy.Reach{Network: true, URLArg: 0}
	if got := shipped(t, "coding").Decide(q); got.Verdict != floodmark.Audit || got.Flow {
		t.Errorf("%+v", got)
	}
	for _, whence := range []floodmark.Whence{floodmark.Nowhere, floodmark.Seen} { // seen in what a command printed
		q.Args, q.Reach.HostNamed = []floodmark.Argument{arg("url", whence, floodmark.Local)}, false
		if got := shipped(t, "coding").Decide(q); got.Verdict != floodmark.Audit || got.Flow {
			t.Errorf("an address that nobody named: %+v", got)
		}
		q.Reach.HostNamed = true
		if got := shipped(t, "coding").Decide(q); got.Verdict != floodmark.Allow {
			t.Errorf("an address at a host that the owner's work names: %+v", got)
		}
	}
}

// The verdict on a relaxed call depends on its text.
func TestRelaxedCalls(t *testing.T) {
	for _, c := range []struct {
		name, profile string
		effect        floodmark.Effect
		mark          floodmark.Label
		change        func(*policy.Question)
		auditor       bool
		want          floodmark.Verdict
		code          floodmark.Code
	}{
		{"inert", "assistant", floodmark.Send, mark(floodmark.External, floodmark.Internal), nil, false, floodmark.Allow, floodmark.OwnerStated},
		{"inert", "coding", floodmark.Send, mark(floodmark.Untrusted, floodmark.Internal), nil, false, floodmark.Allow, floodmark.OwnerStated},
		{"inert", "strict", floodmark.Send, mark(floodmark.External, floodmark.Internal), nil, false, floodmark.Audit, floodmark.TaintEscalation},
		{"inert, auditor", "assistant", floodmark.Send, mark(floodmark.External, floodmark.Internal), nil, true, floodmark.Audit, floodmark.TaintEscalation},
		{"link", "assistant", floodmark.Send, mark(floodmark.External, floodmark.Internal), func(q *policy.Question) { q.Reach.ActiveContent = true }, false, floodmark.Audit, floodmark.ActiveContent},
		{"link in a changed record", "assistant", floodmark.Change, mark(floodmark.External, floodmark.Internal), func(q *policy.Question) { q.Reach.ActiveContent = true }, false, floodmark.Audit, floodmark.ActiveContent},
		{"link in a file", "assistant", floodmark.Write, mark(floodmark.External, floodmark.Internal), func(q *policy.Question) { q.Reach.ActiveContent = true }, false, floodmark.Allow, ""},
		{"private text", "assistant", floodmark.Send, mark(floodmark.External, floodmark.Private), nil, false, floodmark.Audit, floodmark.TaintEscalation},
		{"private text asked for", "assistant", floodmark.Send, mark(floodmark.External, floodmark.Private), func(q *policy.Question) { q.Reach.ContentLicensed = true }, false, floodmark.Allow, floodmark.OwnerStated},
		{"no text", "strict", floodmark.Send, mark(floodmark.External, floodmark.Internal), func(q *policy.Question) { q.Reach.FreeContent = false }, false, floodmark.Allow, floodmark.OwnerStated},
		{"only shared", "strict", floodmark.Send, mark(floodmark.Shared, floodmark.Internal), nil, false, floodmark.Allow, floodmark.OwnerStated},
		{"code is never relaxed", "assistant", floodmark.Run, mark(floodmark.External, floodmark.Internal), nil, false, floodmark.Confirm, floodmark.TaintEscalation},
		{"admin is never relaxed", "assistant", floodmark.Admin, mark(floodmark.External, floodmark.Internal), nil, false, floodmark.Restrict, floodmark.TaintEscalation},
		{"not relaxed after all", "assistant", floodmark.Send, mark(floodmark.External, floodmark.Internal), func(q *policy.Question) { q.Relaxed = false }, false, floodmark.Confirm, floodmark.TaintEscalation},
		{"secret nearby", "assistant", floodmark.Send, mark(floodmark.External, floodmark.Secret), nil, false, floodmark.Confirm, floodmark.FlowSecret},
		{"a shell that waits", "coding", floodmark.Run, mark(floodmark.Owner, floodmark.Internal), func(q *policy.Question) { q.Findings = []floodmark.Finding{floodmark.TakesCommands} }, false, floodmark.Confirm, floodmark.Interactive},
		{"the monitor itself", "assistant", floodmark.Write, mark(floodmark.External, floodmark.Internal), func(q *policy.Question) { q.SelfProtected = true }, false, floodmark.Confirm, floodmark.SelfProtection},
	} {
		lines := []string{"profile: " + c.profile}
		if c.auditor {
			lines = append(lines, "auditor: {on: true}")
		}
		q := ask("t", c.effect, c.mark.Trust)
		q.Mark, q.Trust, q.Relaxed = c.mark, floodmark.Owner, true
		q.Args = []floodmark.Argument{arg("to", floodmark.Stated, floodmark.Owner)}
		q.Reach = policy.Reach{Network: c.effect == floodmark.Send, Destinations: []int{0}, URLArg: -1, FreeContent: true}
		if c.change != nil {
			c.change(q)
		}
		got := load(t, user(lines...)).Decide(q)
		if got.Verdict != c.want || c.code != "" && got.Reasons[0].Code != c.code || c.code == "" && len(got.Reasons) > 0 {
			t.Errorf("%s in %s: %+v, want %s by %s", c.name, c.profile, got, c.want, c.code)
		}
		if got := load(t, user(append(lines, "relax: false")...)).Decide(q); got.Verdict > c.want {
			t.Errorf("%s in %s, relax off: %+v", c.name, c.profile, got)
		}
	}
}

// Bits that may be told by a choice: the user sets them, a project only lowers them.
func TestChoices(t *testing.T) {
	own := policy.Layer{Name: "user", Data: []byte("version: 1\nchoices: {secret: 16, private: 40}\n")}
	project := policy.Layer{Name: "project", Project: true, Data: []byte("version: 1\nchoices: {secret: 3, private: 41}\n")}
	p := load(t, own, project)
	if got := p.Settings("any").Choices; got != [...]int{3, 40} {
		t.Errorf("choices are %v", got)
	}
	for told, want := range map[int]floodmark.Verdict{33: floodmark.Allow, 34: floodmark.Confirm} {
		q := ask("web_fetch", floodmark.Fetch, floodmark.Untrusted)
		q.Mark.Secrecy = floodmark.Private
		q.Args = []floodmark.Argument{arg("url", floodmark.Seen, floodmark.Untrusted)}
		q.Reach = policy.Reach{Network: true, HostStated: true, RestFromHost: true, Site: true, Tells: 7, Told: told}
		if got := p.Decide(q); got.Verdict != want {
			t.Errorf("after %d bits: %+v", told, got)
		}
		if q.Reach.Tells = 0; p.Decide(q).Verdict != floodmark.Allow {
			t.Errorf("after %d bits, a request that tells nothing is not allowed", told)
		}
	}
}
