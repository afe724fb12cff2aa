package config

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

// TestWhoseSessions: a group has the sessions of agents that it answers for, not only for some tools.
func TestWhoseSessions(t *testing.T) {
	s, err := ParseService("service.yaml", []byte(`
tenants: {acme: {}, beta: {}}
answers:
  - {tenant: acme, tools: [exec], groups: [platform]}
  - {tenant: acme, agent: buyer, groups: [finance, root]}
  - {tenant: acme, groups: [oncall, root]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tenant, agent, want string }{
		{"acme", "buyer", "finance root"}, {"acme", "coder", "oncall root"}, {"beta", "buyer", ""},
	} {
		if got := strings.Join(s.AnswersFor(c.tenant, c.agent), " "); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.agent, c.tenant, got, c.want)
		}
	}
	if got := strings.Join(s.AnswerGroups("acme"), " "); got != "finance oncall root" || s.AnswerGroups("beta") != nil {
		t.Errorf("%q, %q", got, s.AnswerGroups("beta"))
	}
}

func TestWhoAnswers(t *testing.T) {
	s, err := ParseService("service.yaml", []byte(`
tenants: {acme: {}, beta: {}}
answers:
  - {tenant: acme, tools: [exec, mail/*], groups: [platform, root]}
  - {tenant: acme, agent: buyer, groups: [finance]}
  - {tenant: acme, groups: [oncall]}
`))
	if err != nil {
		t.Fatal(err)
	}
	run, send, read := floodmark.ToolRef{Name: "Bash"}, floodmark.ToolRef{Server: "mail", Name: "send"}, floodmark.ToolRef{Name: "read"}
	for _, c := range []struct {
		groups, tenant, agent string
		tools                 []floodmark.ToolRef
		want                  bool
	}{
		{"oncall", "acme", "coder", []floodmark.ToolRef{read}, true},
		{"oncall", "acme", "coder", []floodmark.ToolRef{run}, false},
		{"platform", "acme", "coder", []floodmark.ToolRef{run}, true},
		{"root", "acme", "coder", []floodmark.ToolRef{send}, true},
		{"platform", "acme", "coder", []floodmark.ToolRef{read}, false},
		{"oncall", "acme", "coder", []floodmark.ToolRef{read, send}, false},
		{"oncall,platform", "acme", "coder", []floodmark.ToolRef{read, send}, true},
		{"finance", "acme", "buyer", []floodmark.ToolRef{read}, true},
		{"oncall", "acme", "buyer", []floodmark.ToolRef{read}, false},
		{"Oncall", "acme", "coder", []floodmark.ToolRef{read}, false},
		{"", "acme", "coder", []floodmark.ToolRef{read}, false},
		{"", "beta", "coder", []floodmark.ToolRef{run}, true},
		// All tools, or an unknown agent: every entry that could match must allow the group.
		{"oncall", "acme", "coder", nil, false},
		// Only the first entry that matches is used.
		{"platform", "acme", "coder", []floodmark.ToolRef{{Name: "run_shell_command"}}, false},
		{"oncall", "acme", "coder", []floodmark.ToolRef{{Name: "run_shell_command"}}, true},
		{"oncall,platform", "acme", "coder", nil, true},
		{"oncall", "acme", "", []floodmark.ToolRef{read}, false},
		{"oncall,finance", "acme", "", []floodmark.ToolRef{read}, true},
		{"", "beta", "", nil, true},
	} {
		var groups []string
		if c.groups != "" {
			groups = strings.Split(c.groups, ",")
		}
		if got := s.MayAnswer(groups, c.tenant, c.agent, c.tools); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	for text, want := range map[string]string{
		"answers: [{tools: [exec]}]":              "answers[0].groups: name 1 to",
		"answers: [{groups: ['']}]":               "answers[0].groups: name 1 to",
		"answers: [{tenant: ghost, groups: [a]}]": "is not under tenants",
		"answers: [{tools: [''], groups: [a]}]":   "answers[0].tools",
		"answers: [{tool: exec, groups: [a]}]":    "there is no key tool here",
	} {
		if _, err := ParseService("service.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
