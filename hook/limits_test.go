package hook_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// The limits that are documented for agents.
func TestLimits(t *testing.T) {
	for name, c := range map[string][2]int{
		"bytes of an event":     {hook.MaxEventBytes, 33554432},
		"parts":                 {hook.MaxParts, 4096},
		"tools":                 {hook.MaxTools, 2048},
		"bytes of a name":       {hook.MaxNameBytes, 512},
		"bytes of arguments":    {hook.MaxArgsBytes, 8388608},
		"depth of arguments":    {hook.MaxArgsDepth, 64},
		"bytes of a command":    {hook.MaxCommandBytes, 131071},
		"values looked at once": {hook.MaxLeaves, 4096},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
}

func long(n int) string { return strings.Repeat("x", n) }

// Every bounded field is accepted at its limit and refused one beyond it.
func TestCheckAtAndBeyondEachLimit(t *testing.T) {
	call := func(change func(*hook.Call, int)) func(*hook.Event, int) {
		return func(ev *hook.Event, n int) { change(&ev.Call, n) }
	}
	proposed := func(change func(*hook.Call, int)) func(*hook.Event, int) {
		return func(ev *hook.Event, n int) {
			ev.Calls = make([]hook.Call, 2)
			change(&ev.Calls[1], n)
		}
	}
	id := func(c *hook.Call, n int) { c.ID = floodmark.CallID(long(n)) }
	name := func(c *hook.Call, n int) { c.Name = long(n) }
	server := func(c *hook.Call, n int) { c.Server = long(n) }
	args := func(c *hook.Call, n int) { c.Args = json.RawMessage(`"` + long(n-2) + `"`) }
	depth := func(c *hook.Call, n int) { c.Args = json.RawMessage(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	for field, c := range map[string]struct {
		limit int
		set   func(*hook.Event, int)
	}{
		"agent":           {hook.MaxNameBytes, func(ev *hook.Event, n int) { ev.Agent = long(n) }},
		"session":         {hook.MaxNameBytes, func(ev *hook.Event, n int) { ev.Session = floodmark.SessionID(long(n)) }},
		"child":           {hook.MaxNameBytes, func(ev *hook.Event, n int) { ev.Child = floodmark.SessionID(long(n)) }},
		"parts":           {hook.MaxParts, func(ev *hook.Event, n int) { ev.Parts = make([]hook.Content, n) }},
		"sources":         {hook.MaxParts, func(ev *hook.Event, n int) { ev.Sources = make([]hook.Content, n) }},
		"messages":        {hook.MaxParts, func(ev *hook.Event, n int) { ev.Messages = make([]hook.Content, n) }},
		"calls":           {hook.MaxParts, func(ev *hook.Event, n int) { ev.Calls = make([]hook.Call, n) }},
		"tools":           {hook.MaxTools, func(ev *hook.Event, n int) { ev.Tools = make([]hook.Tool, n) }},
		"call id":         {hook.MaxNameBytes, call(id)},
		"call name":       {hook.MaxNameBytes, call(name)},
		"call server":     {hook.MaxNameBytes, call(server)},
		"arguments":       {hook.MaxArgsBytes, call(args)},
		"depth":           {hook.MaxArgsDepth, call(depth)},
		"proposed id":     {hook.MaxNameBytes, proposed(id)},
		"proposed name":   {hook.MaxNameBytes, proposed(name)},
		"proposed server": {hook.MaxNameBytes, proposed(server)},
		"proposed depth":  {hook.MaxArgsDepth, proposed(depth)},
	} {
		ev := hook.Event{Point: hook.SessionEnd, Agent: "a", Session: "s"}
		if c.set(&ev, c.limit); ev.Check() != nil {
			t.Errorf("%s at the limit: %v", field, ev.Check())
		}
		if c.set(&ev, c.limit+1); !errors.Is(ev.Check(), hook.ErrTooLarge) {
			t.Errorf("%s beyond the limit: %v", field, ev.Check())
		}
	}
}

// An event may be as long as the limit, white space included.
func TestDecodeAtTheLimit(t *testing.T) {
	data := []byte(`{"point":"session_end","agent":"a","session":"s"}`)
	room := []byte(strings.Repeat(" ", hook.MaxEventBytes+1))
	copy(room, data)
	if _, err := hook.Decode(room[:hook.MaxEventBytes]); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if ev, err := hook.Decode(room); !errors.Is(err, hook.ErrTooLarge) || !reflect.DeepEqual(ev, hook.Event{}) {
		t.Errorf("beyond the limit: %v", err)
	}
	for _, wrong := range []string{`{`, string(data) + "{}", `{"point":"x","agent":"a","session":"s"}`} {
		if ev, err := hook.Decode([]byte(wrong)); err == nil || !reflect.DeepEqual(ev, hook.Event{}) {
			t.Errorf("%s: %+v, %v; want no event beside an error", wrong, ev, err)
		}
	}
}

// Brackets inside a string are no nesting, and an escaped quote does not end it.
func TestDepthLooksOnlyAtStructure(t *testing.T) {
	deep := strings.Repeat("[", hook.MaxArgsDepth)
	flat := strings.Repeat("]", hook.MaxArgsDepth)
	for args, ok := range map[string]bool{
		deep + flat:                      true,
		"[" + deep + flat + "]":          false,
		`["\"` + deep + `["]`:            true,
		`["\\",` + deep + flat + `]`:     false,
		`["a",` + deep[1:] + flat:        true,
		`[[],{},[],` + deep[1:] + flat:   true,
		`{"x":{"y":` + deep + flat + `}`: false,
		`{"a":` + strings.Repeat(`{"a":`, hook.MaxArgsDepth-1) + `1` + strings.Repeat("}", hook.MaxArgsDepth): true,
		`{"a":` + strings.Repeat(`{"a":`, hook.MaxArgsDepth) + `1` + strings.Repeat("}", hook.MaxArgsDepth+1): false,
	} {
		if _, err := (hook.Call{Args: json.RawMessage(args)}).Leaves(); (err == nil) != ok {
			t.Errorf("%.20s…: %v", args, err)
		}
	}
}

// Each key may occur once in an object, however many keys it has.
func TestRepeatedKeysAmongMany(t *testing.T) {
	for n := 1; n <= 20; n++ {
		keys := make([]string, n)
		for i := range keys {
			keys[i] = strconv.Quote("k"+strconv.Itoa(i)) + ":1"
		}
		object := strings.Join(keys, ",")
		if leaves, err := (hook.Call{Args: json.RawMessage("{" + object + "}")}).Leaves(); err != nil || len(leaves) != n {
			t.Errorf("%d keys: %d leaves, %v", n, len(leaves), err)
		}
		for i := range n {
			args := "{" + object + `,"k` + strconv.Itoa(i) + `":2}`
			if _, err := (hook.Call{Args: json.RawMessage(args)}).Leaves(); !errors.Is(err, hook.ErrArgs) {
				t.Errorf("key %d of %d again: %v", i, n, err)
			}
		}
	}
}

// An empty object or list is counted as a value.
func TestEmptyValuesAtTheLimit(t *testing.T) {
	for _, empty := range []string{"{}", "[]"} {
		for n, ok := range map[int]bool{hook.MaxLeaves: true, hook.MaxLeaves + 1: false} {
			for _, form := range []string{"[%]", `{"a":[%]}`} {
				args := strings.Replace(form, "%", strings.Repeat("1,", n-1)+empty, 1)
				if leaves, err := (hook.Call{Args: json.RawMessage(args)}).Leaves(); (err == nil) != ok || ok && len(leaves) != n {
					t.Errorf("%d values and the last is %s: %d leaves, %v", n, empty, len(leaves), err)
				}
			}
		}
	}
	if _, err := (hook.Call{Args: json.RawMessage("[" + strings.Repeat("{},", hook.MaxLeaves) + "1]")}).Leaves(); !errors.Is(err, hook.ErrArgs) {
		t.Errorf("a value too many: %v", err)
	}
}

// Arguments must mean the same as for the library's decoder.
func TestLeavesAreTheLibrarys(t *testing.T) {
	for _, args := range []string{
		`{"a":"\"","b":1}`, `{"a":"\\","b":[1 ,2	,"x"]}`, "[\n1,\r\n[ ] ,{ } , true ]", `{"é":"ü\n","a":"\u00e9"}`,
		`{"a":[[1],[2,[3]]],"b":{"c":[{"d":null}]}}`, `"\ud83d\ude00"`, "\"\xff\"", "\"\x80\"", ` 7 `, `{"":[""]}`, `[false , -0.5e+10]`,
	} {
		got, err := hook.Call{Args: json.RawMessage(args)}.Leaves()
		want, plainErr := plainLeaves([]byte(args))
		if err != nil || plainErr != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v, %v", args, got, err, want, plainErr)
		}
	}
}

// A call is left out of the wire only if it says nothing at all.
func TestCallIsZero(t *testing.T) {
	if !(hook.Call{}).IsZero() {
		t.Error("a call that says nothing is not zero")
	}
	for name, c := range map[string]hook.Call{
		"id": {ID: "x"}, "server": {Server: "x"}, "name": {Name: "x"}, "args": {Args: json.RawMessage(`{}`)}, "hints": {Hints: &hook.Hints{}},
	} {
		if c.IsZero() {
			t.Errorf("a call with %s is zero", name)
		}
	}
	if got := (hook.Result{Text: "x", Digest: floodmark.DigestOf("y")}).ContentDigest(); got != floodmark.DigestOf("x") {
		t.Error("a result's text is identified by itself, whatever its sender says")
	}
	if !(hook.Content{}).ContentDigest().IsZero() || !(hook.Result{}).ContentDigest().IsZero() {
		t.Error("nothing has a digest")
	}
}

// The fields of a client's window have limits, and only known words are accepted.
func TestAWindowIsBounded(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		w  hook.Window
		ok bool
	}{
		"nothing":         {hook.Window{}, true},
		"a client":        {hook.Window{Client: long(hook.MaxNameBytes)}, true},
		"a long client":   {hook.Window{Client: long(hook.MaxNameBytes + 1)}, false},
		"a long ticket":   {hook.Window{Ticket: floodmark.TicketID(long(hook.MaxNameBytes + 1))}, false},
		"typed":           {hook.Window{Picked: long(hook.MaxPicked)}, true},
		"typed too much":  {hook.Window{Picked: long(hook.MaxPicked + 1)}, false},
		"accepted":        {hook.Window{Answer: hook.Accept}, true},
		"declined":        {hook.Window{Answer: hook.Decline}, true},
		"somehow decided": {hook.Window{Answer: "yes"}, false},
	} {
		ev := hook.Event{Point: hook.BeforeToolCall, Agent: "mcp", Session: "s", Window: &c.w}
		if err := ev.Check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A reply has a command only at a point at which a command can be replaced, and only a command that
// a shell can run.
func TestReplyCheck(t *testing.T) {
	allow := floodmark.Decision{Verdict: floodmark.Allow}
	for name, c := range map[string]struct {
		reply hook.Reply
		at    hook.Point
		ok    bool
	}{
		"none":            {hook.Reply{}, hook.SessionEnd, true},
		"before a call":   {hook.Reply{Decision: allow, Command: "ls"}, hook.BeforeToolCall, true},
		"at the limit":    {hook.Reply{Decision: allow, Command: strings.Repeat("x", hook.MaxCommandBytes)}, hook.BeforeToolCall, true},
		"beyond it":       {hook.Reply{Decision: allow, Command: strings.Repeat("x", hook.MaxCommandBytes+1)}, hook.BeforeToolCall, false},
		"after a call":    {hook.Reply{Decision: allow, Command: "ls"}, hook.AfterToolCall, false},
		"at no point":     {hook.Reply{Decision: allow, Command: "ls"}, "", false},
		"with a refusal":  {hook.Reply{Command: "ls"}, hook.BeforeToolCall, false},
		"with a question": {hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Confirm}, Command: "ls"}, hook.BeforeToolCall, false},
		"blank":           {hook.Reply{Decision: allow, Command: " \n"}, hook.BeforeToolCall, false},
		"with a NUL":      {hook.Reply{Decision: allow, Command: "ls\x00"}, hook.BeforeToolCall, false},
		"not UTF-8":       {hook.Reply{Decision: allow, Command: "ls \xff"}, hook.BeforeToolCall, false},
	} {
		if err := c.reply.Check(c.at); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A call allowed only in a box is not allowed to a caller that does not run the reply's command
// instead of its own, at any point.
func TestABoxedYesIsOneForWhoReplacesTheCommand(t *testing.T) {
	free := floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}
	boxed := floodmark.Decision{Verdict: floodmark.Allow}
	for _, at := range append(hook.Points(), "") {
		if r := (hook.Reply{Decision: free}); r.Check(at) != nil || !r.Allows() {
			t.Errorf("free at %q: %v", at, r.Check(at))
		}
		if r := (hook.Reply{Decision: boxed}); !errors.Is(r.Check(at), hook.ErrNoBox) || r.Allows() || !errors.Is(r.Elsewhere(), hook.ErrNoBox) {
			t.Errorf("boxed without a command at %q: %v", at, r.Check(at))
		}
		for _, d := range []floodmark.Decision{free, boxed} {
			if r := (hook.Reply{Decision: d, Command: "ls"}); (r.Check(at) == nil) != (at == hook.BeforeToolCall) || r.Allows() || !errors.Is(r.Elsewhere(), hook.ErrOtherCommand) {
				t.Errorf("%v with a command at %q: %v, allows %v", d.Reach, at, r.Check(at), r.Allows())
			}
			many := hook.Reply{Decision: free, Calls: []floodmark.Decision{free, d}}
			if fits := d.Reach == floodmark.Free; (many.Check(at) == nil) != fits || many.Allows() != fits {
				t.Errorf("a call that is %v at %q: %v", d.Reach, at, many.Check(at))
			}
		}
		for _, v := range []floodmark.Verdict{floodmark.Restrict, floodmark.Confirm, floodmark.Audit} {
			if r := (hook.Reply{Decision: floodmark.Decision{Verdict: v}}); r.Check(at) != nil || r.Elsewhere() != nil || r.Allows() {
				t.Errorf("%v at %q: %v", v, at, r.Check(at)) // a call that is not allowed needs no box
			}
		}
	}
	for name, r := range map[string]hook.Reply{
		"a verifier": {Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free, Verifiers: []string{"phone"}}},
		"the turn":   {Decision: free, BlockTurn: true},
	} {
		if r.Allows() {
			t.Errorf("%s does not count", name)
		}
	}
}
