package oldconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/oldconfig"
	"github.com/floodmark/floodmark/policy"
)

func imported(t *testing.T, text string) (*policy.Policy, string, []oldconfig.Note) {
	t.Helper()
	out, notes, err := oldconfig.Import("openclaw.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, problems := policy.Load(policy.Layer{Name: "floodmark.yaml", Data: out})
	for _, one := range problems {
		if !strings.Contains(one.Text, "an auditor that does not answer lets through only what would be allowed without one") {
			t.Fatalf("%v\n%s", problems, out)
		}
	}
	if s := p.Settings("openclaw"); s.Relax {
		t.Error("the import relaxes")
	}
	return p, string(out), notes
}

func noted(notes []oldconfig.Note, part string) bool {
	for _, n := range notes {
		if strings.Contains(n.Text, part) {
			return true
		}
	}
	return false
}

func wantNotes(t *testing.T, notes []oldconfig.Note, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !noted(notes, p) {
			t.Errorf("no note says %q", p)
		}
	}
}

const installation = `{
  "plugins": {
    "load": {"paths": ["/path/to/openclaw-provenance"]},
    "entries": {"provenance": {"enabled": true, "config": {
      "taintPolicy": {"system": "allow", "owner": "allow", "local": "allow", "shared": "confirm", "external": "confirm", "untrusted": "confirm"},
      "approvalTtlSeconds": 120,
      "toolOverrides": {"gateway": {"*": "confirm"}}
    }}}
  },
  "hooks": {"internal": {"enabled": true}}
}`

// modes returns the verdicts of an imported policy for a tool at each level, system first.
func modes(p *policy.Policy, tool string, e floodmark.Effect) string {
	var out []string
	for trust := floodmark.System; ; trust-- {
		out = append(out, p.Decide(ask(tool, e, trust)).Verdict.String())
		if trust == floodmark.Untrusted {
			return strings.Join(out, " ")
		}
	}
}

// The configurations of seed 0 do what the page of seed 0 says.
func TestImportSeed0(t *testing.T) {
	const asks = "allow allow allow confirm confirm confirm"
	const always = "allow allow allow allow allow allow"
	for _, c := range []struct {
		name, text, tool string
		effect           floodmark.Effect
		want             string
	}{
		{"installation", installation, "exec", floodmark.Run, asks},
		{"installation", installation, "message", floodmark.Send, asks},
		{"installation", installation, "browser", floodmark.Send, asks},
		{"installation", installation, "write", floodmark.Write, asks},
		{"installation", installation, "sessions_spawn", floodmark.Run, asks},
		{"installation", installation, "unknown_tool", floodmark.Run, asks},
		{"installation", installation, "read", floodmark.Observe, always},
		{"installation", installation, "web_fetch", floodmark.Fetch, always},
		{"installation", installation, "vestige_promote", floodmark.Write, always},
		{"installation", installation, "gateway", floodmark.Admin, "confirm confirm confirm confirm confirm confirm"},
		{"defaults", `{"plugins":{"entries":{"provenance":{"config":{}}}}}`, "gateway", floodmark.Admin, "allow confirm confirm confirm confirm confirm"},
		{"defaults", `{"plugins":{"entries":{"provenance":{"config":{}}}}}`, "exec", floodmark.Run, asks},
		{"paranoid", `{"taintPolicy": {"shared": "restrict", "external": "restrict", "untrusted": "restrict"}}`, "exec", floodmark.Run, "allow allow allow restrict restrict restrict"},
		{"permissive", `{"taintPolicy": {"shared": "allow", "external": "allow", "untrusted": "confirm"}}`, "exec", floodmark.Run, "allow allow allow allow allow confirm"},
		{"permissive", `{"taintPolicy": {"shared": "allow", "external": "allow", "untrusted": "confirm"}}`, "cron", floodmark.Admin, "allow confirm confirm confirm restrict restrict"},
		{"interactive", `{"taintPolicy": {"external": "confirm", "untrusted": "restrict"}}`, "message", floodmark.Send, "allow allow allow confirm confirm restrict"},
		{"exec override", `{"toolOverrides": {"exec": {"external": "restrict", "untrusted": "restrict"}}}`, "exec", floodmark.Run, "allow allow allow confirm restrict restrict"},
		{"read override", `{"taintPolicy": {"untrusted": "restrict"}, "toolOverrides": {"read": {"*": "allow"}}}`, "read", floodmark.Write, always},
		{"browser override", `{"toolOverrides": {"browser": {"owner": "allow", "local": "allow", "shared": "confirm", "external": "confirm", "untrusted": "confirm"}}}`, "browser", floodmark.Send, asks},
		{"one level", `{"taintPolicy": {"untrusted": "allow"}}`, "exec", floodmark.Run, "allow allow allow confirm confirm confirm"},
		{"not monotone", `{"taintPolicy": {"shared": "restrict", "external": "allow"}}`, "exec", floodmark.Run, "allow allow allow restrict restrict restrict"},
		{"gateway loosened", `{"toolOverrides": {"gateway": {"*": "allow"}}}`, "gateway", floodmark.Admin, "allow confirm confirm confirm confirm confirm"},
	} {
		p, out, notes := imported(t, c.text)
		if got := modes(p, c.tool, c.effect); got != c.want {
			t.Errorf("%s: %s: %s\nwant %s\n%s", c.name, c.tool, got, c.want, out)
		}
		wantNotes(t, notes, "counts until its context is emptied", "now as untrusted", "the mark of the session that began it", "its path", "only the owner's channel", "toolWide", "its schedule or its instructions")
	}
}

func TestImportSeed0Settings(t *testing.T) {
	p, _, _ := imported(t, installation)
	if s := p.Settings(""); s.TicketTTL.Seconds() != 120 || s.MaxIterations != 10 || s.ToolWide {
		t.Errorf("%+v", s)
	}
	p, _, notes := imported(t, `{"taintPolicy": {}, "maxIterations": 3}`)
	if s := p.Settings(""); s.TicketTTL.Seconds() != 60 || s.MaxIterations != 3 {
		t.Errorf("%+v", s)
	}
	wantNotes(t, notes, "60 and 120 seconds", "gateway asked from local down")
	p, _, notes = imported(t, `{"taintPolicy": {"shared": "restrict", "external": "confirm"}, "approvalTtlSeconds": 1, "surprise": 1}`)
	if s := p.Settings(""); s.TicketTTL.Seconds() != 10 {
		t.Errorf("%+v", s)
	}
	wantNotes(t, notes, "corrected to restrict", "nearest the new one takes", "config.surprise is not understood")
}

// cautionConfig is the example of seed 1, word for word.
const cautionConfig = `// ~/.openclaw/openclaw.json
{
  tools: {
    caution: {
      // Enable default caution tools (shipped with sensible defaults)
      defaults: true,

      // Per-tool overrides
      tools: {
        "web_fetch":  true,   // default: true
        "web_search": false,  // default: false
        "email":      true,   // default: true
        "webhook":    true,   // default: true
        "browser":    true,   // default: true
        "exec":       false,  // default: false
        "read":       false,  // default: false
      },

      // Auditor configuration
      auditor: {
        model: "fast",        // use a cheap/fast model for audit calls
        timeoutMs: 3000,      // max time for the audit call
        failMode: "block",    // "block" | "warn" | "allow" on timeout/error
      }
    }
  }
}`

// The default settings of seed 1, row by row.
func TestImportSeed1(t *testing.T) {
	p, out, notes := imported(t, cautionConfig)
	for tool, want := range map[string]bool{
		"web_fetch": true, "web_search": false, "email": true, "webhook": true, "browser": true, "read": false,
		"write": false, "exec": false, "nodes": false, "message": false,
	} {
		if got := p.Caution(floodmark.ToolRef{Agent: "openclaw", Name: tool}); got != want {
			t.Errorf("caution for %s is %v\n%s", tool, got, out)
		}
	}
	if s := p.Settings(""); !s.AuditorOn || s.AuditorFailMode != policy.FailBlock {
		t.Errorf("%+v", s)
	}
	// The auditor is asked about every call after a cautioned tool, and about no call before.
	for e := range floodmark.Observe + 1 {
		if v := p.Decide(ask("t", e, floodmark.Untrusted)).Verdict; v > floodmark.Audit {
			t.Errorf("%s after a cautioned tool: %s", e, v)
		}
	}
	if v := p.Decide(ask("t", floodmark.Send, floodmark.Owner)).Verdict; v != floodmark.Allow {
		t.Errorf("before any: %s", v)
	}
	wantNotes(t, notes, "caution false for web_search", "model belongs into service.yaml: write «model: fast» under auditor", "«timeout: 3000ms»", "the auditor alone decided")
	for _, mode := range []string{"warn", "allow"} {
		p, _, notes := imported(t, strings.ReplaceAll(cautionConfig, `failMode: "block"`, `failMode: "`+mode+`"`))
		if s := p.Settings(""); s.AuditorFailMode != map[string]policy.FailMode{"warn": policy.FailWarn, "allow": policy.FailAllow}[mode] {
			t.Errorf("%s: %+v", mode, s)
		}
		wantNotes(t, notes, "the auditor's failMode is "+mode+": a forced timeout was a yes to anything; now it lets through only what would be allowed without an auditor")
	}
	p, _, _ = imported(t, `{tools: {caution: {defaults: false, tools: {exec: true}}}}`)
	if p.Caution(floodmark.ToolRef{Name: "web_fetch"}) || !p.Caution(floodmark.ToolRef{Name: "exec"}) {
		t.Error("defaults: false was not heard")
	}
}

const verifierConfig = `// openclaw.json
{
  "tools": {
    "verifier": {
      "enabled": true,
      "scope": {"include": ["exec", "write", "edit", "apply_patch"]},
      "failMode": "deny",  // "deny" | "allow"
      "webhook": {
        "url": "http://my-verifier.example.com/verify", "timeout": 30,
        "headers": {"Authorization": "Bearer hunter2"}, "secret": "hunter2"
      },
      "telegram": {"enabled": true, "botToken": "hunter2", "chatId": "123456789", "timeout": 120}
    }
  },
  "agents": {"list": [
    {"id": "work", "tools": {"verifier": {"enabled": true, "failMode": "allow", "webhook": {"url": "https://x.example"}}}},
    {"id": "quiet", "tools": {"verifier": {"enabled": false}}},
    {"id": "plain"}
  ]}
}`

func TestImportSeed3(t *testing.T) {
	p, out, notes := imported(t, verifierConfig)
	if strings.Contains(out, "hunter2") || strings.Contains(out, "example.com") {
		t.Errorf("a secret or an address was kept:\n%s", out)
	}
	for _, n := range notes {
		if strings.Contains(n.Text, "hunter2") {
			t.Errorf("a secret is in a note: %s", n.Text)
		}
	}
	gates := func(agent, tool string) string { return gatesOf(p, agent, tool) }
	for _, c := range [][3]string{
		{"openclaw/main", "exec", "webhook telegram"},
		{"openclaw/main", "apply_patch", "webhook telegram"},
		{"openclaw/main", "read", ""},
		{"openclaw/work", "exec", "webhook telegram"},
		{"openclaw/work", "read", "webhook"},
		{"openclaw/quiet", "exec", "webhook telegram"},
	} {
		if got := gates(c[0], c[1]); got != c[2] {
			t.Errorf("%s of %s is verified by %q, want %q", c[1], c[0], got, c[2])
		}
	}
	for _, agent := range []string{"openclaw/main", "openclaw/work", "openclaw/quiet"} {
		for _, v := range p.Verifiers(agent) {
			if v.FailMode != policy.FailBlock {
				t.Errorf("%s: %s fails open", agent, v.Name)
			}
			if want := map[string]float64{"webhook": 30, "telegram": 120}[v.Name]; v.Timeout.Seconds() != want {
				t.Errorf("%s waits %s", v.Name, v.Timeout)
			}
		}
	}
	wantNotes(t, notes, "is http", "no allowedUserIds", "cannot weaken the deny", "it stays on", "url, headers and secret belong")
	p, _, notes = imported(t, `{"tools": {"verifier": {"enabled": true, "scope": {"exclude": ["read", "session_status"]}, "failMode": "allow", "webhook": {"url": "https://x.example"}}}}`)
	if got := gates("any", "exec") + "|" + gates("any", "read") + "|" + gates("any", "other"); got != "webhook||webhook" {
		t.Errorf("exclude: %s", got)
	}
	if p.Verifiers("any")[0].FailMode != policy.FailAllow {
		t.Error("failMode allow was lost")
	}
	wantNotes(t, notes, "calls pass it")
	p, _, notes = imported(t, `{"tools": {"verifier": {"enabled": true, "webhook": {"url": "https://x.example"}}},
		"agents": {"list": [{"id": "work", "tools": {"verifier": {"enabled": true, "failMode": "allow", "telegram": {"enabled": true, "allowedUserIds": [1]}}}}]}}`)
	for _, v := range p.Verifiers("openclaw/work") {
		if v.FailMode != policy.FailBlock {
			t.Errorf("%s of one agent fails open, though all agents are refused", v.Name)
		}
	}
	wantNotes(t, notes, "cannot weaken the deny")
	_, out, notes = imported(t, `{"tools": {"verifier": {"enabled": false, "webhook": {}}}}`)
	if strings.Contains(out, "verifiers") {
		t.Error("a verifier that was off is on")
	}
	wantNotes(t, notes, "was not switched on")
}

// gatesOf returns the verifiers of a tool that only observes.
func gatesOf(p *policy.Policy, agent, tool string) string {
	q := ask(tool, floodmark.Observe, floodmark.System)
	q.Agent = agent
	return strings.Join(p.Decide(q).Verifiers, " ")
}

// An agent's section that has only a failMode or a scope uses the verifiers for all agents, even if
// it does not repeat that it is on. What it leaves out comes from the section for all agents.
func TestImportOfAnAgentsVerifier(t *testing.T) {
	for _, c := range []struct{ all, agent, want string }{
		{`"enabled": true, "failMode": "allow", "scope": {"include": ["exec"]}`, `"failMode": "deny"`, "exec:webhook read: deny 7"},
		{`"enabled": true, "failMode": "allow", "scope": {"include": ["exec"]}`, `"scope": {"include": ["read"]}`, "exec:webhook read:webhook allow 7"},
		{`"enabled": true, "scope": {"include": ["exec"]}`, `"enabled": true, "failMode": "allow"`, "exec:webhook read: deny 7"},
		{`"enabled": true, "scope": {"include": ["exec"]}`, `"scope": {"exclude": ["exec"]}`, "exec:webhook read:webhook deny 7"},
		{`"enabled": true, "scope": {"include": ["exec"]}`, `"enabled": false, "scope": {"include": ["read"]}`, "exec:webhook read: deny 7"},
		{`"enabled": false, "failMode": "allow", "scope": {"include": ["exec"]}`, `"enabled": true`, "exec:webhook read: allow 7"},
		{`"enabled": false, "scope": {"include": ["exec"]}`, `"enabled": true, "failMode": "allow", "scope": {"include": ["read"]}`, "exec: read:webhook allow 7"},
		{`"enabled": false`, `"failMode": "deny"`, "exec: read:"},
	} {
		p, _, _ := imported(t, `{"taintPolicy": {}, "tools": {"verifier": {`+c.all+`, "webhook": {"url": "https://x.example", "timeout": 7}}},
			"agents": {"list": [{"id": "work", "tools": {"verifier": {`+c.agent+`}}}]}}`)
		got := "exec:" + gatesOf(p, "openclaw/work", "exec") + " read:" + gatesOf(p, "openclaw/work", "read")
		for _, v := range p.Verifiers("openclaw/work") {
			got += fmt.Sprintf(" %s %g", map[policy.FailMode]string{policy.FailBlock: "deny", policy.FailAllow: "allow"}[v.FailMode], v.Timeout.Seconds())
		}
		if got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.all, c.agent, got, c.want)
		}
	}
}

// An agent's section that has only a failMode also uses the bot of the section for all agents.
func TestImportOfAnAgentsVerifierAndTheBotForAll(t *testing.T) {
	p, _, _ := imported(t, `{"tools": {"verifier": {"enabled": true, "failMode": "allow", "scope": {"include": ["exec"]}, "webhook": {"url": "https://x.example"},
		"telegram": {"enabled": true, "chatId": "1", "allowedUserIds": [1]}}},
		"agents": {"list": [{"id": "work", "tools": {"verifier": {"failMode": "deny", "scope": {"include": ["read"]}}}}]}}`)
	if got := gatesOf(p, "openclaw/work", "read"); got != "webhook telegram" {
		t.Errorf("verified by %q", got)
	}
	if got := gatesOf(p, "openclaw/main", "read"); got != "" {
		t.Errorf("another agent's call is verified by %q", got)
	}
	for _, v := range p.Verifiers("openclaw/work") {
		if v.FailMode != policy.FailBlock {
			t.Errorf("%s fails open", v.Name)
		}
	}
}

func TestImportErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                   "nothing to import",
		`{"taintPolicy": {"shared": "audit"}}`: "1:28: error: taintPolicy.shared is not one of allow, confirm or restrict",
		`{"taintPolicy": [1]}`:                 "is not a mapping",
		`{"toolOverrides": {"*": {"*": "allow"}}}`:             "names no tool",
		`{"taintPolicy": {}, }, `:                              "something follows",
		`{"a": {"taintPolicy": {}}, "b": {"taintPolicy": {}}}`: "two configurations",
		`{"taintPolicy": {}, "taintPolicy": {}}`:               "is here twice",
		`{"x": "unfinished`:                                    "does not end",
		`{x: 1 y: 2}`:                                          "a comma or } is missing",
		`{x: what}`:                                            "texts are in quotes",
		`/* no end`:                                            "comment does not end",
		strings.Repeat("[", 100):                               "nested too deep",
		`{"tools": {"verifier": {"enabled": true, "scope": {"include": ["a"], "exclude": ["b"]}}}}`: "both given",
		"{\"a\": \"\xff\"}":                         "not UTF-8",
		`{"taintPolicy": {}, "maxIterations": "x"}`: "is not a number",
	} {
		out, notes, err := oldconfig.Import("f", []byte(text))
		if err == nil || out != nil || notes != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

func FuzzImport(f *testing.F) {
	for _, s := range []string{installation, cautionConfig, verifierConfig, `{toolOverrides: {"a\u0085b": {"*": 'allow'}}}`, `{taintPolicy:{},}`, `{tools: {'caution': {}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		out, _, err := oldconfig.Import("f", data)
		if err != nil {
			return
		}
		if _, problems := policy.Load(policy.Layer{Name: "f", Data: out}); problems.Failed() {
			t.Fatalf("%v\n%s", problems, out)
		}
	})
}

func ask(tool string, e floodmark.Effect, trust floodmark.Trust) *policy.Question {
	return &policy.Question{
		Agent: "openclaw", Tool: floodmark.ToolRef{Agent: "openclaw", Name: tool}, Effects: []floodmark.Effect{e},
		Mark: floodmark.Label{Trust: trust, Secrecy: floodmark.Public}, Trust: trust, Reach: policy.Reach{URLArg: -1},
	}
}
