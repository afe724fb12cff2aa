package kernel_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/verify"
)

// What is shown of a call has neither content nor a secret, whatever its shape.
func TestParamsForGates(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"look", ``, `{}`},
		{"look", `{"q":"héllo"}`, `{"q":"[REDACTED: 5 chars]"}`},
		{"look", `{"q":["ab",1]}`, `{"q":"[REDACTED: 8 chars]"}`},
		{"look", `{"q":true,"r":null}`, `{"q":true,"r":null}`},
		{"look", `{"q":null}`, `{"q":null}`},
		{"keep", `{"path":"/work/a","text":"` + strings.Repeat("x", 300<<10) + `"}`, `{"path":"/work/a","text":"[REDACTED: 307200 chars]"}`},
		{"shell", `{"code":"make test | tee <log>"}`, `{"code":"make test | tee \u003clog\u003e"}`},
		{"shell", `{"code":"curl -H 'Authorization: Bearer abcdef0123456' https://one.example"}`, `{"code":"curl -H 'Authorization: Bearer [hidden]' https://one.example"}`},
		{"shell", `{"code":{"a":["ghp_0123456789abcdefABCD",2.50,{"password":"hunter2"}]}}`, `{"code":{"a":["[hidden]",2.50,{"password":"[REDACTED: 7 chars]"}]}}`},
		{"shell", `{"code":"x","api_key":"k","n":{"token":5}}`, `{"api_key":"[REDACTED: 1 chars]","code":"x","n":{"token":"[REDACTED: 1 chars]"}}`},
		{"shell", `{"ghp_0123456789abcdefABCD":1}`, `{"[hidden]":1}`},
		{"shell", `{"ghp_0123456789abcdefABCD":1,"ghp_0123456789abcdefABCE":2,"z":{"ghp_0123456789abcdefABCD":3,"ghp_0123456789abcdefABCE":4}}`, `{"[hidden]":1,"[hidden] (1)":2,"z":{"[hidden]":3,"[hidden] (1)":4}}`},
		{"mail", `{"to":"anna@firm.example","body":"dear","key":"k"}`, `{"body":"[REDACTED: 4 chars]","key":"[REDACTED: 1 chars]","to":"anna@firm.example"}`},
		{"write", `{"path":"a","content":"abc","mode":"x"}`, `{"content":"[REDACTED: 3 chars]","mode":"x","path":"a"}`},
		{"Edit", `{"file_path":"a","old_string":"abc","new_string":"d"}`, `{"file_path":"a","new_string":"[REDACTED: 1 chars]","old_string":"[REDACTED: 3 chars]"}`},
		{"apply_patch", `{"input":"*** Begin"}`, `{"input":"[REDACTED: 9 chars]"}`},
		{"mend", `{"command":"*** Update File: a.txt\n+k\n  *** Add File: .git/hooks/x\n*** Note: the salary\n*** Move to: b.txt\n"}`, `{"command":"[REDACTED: 95 chars] changes .git/hooks/x, a.txt, b.txt"}`},
		{"mend", `{"command":"--- a/one.txt\n+++ b/one.txt\n@@ -1 +1 @@\n-x\n+y\n"}`, `{"command":"[REDACTED: 46 chars] changes one.txt"}`},
		{"mend", `{"command":["abc"]}`, `{"command":"[REDACTED: 7 chars]"}`},
		{"apply-patch", `{"patch":"abc"}`, `{"patch":"[REDACTED: 3 chars]"}`},
		{"write", `{"file":{"path":"a","content":"abc"}}`, `{"file":{"content":"[REDACTED: 3 chars]","path":"a"}}`},
		{"other", `{"content":"abc"}`, `{"content":"abc"}`},
		{"other", `["a"]`, `{"value":["a"]}`},
		{"other", `"a"`, `{"value":"a"}`},
	} {
		d := newDesk(t, oneGate)
		d.owner("do as you like")
		out := d.call(c.tool, c.args)
		if out.Verify == nil {
			d.answerAll(out.Reply)
			out = d.call(c.tool, c.args)
		}
		if out.Verify == nil {
			t.Errorf("%s %.60s: nobody is asked: %+v", c.tool, c.args, out.Reply.Decision)
			continue
		}
		if got := string(out.Verify.Request.Params); got != c.want {
			t.Errorf("%s %.80s\ngot  %s\nwant %s", c.tool, c.args, got, c.want)
		}
	}
}

// A secret that was read in the session is not shown in any form: whole, encoded, or in pieces.
func TestKnownSecretsDoNotLeave(t *testing.T) {
	const key = "AKIAIOSFODNN72647352"
	for _, args := range []string{
		`{"code":"echo ` + key + `"}`,
		`{"code":"echo AKIAIOSF-ODNN7-2647352"}`,
		`{"code":"echo QUtJQUlPU0ZPRE5ONzI2NDczNTI="}`,
		`{"code":"echo AKIAIOSFOD","more":"NN72647352"}`,
		`{"code":"echo AKIAIOSFODNN","more":72647352}`,
	} {
		d := newDesk(t, oneGate)
		out := d.call("vault", `{"q":"x"}`)
		d.verified("vault", `{"q":"x"}`, out.Verify, false, yes("webhook"))
		d.tell(hook.Event{Point: hook.AfterToolCall, Call: toolCall("vault", `{"q":"x"}`), Result: hook.Result{Text: "aws_access_key_id = " + key}})
		out = d.call("shell", args)
		if out.Verify == nil {
			d.answerAll(out.Reply)
			out = d.call("shell", args)
		}
		if out.Verify == nil {
			t.Errorf("%s: nobody is asked: %+v", args, out.Reply.Decision)
			continue
		}
		sent := string(out.Verify.Request.Params) + strings.Join(out.Verify.Request.Lines, "\n")
		for _, piece := range []string{"AKIA", "QUtJ", "647352", "NN7"} {
			if strings.Contains(sent, piece) {
				t.Errorf("%s: sent %s", args, sent)
			}
		}
	}
}

// A call is shown as a whole or refused.
// A patch whose files cannot all be shown is not asked about.
func TestAPatchOfManyFiles(t *testing.T) {
	d := newDesk(t, oneGate)
	d.owner("go on")
	many := ""
	for i := range 200 {
		many += fmt.Sprintf("*** Add File: some/folder/%d.txt\\n+x\\n", i)
	}
	if out := d.call("mend", `{"command":"`+many+`"}`); out.Verify != nil || out.Reply.Decision.Verdict == floodmark.Allow {
		t.Errorf("%+v", out.Reply.Decision)
	}
}

func TestParamsLimit(t *testing.T) {
	for n, want := range map[int]bool{verify.MaxParamsBytes - len(`{"code":""}`): true, verify.MaxParamsBytes - len(`{"code":""}`) + 1: false, verify.MaxParamsBytes + 1: false} {
		d := newDesk(t, "verifiers: [{name: webhook, failMode: allow}]\n")
		d.owner("go on")
		code := strings.Repeat("make ", n/5) + strings.Repeat("x", n%5)
		args, err := json.Marshal(map[string]string{"code": code})
		if err != nil {
			t.Fatal(err)
		}
		out := d.call("shell", string(args))
		if asked := out.Verify != nil; asked != want {
			t.Errorf("%d bytes: asked %v", n, asked)
		}
		if !want && (!strings.Contains(out.Reply.Line, "too large to be shown") || !strings.Contains(decided(t, out).Decision.Remedy.Agent, "smaller")) {
			t.Errorf("%d bytes: %s", n, out.Reply.Line)
		}
	}
}

// The lines for people show both ends of a long value, and the signs that join two commands.
func TestRequestLines(t *testing.T) {
	d := newDesk(t, oneGate)
	d.owner("go on")
	args := `{"code":"a | b > c\nd\u202e","long":"` + strings.Repeat("x", 300) + strings.Repeat("y", 50) + strings.Repeat("z", 100) + `","p1":1,"p2":2,"p3":3,"p4":4,"p5":5,"p6":6}`
	out := d.call("shell", args)
	got := strings.Join(out.Verify.Request.Lines, "\n")
	want := "code: a | b > c⏎d·\nlong: " + strings.Repeat("x", 300) + " […50 characters…] " + strings.Repeat("z", 100) +
		"\np1: 1\np2: 2\np3: 3\np4: 4\nand 2 more arguments"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	made := d.call("shell", `{"a":1,"b":2,"c":3,"code: make":"","d":4,"e":5,"code":"rm -rf x"}`)
	if got := strings.Join(made.Verify.Request.Lines, "\n"); got != "code: rm -rf x\na: 1\nb: 2\nc: 3\ncode: make: \nd: 4\nand 1 more arguments" {
		t.Error(got)
	}
	if got := strings.Join(d.call("mend", `{"command":"*** Add File: a.txt\n+key"}`).Verify.Request.Lines, "\n"); got != "command: [REDACTED: 24 chars] changes a.txt" {
		t.Error(got)
	}
	// Contents and secrets are shown last, by their length, and never push out where they go.
	for _, c := range []struct{ tool, args, want string }{
		{"write", `{"content":"abc","path":"a"}`, "path: a\ncontent: [REDACTED: 3 chars]"},
		{"write", `{"file":{"content":"abc","path":"a"}}`, "file.path: a\nfile.content: [REDACTED: 3 chars]"},
		{
			"Edit", `{"edits":["a","b","c","d","e","f","g","h"],"file_path":"a"}`,
			"file_path: a\nedits[0]: [REDACTED: 1 chars]\nedits[1]: [REDACTED: 1 chars]\nedits[2]: [REDACTED: 1 chars]\n" +
				"edits[3]: [REDACTED: 1 chars]\nedits[4]: [REDACTED: 1 chars]\nand 3 more arguments",
		},
		{"shell", `{"code":"x","api_key":"kk","ghp_0123456789abcdefABCD":1}`, "code: x\n[hidden]: 1\napi_key: [REDACTED: 2 chars]"},
		{"shell", `{"code":"x","api_key":"kk","p1":1,"p2":2,"p3":3,"p4":4,"p5":5}`, "code: x\np1: 1\np2: 2\np3: 3\np4: 4\np5: 5\nand 1 more arguments"},
	} {
		d := newDesk(t, oneGate)
		d.owner("do as you like")
		out := d.call(c.tool, c.args)
		if out.Verify == nil {
			d.answerAll(out.Reply)
			out = d.call(c.tool, c.args)
		}
		if got := strings.Join(out.Verify.Request.Lines, "\n"); got != c.want {
			t.Errorf("%s %s: got\n%s\nwant\n%s", c.tool, c.args, got, c.want)
		}
	}
	if r := out.Verify.Request; r.Provider != "chat" || r.Session != "s" || r.Agent != "a" || r.Digest.IsZero() || !r.At.Equal(d.at) || r.ID != "" {
		t.Errorf("%+v", r)
	}
}

// A server's tool has its server before it, and the provider is the one of the owner's
// latest message, if he wrote any.
func TestWhatARequestNames(t *testing.T) {
	d := newDesk(t, oneGate)
	served := func(id string) verify.Request {
		out := d.tell(hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: floodmark.CallID(id), Server: "desk", Name: "look", Args: json.RawMessage(`{"q":"x"}`)}})
		return out.Verify.Request
	}
	if r := served("1"); r.Tool != "desk/look" || r.Provider != "" {
		t.Errorf("%+v", r)
	}
	for i, by := range []string{"telegram", "signal", "telegram"} {
		from := olga()
		from.Name = by
		d.tell(hook.Event{Point: hook.MessageReceived, Origin: from, Text: "go on", Typed: true})
		if r := served(strconv.Itoa(i + 2)); r.Provider != by {
			t.Errorf("message %d: %+v", i, r)
		}
	}
}

// The most names that a call may have, all of them secrets.
func TestParamsOfManyNames(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"code":"x"`)
	for i := range hook.MaxLeaves - 1 {
		b.WriteString(`,"ghp_0123456789abcdef` + strconv.Itoa(i) + `":{}`)
	}
	b.WriteString("}")
	d := newDesk(t, oneGate)
	d.owner("go on")
	out := d.call("shell", b.String())
	if out.Verify == nil || strings.Contains(string(out.Verify.Request.Params), "ghp_") || strings.Count(string(out.Verify.Request.Params), "[hidden]") != hook.MaxLeaves-1 {
		t.Errorf("%.300s", out.Reply.Line)
	}
}
