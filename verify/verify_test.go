package verify_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/verify"
)

func own(name string) floodmark.ToolRef { return floodmark.ToolRef{Agent: "a", Name: name} }

func of(server, name string) floodmark.ToolRef {
	return floodmark.ToolRef{Agent: "a", Server: server, Name: name}
}

func include(names ...string) verify.Scope { return verify.Scope{Include: names} }

func exclude(names ...string) verify.Scope { return verify.Scope{Exclude: names} }

// A concern says whether a scope concerns a call that only observes.
type concern struct {
	scope verify.Scope
	tool  floodmark.ToolRef
	want  bool
}

func checkConcerns(t *testing.T, list []concern) {
	t.Helper()
	for _, c := range list {
		if got := c.scope.Concerns(c.tool, []floodmark.Effect{floodmark.Observe}); got != c.want {
			t.Errorf("%+v concerns %s: %v", c.scope, c.tool, got)
		}
	}
}

func TestScope(t *testing.T) {
	checkConcerns(t, []concern{
		{verify.Scope{}, own("read"), true},
		{include("exec", "write"), own("exec"), true},
		{include("exec", "write"), own("write"), true},
		{include("exec", "write"), own("read"), false},
		{include("exec"), own("Bash"), true},
		{include(" Bash "), own("exec"), true},
		{include("apply-patch"), own("apply_patch"), true},
		{include("send_email"), of("gmail", "send_email"), true},
		{include("gmail/send_email"), of("gmail", "Send_Email"), true},
		{include("gmail/*"), of("gmail", "anything"), true},
		{include("plugin/gmail/*"), of("plugin/gmail", "anything"), true},
		{include("plugin/gmail/send"), of("plugin/gmail", "send"), true},
		{include("plugin/gmail/send"), of("plugin", "gmail/send"), false},
		{include("gmail/*"), of("other", "anything"), false},
		{include("gmail/*"), own("anything"), false},
		{include("gmail/send_email"), own("send_email"), false},
		{include("gmail/send_email"), of("gmail", "read"), false},
		{exclude("read"), own("read"), false},
		{exclude("read"), own("Read"), false},
		{exclude("read"), own("exec"), true},
		{exclude("read"), of("files", "read"), true},
		{exclude("files/read"), of("files", "read"), false},
		{exclude("files/*"), of("files", "read"), false},
		{exclude("files/*"), own("read"), true},
		{exclude("files/read"), of("files", "write"), true},
		{verify.Scope{Include: []string{"exec"}, Exclude: []string{"exec", "read"}}, own("exec"), true},
		{verify.Scope{Include: []string{"exec"}, Exclude: []string{"read"}}, own("write"), true},
		{verify.Scope{Include: []string{"exec"}, Exclude: []string{"read"}}, own("read"), false},
	})
}

// A name includes the tools of other agents for the same purpose, but only «read» excludes such
// tools.
func TestScopeOfOtherNames(t *testing.T) {
	checkConcerns(t, []concern{
		{include("exec"), own("run_shell_command"), true},
		{include("Bash"), own("Shell"), true},
		{include("write"), own("create"), true},
		{include("edit"), own("StrReplace"), true},
		{include("apply_patch"), own("patch"), true},
		{include("read"), own("view"), true},
		{include("edit"), own("write"), false},
		{include("run_shell_command"), own("exec"), false},
		{include("gmail/exec"), own("shell"), false},
		{exclude("read"), own("read_file"), false},
		{exclude("read"), own("View"), false},
		{exclude("read"), of("files", "view"), true},
		{exclude("read_file"), own("read"), true},
		{exclude("exec"), own("bash"), false},
		{exclude("exec"), own("run_shell_command"), true},
		{exclude("write"), own("create"), true},
	})
}

// An unknown name is verified by what the call does, and only plain reading is left out.
func TestScopeByEffects(t *testing.T) {
	scopes := map[string]verify.Scope{
		"exec": {Include: []string{"exec"}}, "write": {Include: []string{"write"}}, "edit": {Include: []string{"edit"}},
		"no view": {Exclude: []string{"view"}}, "no read": {Exclude: []string{"read"}},
	}
	for _, c := range []struct {
		effects []floodmark.Effect
		want    string
	}{
		{nil, "edit exec no read no view write"},
		{[]floodmark.Effect{floodmark.Admin}, "edit exec no read no view write"},
		{[]floodmark.Effect{floodmark.Run}, "exec no read no view"},
		{[]floodmark.Effect{floodmark.Observe, floodmark.Run}, "exec no read no view"},
		{[]floodmark.Effect{floodmark.Send}, "no read no view"},
		{[]floodmark.Effect{floodmark.Change}, "no read no view write"},
		{[]floodmark.Effect{floodmark.Fetch, floodmark.Write}, "edit no read no view write"},
		{[]floodmark.Effect{floodmark.Fetch}, "no read no view"},
		{[]floodmark.Effect{floodmark.Observe}, "no view"},
	} {
		var got []string
		for name, s := range scopes {
			if s.Concerns(floodmark.ToolRef{Agent: "a", Name: "read_file"}, c.effects) {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v: %q, want %q", c.effects, s, c.want)
		}
	}
}

// With «exclude: [read]», every described tool that may do more than read is still verified, unless
// it is called read. The scope in the example of seed 3 includes everything that runs or writes.
func TestScopeLawOfTheCatalog(t *testing.T) {
	files, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	tools := catalog.New(nil, files)
	example, rest := verify.Scope{Include: []string{"exec", "write", "edit", "apply_patch"}}, verify.Scope{Exclude: []string{"read", "session_status"}}
	seen, plain := 0, map[string]bool{}
	for _, p := range tools.Profiles() {
		for _, agent := range p.Agents() {
			for _, name := range p.Tools() {
				ref := floodmark.ToolRef{Agent: agent, Name: name}
				for _, e := range tools.Possible(ref) {
					seen++
					changes := slices.Contains([]floodmark.Effect{floodmark.Admin, floodmark.Run, floodmark.Change, floodmark.Write}, e)
					if changes && !example.Concerns(ref, []floodmark.Effect{e}) {
						t.Errorf("%s of %s passes unverified though it may %s", name, agent, e)
					}
					if !rest.Concerns(ref, []floodmark.Effect{e}) {
						plain[strings.ToLower(name)+" "+e.String()] = true
					}
				}
			}
		}
	}
	got := strings.Join(slices.Sorted(maps.Keys(plain)), ", ")
	if want := "notebookread observe, read observe, read_file observe, read_many_files observe, session_status observe, view observe"; got != want || seen < 100 {
		t.Errorf("unverified of %d: %s, want %s", seen, got, want)
	}
}

// A section for one agent only makes a gate wider and stricter.
func TestGatesOnlyTighten(t *testing.T) {
	g := verify.Gates{
		{Name: "webhook", Scope: verify.Scope{Include: []string{"exec"}}, FailMode: verify.FailAllow, Timeout: 30 * time.Second},
		{Name: "webhook", Agent: "a", Scope: verify.Scope{Include: []string{"write"}}, Timeout: 5 * time.Second},
		{Name: "webhook", Agent: "b", FailMode: verify.FailAllow, Timeout: time.Minute},
		{Name: "phone", Agent: "a"},
		{Name: "phone", Agent: "a", FailMode: verify.FailAllow, Timeout: 7 * time.Second},
	}
	for _, c := range []struct{ agent, tool, want string }{
		{"", "exec", "webhook"},
		{"", "write", ""},
		{"a", "exec", "webhook phone"},
		{"a", "write", "webhook phone"},
		{"a", "read", "phone"},
		{"b", "read", "webhook"},
	} {
		if got := strings.Join(g.For(c.agent, floodmark.ToolRef{Name: c.tool}, []floodmark.Effect{floodmark.Observe}), " "); got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.tool, c.agent, got, c.want)
		}
	}
	for _, c := range []struct{ agent, name, want string }{
		{"", "webhook", "true allow 30s"},
		{"a", "webhook", "true deny 5s"},
		{"b", "webhook", "true allow 30s"},
		{"", "phone", "false deny 0s"},
		{"a", "phone", "true deny 7s"},
		{"a", "none", "false deny 0s"},
	} {
		got, ok := g.Gate(c.agent, c.name)
		if s := fmt.Sprint(ok, " ", got.FailMode, " ", got.Timeout); s != c.want {
			t.Errorf("%s of %q: %s, want %s", c.name, c.agent, s, c.want)
		}
	}
	if got := (verify.Gate{Timeout: time.Second}).Join(verify.Gate{}); got.Timeout != time.Second {
		t.Error("no time is shorter than a second")
	}
}

// The description of a gate says what applies.
func TestTold(t *testing.T) {
	g := verify.Gates{
		{Name: "webhook", FailMode: verify.FailAllow},
		{Name: "webhook", Agent: "a"},
		{Name: "webhook", Agent: "b", FailMode: verify.FailAllow},
		{Name: "own", Agent: "a", FailMode: verify.FailAllow},
		{Name: "own", Agent: "a", FailMode: verify.FailAllow},
		{Name: "own", Agent: "b"},
	}
	for name, want := range map[string]string{"webhook": "allow, deny for a", "own": "allow for a, deny for b", "none": ""} {
		mode := func(agent string) verify.FailMode { one, _ := g.Gate(agent, name); return one.FailMode }
		if got := g.Silence(name, mode); got != want || g.Has(name) != (want != "") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for want, told := range map[string]verify.Told{
		"the verifier a must agree before it runs, within 30s; without an answer the call is refused (failMode deny)":  verify.Gate{Name: "a"}.Tell(30*time.Second, false),
		"the verifier a must agree before it runs, within 5s; without an answer it runs all the same (failMode allow)": verify.Gate{Name: "a", Timeout: 5 * time.Second, FailMode: verify.FailAllow}.Tell(30*time.Second, false),
		"the verifier a is not described in service.yaml, or switched off there: the call is refused":                  verify.Gate{Name: "a", FailMode: verify.FailAllow}.Tell(30*time.Second, true),
	} {
		if told.String() != want {
			t.Errorf("%q, want %q", told, want)
		}
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		" too\n\n late \t":                 "too late",
		"\x1b[31mred\x1b[0m":               "[31mred[0m",
		"a\u202eb\u200bc\x00d\ufffd\ue000": "abcd",
		"bad \xff byte":                    "bad byte",
		strings.Repeat("é", 500):           strings.Repeat("é", 500),
		strings.Repeat("é", 501):           strings.Repeat("é", 500),
		strings.Repeat("x", 499) + " y":    strings.Repeat("x", 499),
		strings.Repeat("x ", 400):          strings.TrimSpace(strings.Repeat("x ", 250)),
	} {
		if got := verify.Clean(text); got != want {
			t.Errorf("%.30q: %.60q, want %.60q", text, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b]0;x\x07 b\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := verify.Clean(s)
		if utf8.RuneCountInString(got) > verify.MaxReasonChars || strings.ContainsAny(got, "\n\r\t\x1b\x00") || !utf8.ValidString(got) || verify.Clean(got) != got {
			t.Errorf("%q", got)
		}
	})
}

func TestFailures(t *testing.T) {
	excusable := map[verify.FailureKind]bool{
		verify.TimedOut: true, verify.Unreachable: true, verify.Untrusted: true, verify.Redirected: true, verify.Status: true,
		verify.Malformed: true, verify.TooLarge: true, verify.Broken: true,
		verify.Deadline: false, verify.Stopped: false, verify.Unconfigured: false, verify.Unshowable: false, verify.Crowded: false, "": false, "other": false,
	}
	for kind, want := range excusable {
		if kind.Excusable() != want {
			t.Errorf("%q: %v", kind, !want)
		}
	}
	known := &verify.Failure{Kind: verify.Status, Text: "it answered 500"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("ask: %w", known), "status it answered 500"},
		{fmt.Errorf("ask: %w", context.DeadlineExceeded), "timeout it did not answer in time"},
		{errors.New("dial with token=abc"), "error it could not be asked"},
	} {
		if f := verify.AsFailure(c.err); fmt.Sprint(f.Kind, " ", f) != c.want {
			t.Errorf("%v: %s %s", c.err, f.Kind, f)
		}
	}
}

// An answer is bound to everything in a request except its ID and time.
func TestSame(t *testing.T) {
	r := verify.Request{ID: "1", At: time.Unix(1, 0), Session: "s", Agent: "a", Provider: "chat", Tool: "exec", Params: []byte(`{"a":1}`)}
	o := r
	o.ID, o.At = "2", time.Unix(2, 0)
	if !r.Same(o) {
		t.Error("name or time count")
	}
	for name, change := range map[string]func(*verify.Request){
		"session":  func(r *verify.Request) { r.Session = "t" },
		"agent":    func(r *verify.Request) { r.Agent = "b" },
		"provider": func(r *verify.Request) { r.Provider = "" },
		"tool":     func(r *verify.Request) { r.Tool = "read" },
		"digest":   func(r *verify.Request) { r.Digest[0] = 1 },
		"lines":    func(r *verify.Request) { r.Lines = []string{"Runs in a box, and reaches evil.example:443."} },
		"params":   func(r *verify.Request) { r.Params = []byte(`{"a":2}`) },
	} {
		o := r
		if change(&o); r.Same(o) {
			t.Errorf("another %s is the same call", name)
		}
	}
}

func TestLimits(t *testing.T) {
	if verify.MaxAnswerBytes != 65536 || verify.MaxReasonChars != 500 || verify.MaxParamsBytes != 262144 {
		t.Error("a limit is another one")
	}
	if s := fmt.Sprint(verify.FailDeny, verify.FailAllow, verify.Gate{}.FailMode); s != "deny allow deny" {
		t.Error(s)
	}
}
