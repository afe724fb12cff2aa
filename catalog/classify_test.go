package catalog

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// args makes leaves from names and string values.
func args(pairs ...string) []hook.Leaf {
	var out []hook.Leaf
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, hook.Leaf{Path: pairs[i], Top: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func here() Places { return Places{Project: "/home/u/work/app", Home: "/home/u"} }

const (
	admin   = floodmark.Admin
	run     = floodmark.Run
	send    = floodmark.Send
	change  = floodmark.Change
	write   = floodmark.Write
	fetch   = floodmark.Fetch
	observe = floodmark.Observe
)

func effects(e ...floodmark.Effect) []floodmark.Effect { return e }

func sameEffects(a, b []floodmark.Effect) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func TestCasesByArgument(t *testing.T) {
	c := shipped(t)
	for _, tc := range []struct {
		name string
		ref  floodmark.ToolRef
		args []hook.Leaf
		want []floodmark.Effect
	}{
		{"message sends", builtin("openclaw", "message"), args("action", "send"), effects(send)},
		{"message reads", builtin("openclaw", "message"), args("action", "read"), effects(fetch)},
		{"message with an action nobody knows", builtin("openclaw", "message"), args("action", "x-quote"), effects(send)},
		{"message without an action", builtin("openclaw", "message"), nil, effects(send)},
		{"case folded values may only tighten", builtin("openclaw", "message"), args("action", "READ"), effects(send, fetch)},
		{
			"two values, one of them harmless", builtin("openclaw", "message"),
			[]hook.Leaf{{Path: "action[0]", Top: "action", Value: "read"}, {Path: "action[1]", Top: "action", Value: "send"}},
			effects(send, fetch),
		},
		{"message deletes", builtin("openclaw", "message"), args("action", "delete"), effects(change)},
		{"cron lists", builtin("openclaw", "cron"), args("action", "list"), effects(observe)},
		{"cron adds", builtin("openclaw", "cron"), args("action", "add"), effects(admin)},
		{"gateway", builtin("openclaw", "gateway"), args("action", "config.get"), effects(admin)},
		{"browser acts", builtin("openclaw", "browser"), args("action", "act"), effects(send)},
		{"browser looks", builtin("openclaw", "browser"), args("action", "snapshot"), effects(fetch)},
		{"issue is opened", offered("github", "issue_write"), args("method", "create"), effects(send)},
		{"issue is changed", offered("github", "issue_write"), args("method", "update"), effects(send, change)},
		{"a page is saved", offered("playwright", "browser_snapshot"), args("filename", "page.md"), effects(fetch, write)},
	} {
		if u := c.Classify(tc.ref, tc.args, nil, here()); !sameEffects(u.Effects, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, u.Effects, tc.want)
		}
	}
}

func TestHostCases(t *testing.T) {
	c := New([]*File{parse(t, `
agent: openclaw
tools:
  - tool: web_fetch
    effect: fetch
    returns: {trust: untrusted, secrecy: public}
    args:
      url: {role: critical, is: url}
    when:
      - {arg: url, host: ["*.example.com", example.org], returns: {trust: shared, secrecy: internal}}
`)}, shipped(t))
	for url, want := range map[string]floodmark.Trust{
		"https://docs.example.com/a":                floodmark.Shared,
		"https://DOCS.example.com:8443/a?b#c":       floodmark.Shared,
		"http://example.org":                        floodmark.Shared,
		"https://example.com/":                      floodmark.Untrusted,
		"https://notexample.com/":                   floodmark.Untrusted,
		"https://docs.example.com@evil.test/":       floodmark.Untrusted,
		"https://evil.test/docs.example.com":        floodmark.Untrusted,
		"https://evil.test?x=.docs.example.com":     floodmark.Untrusted,
		`https://evil.test\.docs.example.com`:       floodmark.Untrusted,
		"https://evil.test#.docs.example.com":       floodmark.Untrusted,
		"https://a@docs.example.com/":               floodmark.Untrusted,
		"ftp://docs.example.com/":                   floodmark.Untrusted,
		"docs.example.com":                          floodmark.Untrusted,
		" https://docs.example.com":                 floodmark.Untrusted,
		"https://docs.exa\tmple.com/":               floodmark.Untrusted,
		"https://docs.example.com.evil.test/":       floodmark.Untrusted,
		"https://docs.example.com%2eevil.test/":     floodmark.Untrusted,
		"https://docs\u3002example.com.evil.test/":  floodmark.Untrusted,
		"https://evil.test:80@docs.example.com:1/x": floodmark.Untrusted,
	} {
		u := c.Classify(builtin("openclaw", "web_fetch"), args("url", url), nil, here())
		if u.Returns.Trust != want {
			t.Errorf("%s: %v, want %v", url, u.Returns.Trust, want)
		}
		if !u.Returns.AtLeastAsSafe(floodmark.Label{Trust: want, Secrecy: floodmark.Public}) {
			t.Errorf("%s: %v", url, u.Returns)
		}
	}
}

func TestPlaceOfUse(t *testing.T) {
	c := shipped(t)
	for _, tc := range []struct {
		ref  floodmark.ToolRef
		args []hook.Leaf
		want string
	}{
		{builtin("openclaw", "web_fetch"), args("url", "https://Evil.Test:81/x?y"), "evil.test"},
		{builtin("openclaw", "read"), args("path", "a/../b.txt"), "/home/u/work/app/b.txt"},
		{builtin("openclaw", "read"), args("path", "~/n.txt"), "/home/u/n.txt"},
		{builtin("claude-code", "Grep"), args("pattern", "x"), "/home/u/work/app"},
		{builtin("codex", "Bash"), args("command", "curl https://evil.test/x"), "evil.test"},
	} {
		if u := c.Classify(tc.ref, tc.args, nil, here()); u.Place != tc.want {
			t.Errorf("%v: place %q, want %q", tc.ref, u.Place, tc.want)
		}
	}
}

func TestArguments(t *testing.T) {
	c := shipped(t)
	u := c.Classify(builtin("openclaw", "send_email"), nil, nil, here())
	for top, want := range map[string]Arg{
		"to":         {Role: floodmark.Critical, Is: IsDestination, Needs: floodmark.Owner},
		"bcc":        {Role: floodmark.Critical, Is: IsDestination, Needs: floodmark.Owner},
		"body":       {Role: floodmark.Content, Is: IsText, Needs: floodmark.Untrusted},
		"x-priority": {Role: floodmark.Undeclared, Is: "", Needs: floodmark.Owner},
	} {
		if got := u.Arg(top); got != want {
			t.Errorf("%s: %+v, want %+v", top, got, want)
		}
	}
	if got := (Use{}).Arg("to"); got != (Arg{Needs: floodmark.Owner}) {
		t.Errorf("unknown tool: %+v", got)
	}
}

// A remote tool is never Observe, even if a profile says so.
func TestRemoteNeverObserves(t *testing.T) {
	c := New([]*File{parse(t, `
server: far
remote: true
tools:
  - tool: look
    effect: observe
    returns: {trust: shared, secrecy: public}
    args: {mode: {role: critical, is: flag}}
    when:
      - {arg: mode, in: [quiet], effect: observe}
  - {tool: mine, own: true, effect: observe, returns: {trust: shared, secrecy: public}}
`)}, shipped(t))
	for _, leaves := range [][]hook.Leaf{nil, args("mode", "quiet"), args("mode", "QUIET")} {
		if u := c.Classify(offered("far", "look"), leaves, nil, here()); slices.Contains(u.Effects, observe) || !u.Network {
			t.Errorf("%v: %v", leaves, u.Effects)
		}
	}
	if u := c.Classify(offered("far", "mine"), nil, nil, here()); !sameEffects(u.Effects, effects(observe)) || !u.Own || !u.Network {
		t.Errorf("own service: %+v", u)
	}
	for _, l := range c.layers {
		for _, p := range l.profiles {
			if p.remote && !p.own && slices.Contains(p.effects, observe) {
				t.Errorf("%v is remote and observes", p.tools)
			}
		}
	}
}

func TestLicenceFallsBackToTheEffect(t *testing.T) {
	c := shipped(t)
	u := c.Classify(builtin("openclaw", "send_email"), nil, nil, here())
	if !slices.Contains(u.Licence, "send") {
		t.Errorf("send: %v", u.Licence)
	}
	u = c.Classify(builtin("openclaw", "message"), args("action", "delete"), nil, here())
	if slices.Contains(u.Licence, "send") || !slices.Contains(u.Licence, "delete") {
		t.Errorf("delete: %v", u.Licence)
	}
	if u = c.Classify(builtin("openclaw", "exec"), args("command", "make"), nil, here()); u.Licence != nil {
		t.Errorf("nothing licenses a run: %v", u.Licence)
	}
}

// Joining a label with one that depends on the path assumes the worst path.
func TestJoinOfReturns(t *testing.T) {
	byPath := returns{trustByPath: true, secrecyByPath: true}
	clean := returns{label: floodmark.Clean()}
	for _, got := range []returns{byPath.join(clean), clean.join(byPath)} {
		if got != (returns{label: floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private}}) {
			t.Errorf("%+v", got)
		}
	}
	if got := byPath.join(byPath); !got.trustByPath || !got.secrecyByPath {
		t.Errorf("%+v", got)
	}
	if got := clean.join(returns{}); got != (returns{}) {
		t.Errorf("%+v", got)
	}
}
