package hookframe_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

func question() hookframe.Request {
	return hookframe.Request{
		V: 1, Agent: "codex", Event: "PreToolUse", Raw: json.RawMessage(`{"tool_name":"Bash <&>"}`),
		Env: map[string]string{"HOME": "/home/dev"}, DeadlineMS: 2000,
	}
}

func frame(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// The wire format, spelled out because other languages implement it.
func TestFramesOnTheWire(t *testing.T) {
	var b bytes.Buffer
	if err := hookframe.WriteRequest(&b, question()); err != nil {
		t.Fatal(err)
	}
	want := frame(`{"v":1,"agent":"codex","event":"PreToolUse","raw":{"tool_name":"Bash <&>"},"env":{"HOME":"/home/dev"},"deadline_ms":2000}`)
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
	got, err := hookframe.ReadRequest(&b)
	if diff := cmp.Diff(question(), got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	resp := hookframe.Response{V: 1, Stdout: "{}", Stderr: "no\n", Exit: 2}
	if err := hookframe.WriteResponse(&b, resp); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(frame(`{"v":1,"stdout":"{}","stderr":"no\n","exit":2}`)), b.String()); diff != "" {
		t.Error(diff)
	}
	back, err := hookframe.ReadResponse(&b)
	if diff := cmp.Diff(resp, back); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestRequestAtAndBeyondEachLimit(t *testing.T) {
	for name, c := range map[string]struct {
		limit int
		set   func(*hookframe.Request, int)
	}{
		"agent":    {hookframe.MaxName, func(r *hookframe.Request, n int) { r.Agent = strings.Repeat("x", n) }},
		"event":    {hookframe.MaxName, func(r *hookframe.Request, n int) { r.Event = strings.Repeat("x", n) }},
		"variable": {hookframe.MaxName, func(r *hookframe.Request, n int) { r.Env = map[string]string{strings.Repeat("x", n): ""} }},
		"value":    {hookframe.MaxEnvValue, func(r *hookframe.Request, n int) { r.Env = map[string]string{"x": strings.Repeat("x", n)} }},
		"deadline": {int(hookframe.MaxWait.Milliseconds()), func(r *hookframe.Request, n int) { r.DeadlineMS = int64(n) }},
		"variables": {hookframe.MaxEnv, func(r *hookframe.Request, n int) {
			r.Env = map[string]string{}
			for i := range n {
				r.Env[strings.Repeat("x", i+1)] = ""
			}
		}},
		"bytes": {hookframe.MaxRequest, func(r *hookframe.Request, n int) {
			*r = hookframe.Request{V: 1, Agent: "a", Event: "e", DeadlineMS: 1}
			shell := `{"v":1,"agent":"a","event":"e","raw":"","deadline_ms":1}`
			r.Raw = json.RawMessage(`"` + strings.Repeat("x", n-len(shell)) + `"`)
		}},
	} {
		if c.limit > 1<<20 && testing.Short() {
			continue // the race detector is slow with so many bytes
		}
		req := question()
		c.set(&req, c.limit)
		var b bytes.Buffer
		if err := hookframe.WriteRequest(&b, req); err != nil {
			t.Errorf("%s at the limit: %v", name, err)
		}
		if _, err := hookframe.ReadRequest(&b); err != nil {
			t.Errorf("%s read at the limit: %v", name, err)
		}
		c.set(&req, c.limit+1)
		if err := hookframe.WriteRequest(io.Discard, req); err == nil {
			t.Errorf("%s beyond the limit was written", name)
		}
	}
	if err := hookframe.WriteResponse(io.Discard, hookframe.Response{Stdout: strings.Repeat("x", hookframe.MaxResponse)}); !errors.Is(err, hookframe.ErrTooLarge) {
		t.Errorf("a large response: %v", err)
	}
}

func TestReadRequestRefuses(t *testing.T) {
	ok := `"agent":"a","event":"e","raw":{}}`
	for name, data := range map[string][]byte{
		"nothing":         nil,
		"half a length":   {0, 0},
		"half a body":     frame(`{"v":1,` + ok)[:20],
		"empty":           frame(``),
		"no JSON":         frame(`hello`),
		"two values":      frame(`{"v":1,` + ok + `{}`),
		"no version":      frame(`{` + ok),
		"newer":           frame(`{"v":2,` + ok),
		"version as text": frame(`{"v":"1",` + ok),
		"no agent":        frame(`{"v":1,"event":"e","raw":{}}`),
		"no event":        frame(`{"v":1,"agent":"a","raw":{}}`),
		"no message":      frame(`{"v":1,"agent":"a","event":"e"}`),
		"negative wait":   frame(`{"v":1,"deadline_ms":-1,` + ok),
		"long name":       frame(`{"v":1,"event":"e","raw":{},"agent":"` + strings.Repeat("a", hookframe.MaxName+1) + `"}`),
		"length beyond":   {1, 0, 0, 0},
	} {
		if req, err := hookframe.ReadRequest(bytes.NewReader(data)); err == nil {
			t.Errorf("%s: read as %+v", name, req)
		}
	}
	req, err := hookframe.ReadRequest(bytes.NewReader(frame(`{"v":7,"other":true}`)))
	if !errors.Is(err, hookframe.ErrVersion) || req.V != 7 {
		t.Errorf("a newer version: %+v, %v", req, err)
	}
}

// A half-understood answer could be an approval.
func TestReadResponseRefuses(t *testing.T) {
	for name, body := range map[string]string{
		"empty object": `{}`,
		"null":         `null`,
		"no exit":      `{"v":1,"stdout":"","stderr":""}`,
		"no stdout":    `{"v":1,"exit":0,"stderr":""}`,
		"no stderr":    `{"v":1,"exit":0,"stdout":""}`,
		"null exit":    `{"v":1,"stdout":"","stderr":"","exit":null}`,
		"newer":        `{"v":2,"stdout":"","stderr":"","exit":0}`,
		"unknown":      `{"v":1,"stdout":"","stderr":"","exit":0,"also":1}`,
		"exit beyond":  `{"v":1,"stdout":"","stderr":"","exit":256}`,
		"exit below":   `{"v":1,"stdout":"","stderr":"","exit":-1}`,
		"text":         `"ok"`,
	} {
		if resp, err := hookframe.ReadResponse(bytes.NewReader(frame(body))); err == nil {
			t.Errorf("%s: read as %+v", name, resp)
		}
	}
	if _, err := hookframe.ReadResponse(bytes.NewReader([]byte{0, 16, 0, 1})); !errors.Is(err, hookframe.ErrTooLarge) {
		t.Errorf("a long response: %v", err)
	}
}

func TestWait(t *testing.T) {
	for ms, want := range map[int64]time.Duration{0: hookframe.MaxWait, 1: time.Millisecond, -5: hookframe.MaxWait, 1 << 60: hookframe.MaxWait} {
		if got := (hookframe.Request{DeadlineMS: ms}).Wait(); got != want {
			t.Errorf("%d ms: %v, want %v", ms, got, want)
		}
	}
}

func TestSocketPath(t *testing.T) {
	long := "/" + strings.Repeat("x", 102)
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"FLOODMARK_HOOK_SOCKET": "/s", "XDG_RUNTIME_DIR": "/run/user/1"}, "/s"},
		{map[string]string{"XDG_RUNTIME_DIR": "/run/user/1", "XDG_STATE_HOME": "/st", "HOME": "/h"}, "/run/user/1/floodmark/hook.sock"},
		{map[string]string{"XDG_RUNTIME_DIR": "run", "XDG_STATE_HOME": "/st", "HOME": "/h"}, "/st/floodmark/run/hook.sock"},
		{map[string]string{"HOME": "/h"}, "/h/.local/state/floodmark/run/hook.sock"},
		{map[string]string{}, ""},
		{map[string]string{"FLOODMARK_HOOK_SOCKET": "s"}, ""},
		{map[string]string{"FLOODMARK_HOOK_SOCKET": long}, long},
		{map[string]string{"FLOODMARK_HOOK_SOCKET": long + "x"}, ""},
	} {
		got, err := hookframe.SocketPath(func(name string) string { return c.env[name] })
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v: %q, %v; want %q", c.env, got, err, c.want)
		}
	}
}

// FuzzReadRequest checks that a request once read can be written and read again.
func FuzzReadRequest(f *testing.F) {
	var b bytes.Buffer
	if err := hookframe.WriteRequest(&b, question()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(frame(`{"v":2}`))
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := hookframe.ReadRequest(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := hookframe.WriteRequest(&b, req); err != nil {
			t.Fatalf("%+v: %v", req, err)
		}
		if _, err := hookframe.ReadRequest(&b); err != nil {
			t.Errorf("cannot read back %q: %v", data, err)
		}
	})
}

// FuzzReadResponse checks that everything in a decoded answer was in the bytes.
func FuzzReadResponse(f *testing.F) {
	f.Add(frame(`{"v":1,"stdout":"","stderr":"","exit":0}`))
	f.Add(frame(`{"v":1,"stdout":"{\"a\":1}","stderr":"x","exit":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		resp, err := hookframe.ReadResponse(bytes.NewReader(data))
		if err != nil {
			return
		}
		var raw map[string]json.RawMessage
		if err := json.Unmarshal(data[4:4+binary.BigEndian.Uint32(data)], &raw); err != nil || len(raw) < 4 {
			t.Errorf("%q was read as %+v", data, resp)
		}
	})
}
