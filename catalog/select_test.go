package catalog

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// Tools that write an agent's own settings are guarded at every trust level.
func TestSelfProtectedTools(t *testing.T) {
	c := shipped(t)
	for _, tc := range []struct {
		agent, tool, action string
		want                bool
	}{
		{"openclaw", "gateway", "config.patch", true},
		{"openclaw", "gateway", "config.apply", true},
		{"openclaw", "gateway", "config.set", true},
		{"openclaw", "gateway", "update.run", true},
		{"openclaw", "gateway", "something.new", true},
		{"openclaw", "gateway", "Restart", true}, // not quite the listed word
		{"openclaw", "gateway", "restart", false},
		{"openclaw", "gateway", "config.get", false},
		{"codex", "request_plugin_install", "", true},
		{"codex", "new_context", "", false},
		{"openclaw", "cron", "add", false},
	} {
		u := c.Classify(builtin(tc.agent, tc.tool), args("action", tc.action), nil, here())
		if u.SelfProtected != tc.want || !slices.Contains(u.Effects, admin) {
			t.Errorf("%s %s: self-protected %v, want %v (%v)", tc.tool, tc.action, u.SelfProtected, tc.want, u.Effects)
		}
	}
}

func TestSelfProtectedCases(t *testing.T) {
	c := New([]*File{parse(t, `
agent: pi
tools:
  - tool: settings
    effect: write
    returns: {trust: local, secrecy: internal}
    args: {what: {role: critical, is: flag}}
    when:
      - {arg: what, in: [hooks], selfProtected: true}
      - {arg: what, in: [theme], licence: [theme]}
`)}, nil)
	for value, want := range map[string]bool{"hooks": true, "HOOKS": true, "theme": false, "": false} {
		u := c.Classify(builtin("pi", "settings"), args("what", value), nil, here())
		if u.SelfProtected != want {
			t.Errorf("%q: %v", value, u.SelfProtected)
		}
	}
}

// Only a word that a case lists for a flag selects. Any other value remains an argument whose
// origin matters.
func TestSelectors(t *testing.T) {
	c := New([]*File{parse(t, `
agent: pi
tools:
  - tool: post
    effect: send
    returns: {trust: local, secrecy: internal}
    args:
      action: {role: critical, is: flag}
      to: {role: critical, is: destination}
    when:
      - {arg: to, in: [team], licence: [tell]}
      - {arg: action, in: [send, reply], effect: send}
`)}, shipped(t))
	list := hook.Leaf{Path: "action[0]", Top: "action", Value: "send"}
	for _, tc := range []struct {
		name string
		args []hook.Leaf
		want bool
	}{
		{"a listed word", args("action", "send"), true},
		{"another case of it", args("action", "Send"), false},
		{"an unlisted word", args("action", "shred"), false},
		{"a list", []hook.Leaf{list}, false},
		{"a destination is no selector", args("to", "team"), false},
		{"nothing", nil, false},
	} {
		u := c.Classify(builtin("pi", "post"), tc.args, nil, here())
		if got := slices.Equal(u.Selectors, []string{"action"}); got != tc.want || !got && u.Selectors != nil {
			t.Errorf("%s: %v", tc.name, u.Selectors)
		}
	}
	for _, tool := range []string{"message", "email"} {
		u := c.Classify(builtin("openclaw", tool), args("action", "send", "to", "ann"), nil, here())
		if !slices.Equal(u.Selectors, []string{"action"}) {
			t.Errorf("%s: %v", tool, u.Selectors)
		}
	}
}

// The words for one action do not ask for another one, because the argument that selects it is not
// examined again.
func TestActionsHaveWordsOfTheirOwn(t *testing.T) {
	c := shipped(t)
	for _, tc := range [][2]string{{"role-add", "ban"}, {"pin", "delete"}, {"unpin", "kick"}, {"ban", "add"}, {"edit", "delete"}} {
		u := c.Classify(builtin("openclaw", "message"), args("action", tc[0]), nil, here())
		if slices.Contains(u.Licence, tc[1]) {
			t.Errorf("%s is licensed by %s", tc[0], tc[1])
		}
	}
}

// The owner's own services are not outside, unless the call names an address.
func TestOwnServices(t *testing.T) {
	c := shipped(t)
	for _, tc := range []struct {
		ref  floodmark.ToolRef
		args []hook.Leaf
		want bool
	}{
		{builtin("openclaw", "email"), args("action", "read"), true},
		{builtin("openclaw", "calendar_list"), nil, true},
		{builtin("openclaw", "contacts_lookup"), args("name", "Ann"), true},
		{builtin("openclaw", "message"), args("action", "read", "channel", "Ann"), true},
		{builtin("openclaw", "message"), args("action", "read", "gatewayUrl", "https://evil.test"), false},
		{builtin("openclaw", "web_fetch"), args("url", "https://example.com"), false},
		{builtin("openclaw", "exec"), args("command", "gog gmail search newer"), true},
		{builtin("openclaw", "exec"), args("command", "gog calendar list"), true},
		{builtin("openclaw", "exec"), args("command", "gog gmail search newer; curl evil.test"), false},
		{builtin("openclaw", "exec"), args("command", "gh issue view 7"), false},
		{offered("gmail", "read_email"), args("messageId", "7"), true},
	} {
		if u := c.Classify(tc.ref, tc.args, nil, here()); u.Own != tc.want {
			t.Errorf("%v %v: own %v", tc.ref, tc.args, u.Own)
		}
	}
}

// A tool that only confirms adds no source; other people's words still do.
func TestSendingIsNotASource(t *testing.T) {
	c := shipped(t)
	for _, tc := range []struct {
		ref  floodmark.ToolRef
		args []hook.Leaf
		want floodmark.Trust
	}{
		{builtin("openclaw", "message"), args("action", "send"), floodmark.Local},
		{builtin("openclaw", "message"), args("action", "read"), floodmark.External},
		{builtin("openclaw", "message"), args("action", "something-new"), floodmark.External},
		{builtin("openclaw", "email"), args("action", "send"), floodmark.Local},
		{builtin("openclaw", "email"), args("action", "list"), floodmark.External},
		{builtin("openclaw", "sessions_send"), args("timeoutSeconds", "0"), floodmark.Local},
		{builtin("openclaw", "sessions_send"), args("timeoutSeconds", "30"), floodmark.Untrusted},
		{builtin("openclaw", "sessions_list"), nil, floodmark.Shared},
		{builtin("openclaw", "sessions_list"), args("messageLimit", "5"), floodmark.Untrusted},
		{builtin("openclaw", "sessions_list"), args("messageLimit", "0"), floodmark.Shared},
		{offered("slack", "slack_post_message"), nil, floodmark.Shared},
		{offered("github", "create_issue"), nil, floodmark.Shared},
		{offered("github", "issue_write"), args("method", "create"), floodmark.Shared},
		{offered("github", "issue_write"), args("method", "update"), floodmark.Untrusted},
		{offered("github", "pull_request_review_write"), nil, floodmark.Untrusted},
	} {
		if u := c.Classify(tc.ref, tc.args, nil, here()); u.Returns.Trust != tc.want {
			t.Errorf("%v %v: %v, want %v", tc.ref, tc.args, u.Returns, tc.want)
		}
	}
}
