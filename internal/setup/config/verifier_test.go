package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/outward"
)

const seedThree = `version: 1
verifier:
  enabled: true
  scope:
    include: ["exec", "write", "edit", "apply_patch"]
  failMode: deny
  webhook:
    url: "https://my-verifier.example/verify"
    timeout: 30
    headers:
      Authorization: "Bearer ${VERIFIER_TOKEN}"
    secret: "${VERIFIER_HMAC_SECRET}"
  telegram:
    enabled: false
    botToken: "${TELEGRAM_VERIFIER_BOT_TOKEN}"
    chatId: "123456789"
    timeout: 120
    allowedUserIds: [123456789]
`

// seedThreeJSON is the example as in the document, in JSON and without comments.
const seedThreeJSON = `{
  "verifier": {
    "enabled": true,
    "scope": {"include": ["exec", "write", "edit", "apply_patch"]},
    "failMode": "deny",
    "webhook": {
      "url": "https://my-verifier.example/verify",
      "timeout": 30,
      "headers": {"Authorization": "Bearer ${VERIFIER_TOKEN}"},
      "secret": "${VERIFIER_HMAC_SECRET}"
    },
    "telegram": {
      "enabled": false,
      "botToken": "${TELEGRAM_VERIFIER_BOT_TOKEN}",
      "chatId": "123456789",
      "timeout": 120,
      "allowedUserIds": [123456789]
    }
  }
}`

// The example of seed 3 can be read as YAML and as JSON, but not with comments of JavaScript.
func TestVerifierOfSeedThree(t *testing.T) {
	if j, err := ParseService("service.yaml", []byte(seedThreeJSON)); err != nil || fmt.Sprint(j.Gates()) != "[{webhook  {[exec write edit apply_patch] []} deny 30s}]" {
		t.Errorf("as JSON: %v, %v", j.Gates(), err)
	}
	if _, err := ParseService("service.yaml", []byte(strings.Replace(seedThreeJSON, "true,", "true, // master switch", 1))); err == nil {
		t.Error("a comment of JavaScript is read")
	}
	s, err := ParseService("service.yaml", []byte(seedThree))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.Gates()); got != "[{webhook  {[exec write edit apply_patch] []} deny 30s}]" {
		t.Error(got)
	}
	names, hooks := s.Webhooks()
	if len(names) != 1 || names[0] != "webhook" {
		t.Fatal(names)
	}
	if _, err := hooks[0].Options("webhook"); err == nil || !strings.Contains(err.Error(), "VERIFIER_HMAC_SECRET is not set") {
		t.Errorf("without its variables: %v", err)
	}
	t.Setenv("VERIFIER_TOKEN", "abc")
	t.Setenv("VERIFIER_HMAC_SECRET", "0123456789abcdef")
	o, err := hooks[0].Options("webhook")
	if err != nil || o.Headers["Authorization"] != "Bearer abc" || o.Secret != "0123456789abcdef" || o.Timeout.Seconds() != 30 {
		t.Errorf("%v", err)
	}
	if text := fmt.Sprintf("%v %+v", s.Verifier.Webhook, *s.Verifier.Webhook); strings.Contains(text, "abc") {
		t.Error(text)
	}
	hooks[0].CA = filepath.Join(t.TempDir(), "ca.pem")
	if _, err := hooks[0].Options("webhook"); err == nil {
		t.Error("a file that is not there is read")
	}
	if err := os.WriteFile(hooks[0].CA, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hooks[0].Options("webhook"); !errors.Is(err, outward.ErrNoCertificate) || !strings.Contains(err.Error(), hooks[0].CA) {
		t.Error(err)
	}
}

// The section of one agent can only make the gates for all wider and stricter for that agent, and
// add gates.
func TestVerifierOfAgents(t *testing.T) {
	looks := []floodmark.Effect{floodmark.Observe}
	const all = "verifier: {failMode: allow, scope: {include: [exec]}, webhook: {url: 'https://a.example'}}\nagents: {codex: {verifier: {%s}}}\n"
	for _, c := range []struct{ text, tool, want string }{
		{"failMode: deny", "exec", "webhook deny"},
		{"failMode: deny", "read", ""},
		{"failMode: allow", "exec", "webhook allow"},
		{"scope: {include: [read]}", "read", "webhook allow"},
		{"scope: {include: [read]}", "exec", "webhook allow"},
		{"scope: {exclude: [read]}", "read", ""},
		{"scope: {exclude: [read]}", "ls", "webhook allow"},
		{"failMode: deny, webhook: {url: 'https://b.example', timeout: 5}", "exec", "webhook deny, webhook of codex deny"},
		{"webhook: {url: 'https://b.example'}, scope: {include: [ls]}", "ls", "webhook allow, webhook of codex allow"},
		{"telegram: {botToken: x, chatId: '1', allowedUserIds: [1]}", "exec", "webhook allow, telegram of codex allow"},
	} {
		s, err := ParseService("s", fmt.Appendf(nil, all, c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		g := s.Gates()
		var got []string
		if one := g.For("codex/work", floodmark.ToolRef{Agent: "codex/work", Name: c.tool}, looks); !slices.Equal(one, g.For("codex", floodmark.ToolRef{Agent: "codex", Name: c.tool}, looks)) {
			t.Errorf("%s: one agent of it has to pass %v", c.text, one)
		}
		for _, name := range g.For("codex", floodmark.ToolRef{Agent: "codex", Name: c.tool}, looks) {
			gate, _ := g.Gate("codex", name)
			got = append(got, name+" "+gate.FailMode.String())
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s, %s: %q, want %q", c.text, c.tool, text, c.want)
		}
		if other := g.For("gemini", floodmark.ToolRef{Agent: "gemini", Name: "ls"}, looks); len(other) > 0 {
			t.Errorf("%s: another agent has to pass %v", c.text, other)
		}
	}
	for all, want := range map[string]string{
		"verifier: {telegram: {botToken: x, chatId: '1', allowedUserIds: [1]}}": "deny",
		"verifier: {failMode: deny, webhook: {url: 'https://a.example'}}":       "deny",
		"verifier: {failMode: allow, webhook: {url: 'https://a.example'}}":      "allow",
		"verifier: {enabled: false, webhook: {url: 'https://a.example'}}":       "allow",
		"version: 1": "allow",
	} {
		s, err := ParseService("s", []byte(all+"\nagents: {codex: {verifier: {failMode: allow, webhook: {url: 'https://b.example'}}}}\n"))
		if gate, ok := s.Gates().Gate("codex", AgentGate(WebhookGate, "codex")); err != nil || !ok || gate.FailMode.String() != want {
			t.Errorf("%s: an agent's own gate that fails open: %v %v, want %s", all, gate, err, want)
		}
	}
	s, err := ParseService("s", []byte("verifier: {enabled: false, webhook: {url: 'https://a.example'}}\nagents: {codex: {verifier: {enabled: true}}}\n"))
	if err != nil || len(s.Gates().For("", floodmark.ToolRef{Name: "x"}, nil)) != 0 || len(s.Gates().For("codex", floodmark.ToolRef{Name: "x"}, nil)) != 1 {
		t.Errorf("%v %v", s.Gates(), err)
	}
	s, err = ParseService("s", []byte("verifier: {webhook: {url: 'https://a.example'}, telegram: {botToken: x, chatId: '1', allowedUserIds: [1]}}"))
	if err != nil || fmt.Sprint(s.Gates()) != "[{webhook  {[] []} deny 30s} {telegram  {[] []} deny 2m0s}]" {
		t.Errorf("%v %v", s.Gates(), err)
	}
}

// If the gate for all is off, an agent with a gate of its own is not judged by the gate for all.
func TestVerifierThatIsOff(t *testing.T) {
	s, err := ParseService("s", []byte("verifier: {enabled: false, webhook: {url: 'https://a.example'}}\nagents: {codex: {verifier: {webhook: {url: 'https://b.example'}}}}\n"))
	if got := s.Gates().For("codex", floodmark.ToolRef{Name: "x"}, nil); err != nil || !slices.Equal(got, []string{AgentGate(WebhookGate, "codex")}) {
		t.Errorf("the gate for all is off, and the agent has its own: %v %v", got, err)
	}
}

// A timeout that is set is used for the gate, and for its webhook or bot.
func TestVerifierTimes(t *testing.T) {
	s, err := ParseService("s", []byte("verifier: {webhook: {url: 'https://a.example', timeout: 7}, telegram: {botToken: x, chatId: '1', timeout: 90s, allowedUserIds: [1]}}\n"+
		"agents: {codex: {verifier: {webhook: {url: 'https://b.example', timeout: 5}, telegram: {botToken: y, chatId: '2', timeout: 40, allowedUserIds: [2]}}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range s.Gates() {
		got = append(got, fmt.Sprint(g.Name, " ", g.Timeout))
	}
	names, hooks := s.Webhooks()
	for i, h := range hooks {
		o, err := h.Options(names[i])
		got = append(got, fmt.Sprint(o.Name, " waits ", o.Timeout, " ", err))
	}
	names, bots := s.TelegramGates()
	for i, b := range bots {
		got = append(got, fmt.Sprint(names[i], " waits ", time.Duration(b.Timeout)))
	}
	const want = "webhook 7s, telegram 1m30s, webhook 7s, telegram 1m30s, webhook of codex 5s, telegram of codex 40s, " +
		"webhook waits 7s <nil>, webhook of codex waits 5s <nil>, telegram waits 1m30s, telegram of codex waits 40s"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// A header whose variable is not set is not sent empty: the webhook is not built.
func TestVerifierHeaderWithoutItsVariable(t *testing.T) {
	s, err := ParseService("s", []byte(seedThree))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("VERIFIER_TOKEN", "")
	t.Setenv("VERIFIER_HMAC_SECRET", "0123456789abcdef")
	if _, err := s.Verifier.Webhook.Options("webhook"); err == nil || !strings.Contains(err.Error(), "header Authorization: ") || !strings.Contains(err.Error(), "VERIFIER_TOKEN is not set") {
		t.Errorf("%v", err)
	}
}

// A section of an agent that sets only failMode or scope also changes the bot for all.
func TestVerifierOfAgentsAndTheBotForAll(t *testing.T) {
	for text, want := range map[string]string{
		"failMode: deny":           "exec:webhook deny, telegram deny; read:",
		"scope: {include: [read]}": "exec:webhook allow, telegram allow; read:webhook allow, telegram allow",
	} {
		s, err := ParseService("s", []byte("verifier: {failMode: allow, scope: {include: [exec]}, webhook: {url: 'https://a.example'}, telegram: {botToken: x, chatId: '1', allowedUserIds: [1]}}\n"+
			"agents: {codex: {verifier: {"+text+"}}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tool := range []string{"exec", "read"} {
			var asked []string
			for _, name := range s.Gates().For("codex", floodmark.ToolRef{Agent: "codex", Name: tool}, []floodmark.Effect{floodmark.Observe}) {
				gate, _ := s.Gates().Gate("codex", name)
				asked = append(asked, name+" "+gate.FailMode.String())
			}
			got = append(got, tool+":"+strings.Join(asked, ", "))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("got %s, want %s", text, want)
		}
	}
}

// The error for every mistake names the line and says what to do, and it does not show secrets.
func TestVerifierMistakes(t *testing.T) {
	const hook = "verifier:\n  webhook:\n    url: https://a.example\n"
	for text, want := range map[string]string{
		"verifier:\n  webhok: {}\n":                                         "line 2: there is no key webhok here",
		"verifier:\n  enabled: true\n":                                      "line 1: verifier: no verifier is named",
		"verifier:\n  telegram: {enabled: false}\n":                         "line 1: verifier: no verifier is named",
		"verifier:\n  webhook:\n    timeout: 5\n":                           "line 2: verifier.webhook.url: there is no address",
		"verifier:\n  webhook:\n    url: http://a.example/\n":               "line 3: verifier.webhook.url: http goes only to this machine",
		"verifier:\n  webhook:\n    url: ftp://a.example/\n":                `"ftp" is neither https nor http`,
		"verifier:\n  webhook:\n    url: https://u:hunter2@a.example/\n":    "holds a name or a password",
		"verifier:\n  webhook:\n    url: https:///x\n":                      "the address has no host",
		"verifier:\n  webhook:\n    url: 'https://a b'\n":                   "this is no address",
		"verifier:\n  webhook:\n    url: 'https://a.example/#x'\n":          "behind # is never sent",
		hook + "    timeout: 0\n":                                           `line 4: "0" is no number of seconds between 1 and 600`,
		hook + "    timeout: 601\n":                                         `line 4: "601" is no number of seconds`,
		hook + "    timeout: 10m1s\n":                                       `line 4: "10m1s" is no number of seconds`,
		hook + "    timeout: soon\n":                                        `line 4: "soon" is no number of seconds`,
		hook + "    headers:\n      Webhook-Id: x\n":                        "line 5: verifier.webhook.headers.Webhook-Id: the header Webhook-Id is set by floodmark itself",
		hook + "    headers:\n      'a b': x\n":                             `"a b" is no name of a header`,
		hook + "    secret: ${A\n":                                          "line 4: ${ begins the name of a variable",
		hook + "    other: x\n":                                             "line 4: there is no key other here",
		hook + "  failMode: warn\n":                                         `line 4: verifier.failMode: "warn" is not known (write deny or allow)`,
		hook + "  scope:\n    include: [a]\n    exclude: [b]\n":             "line 6: verifier.scope.exclude: include and exclude are both given",
		hook + "  scope:\n    include: ['']\n":                              `line 5: verifier.scope.include: "" names no tool`,
		hook + "  scope:\n    exclude: [a/b/c]\n":                           `line 5: verifier.scope.exclude: "a/b/c" names no tool`,
		hook + "  scope:\n    include: []\n":                                "line 5: verifier.scope.include: the list is empty",
		hook + "agents:\n  codex:\n    verifier:\n      enabled: false\n":   "line 7: agents.codex.verifier.enabled: an agent cannot be taken out",
		hook + "agents:\n  codex:\n    verifier:\n      failMode: no\n":     `line 7: agents.codex.verifier.failMode: "no" is not known`,
		"agents:\n  codex:\n    verifier:\n      failMode: deny\n":          "line 3: agents.codex.verifier: no verifier is named",
		"verifier:\n  telegram:\n    botToken: x\n    chatId: 1\n":          "line 2: verifier.telegram.allowedUserIds: name who may answer",
		"verifier:\n  telegram:\n    botToken: x\n":                         "line 2: verifier.telegram.chatId: there is none",
		"verifier:\n  telegram:\n    chatId: 1\n":                           "line 2: verifier.telegram.botToken: there is none",
		hook + "    headers: {" + manyHeaders(33) + "}\n":                   "line 4: verifier.webhook.headers: more than 32",
		hook + "  scope:\n    include: [" + strings.Repeat("a,", 257) + "]": "line 4: verifier.scope: more than 256 tools",
	} {
		_, err := ParseService("service.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.120s\ngot  %v\nwant %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error shows a password: %v", err)
		}
	}
	for _, text := range []string{
		hook + "    timeout: 600\n", hook + "    timeout: 1\n", hook + "    timeout: 90s\n", hook + "    headers: {" + manyHeaders(32) + "}\n",
		"verifier: {webhook: {url: 'http://127.0.0.1:8080/v'}}", "verifier: {webhook: {url: 'http://[::1]:8080/v'}}", "verifier: {webhook: {url: 'http://LocalHost/v'}}",
		hook + "  scope:\n    include: [" + strings.Repeat("a,", 256) + "]",
		hook + "  scope:\n    include: [1, true]\n", // taken as names
	} {
		if _, err := ParseService("service.yaml", []byte(text)); err != nil {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// A single agent of a program is judged by the gates for all, those of the program and its own.
func TestVerifierOfOneAgentOfAProgram(t *testing.T) {
	s, err := ParseService("s", []byte("verifier: {webhook: {url: 'https://a.example'}}\nagents: {openclaw: {verifier: {webhook: {url: 'https://b.example'}}}, openclaw/work: {verifier: {webhook: {url: 'https://c.example'}}}}\n"))
	three := s.Gates().For("openclaw/work", floodmark.ToolRef{Agent: "openclaw/work", Name: "x"}, nil)
	if two := s.Gates().For("openclaw/main", floodmark.ToolRef{Agent: "openclaw/main", Name: "x"}, nil); err != nil || strings.Join(three, ", ") != "webhook, webhook of openclaw, webhook of openclaw/work" || strings.Join(two, ", ") != "webhook, webhook of openclaw" {
		t.Errorf("%q %q %v", three, two, err)
	}
}

// A value of a wrong type is refused with its line, and so is an agent's webhook or bot that
// says only a part.
func TestVerifierOfWrongTypes(t *testing.T) {
	const hook = "verifier:\n  webhook:\n    url: https://a.example\n"
	for text, want := range map[string]string{
		hook + "agents:\n  codex:\n    verifier:\n      webhook:\n        timeout: 5\n":  "line 7: agents.codex.verifier.webhook.url: there is no address",
		hook + "agents:\n  codex:\n    verifier:\n      telegram:\n        timeout: 5\n": "line 7: agents.codex.verifier.telegram.botToken: there is none",
		"verifier: [a]\n":                                  "line 1: cannot unmarshal",
		hook + "  enabled: soon\n":                         "line 4: cannot unmarshal",
		hook + "  enabled: 'true'\n":                       "line 4: cannot unmarshal",
		hook + "  failMode: [deny]\n":                      "line 4: cannot unmarshal",
		hook + "  scope: [exec]\n":                         "line 4: cannot unmarshal",
		hook + "  scope:\n    include: exec\n":             "line 5: cannot unmarshal",
		hook + "  scope:\n    include: [{a: 1}]\n":         "line 5: cannot unmarshal",
		hook + "    headers: [a]\n":                        "line 4: cannot unmarshal",
		"verifier:\n  webhook: https://a.example\n":        "line 2: cannot unmarshal",
		"verifier:\n  webhook:\n    url: [a]\n":            "line 3: cannot unmarshal",
		hook + "  telegram: soon\n":                        "line 4: cannot unmarshal",
		hook + "  telegram:\n    allowedUserIds: [anna]\n": "line 5: cannot unmarshal",
		hook + "  telegram:\n    allowedUserIds: 7\n":      "line 5: cannot unmarshal",
	} {
		if _, err := ParseService("service.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func manyHeaders(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("X-A%d: x", i))
	}
	return strings.Join(list, ", ")
}
