package mcpshare

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Two clients with the same ids and the same progress tokens get their own
// answers and their own progress, and nothing of each other's.
func TestTwoClientsWithTheSameIds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, server := newShared(t, Options{})
		a, b := join(t, h, "{}"), join(t, h, "{}")
		f := server()
		ofA, ofB := a.call(t, f, "1", "secret of a"), b.call(t, f, "1", "secret of b")
		if ofA.ID == ofB.ID || token(t, ofA) == token(t, ofB) {
			t.Fatalf("the server sees one id or token twice: %s, %s", ofA.Params, ofB.Params)
		}
		f.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token(t, ofB) + `,"progress":1,"message":"half of b"}}`)
		f.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"for whoever has 1"}}`)
		f.say(result(ofB, `{"content":[{"type":"text","text":"answer of b"}]}`))
		f.say(result(ofA, `{"content":[{"type":"text","text":"answer of a"}]}`))
		if got := b.hears(t, "half of b"); !strings.Contains(got, `"progressToken":1`) {
			t.Error(got)
		}
		if got := a.hears(t, "answer of a"); !strings.Contains(got, `"id":1`) {
			t.Error(got)
		}
		b.hears(t, "answer of b")
		for _, part := range []string{"of b", "whoever"} {
			if got := a.got(part); got != "" {
				t.Errorf("a heard %s", got)
			}
		}
		for _, part := range []string{"of a", "whoever"} {
			if got := b.got(part); got != "" {
				t.Errorf("b heard %s", got)
			}
		}
		f.say(result(ofA, `{"content":[{"type":"text","text":"once more"}]}`))
		f.say(result(b.call(t, f, "1", "again"), `{"content":[{"type":"text","text":"the id is free again"}]}`))
		b.hears(t, "the id is free again")
		if a.got("once more")+b.got("once more") != "" {
			t.Error("an answer came twice")
		}
	})
}

// A client cannot cancel another client's call, neither by the client's id nor by ours nor by the
// progress token.
func TestAClientCannotCancelAnothersCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, server := newShared(t, Options{})
		a, b := join(t, h, "{}"), join(t, h, "{}")
		f := server()
		ofA := a.call(t, f, "7", "work")
		ofB := b.call(t, f, "8", "work")
		for _, id := range []string{"7", fmt.Sprint(ofA.ID.Raw()), `"7"`, token(t, ofA), "null", "{}"} {
			b.say(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"tell the others"}}`)
		}
		b.say(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8,"reason":"tell the others"}}`)
		got := f.hears("notifications/cancelled")
		if want := fmt.Sprintf(`{"requestId":%v}`, ofB.ID.Raw()); string(got.Params) != want {
			t.Errorf("the server heard %s, want %s", got.Params, want)
		}
		f.say(result(ofA, `{"content":[{"type":"text","text":"done for a"}]}`))
		a.hears(t, "done for a")
		f.say(result(ofB, `{"content":[{"type":"text","text":"too late"}]}`))
		f.say(result(b.call(t, f, "9", "more"), `{"content":[{"type":"text","text":"done for b"}]}`))
		b.hears(t, "done for b")
		if b.got("too late") != "" {
			t.Error("an answer to a call that was taken back")
		}
	})
}

// Only a client that subscribed to an address gets its updates. The server is told when the last
// one unsubscribes, or leaves.
func TestSubscriptionsAreAClientsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, server := newShared(t, Options{})
		a, b, c := join(t, h, "{}"), join(t, h, "{}"), join(t, h, "{}")
		f := server()
		for _, p := range []*person{a, b} {
			p.say(t, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x://both","note":"left out"}}`)
			got := f.hears("resources/subscribe")
			if string(got.Params) != `{"uri":"x://both"}` {
				t.Errorf("%s", got.Params)
			}
			f.say(result(got, "{}"))
			p.hears(t, `"id":1`)
		}
		a.say(t, `{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"x://a"}}`)
		f.say(result(f.hears("resources/subscribe"), "{}"))
		a.hears(t, `"id":2`)
		updated := func(uri string) {
			f.say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`)
		}
		updated("x://a")
		updated("x://both")
		a.hears(t, "x://a")
		a.hears(t, "x://both")
		b.hears(t, "x://both")
		a.say(t, `{"jsonrpc":"2.0","id":3,"method":"resources/unsubscribe","params":{"uri":"x://both"}}`)
		a.hears(t, `"id":3`)
		c.say(t, `{"jsonrpc":"2.0","id":3,"method":"resources/unsubscribe","params":{"uri":"x://both"}}`)
		c.hears(t, `"id":3`)
		_ = b.Close()
		if got := f.hears("resources/unsubscribe"); string(got.Params) != `{"uri":"x://both"}` {
			t.Errorf("%s", got.Params)
		}
		if b.got("x://a")+c.got("x://") != "" {
			t.Error("a client heard of what it did not subscribe to")
		}
	})
}

// ask lets the server ask for a sample.
func (f *fake) ask(id string) {
	f.say(`{"jsonrpc":"2.0","id":"` + id + `","method":"sampling/createMessage","params":{"text":"` + id + `","_meta":{"progressToken":1}}}`)
}

// refused takes the next answer to the server, and checks that it is a refusal.
func (f *fake) refused(t *testing.T, why string) {
	t.Helper()
	if got := f.answer(); got.Error == nil || !strings.Contains(got.Error.Error(), why) {
		t.Errorf("want %q: %+v", why, got)
	}
}

// Only the client that was asked can answer a question or report its progress.
func TestNobodyElseAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, server := newShared(t, Options{})
		a, b := join(t, h, `{"sampling":{}}`), join(t, h, `{"sampling":{}}`)
		f := server()
		a.call(t, f, "1", "x")
		f.ask("of a")
		var q struct {
			ID     json.RawMessage
			Params struct {
				Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
			}
		}
		if err := json.Unmarshal([]byte(a.hears(t, "of a")), &q); err != nil {
			t.Fatal(err)
		}
		b.say(t, `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":{"from":"b"}}`)
		b.say(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+string(q.Params.Meta.ProgressToken)+`,"progress":9}}`)
		a.say(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+string(q.Params.Meta.ProgressToken)+`,"progress":5}}`)
		a.say(t, `{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":{"from":"a"}}`)
		if got := f.hears("notifications/progress"); string(got.Params) != `{"progress":5,"progressToken":1}` {
			t.Errorf("%s", got.Params)
		}
		if got := f.answer(); string(got.Result) != `{"from":"a"}` || got.ID.Raw() != "of a" {
			t.Errorf("%+v", got)
		}
		if b.got("of a") != "" {
			t.Error("b heard a's question")
		}
	})
}

// A question of the server reaches the only client it works for; it is refused if the server works
// for two clients, for none, or may still be working for another one.
func TestQuestionsReachWhomTheyAreFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(1, 0)
		h, server := newShared(t, Options{Now: func() time.Time { return now }, Ghost: time.Minute})
		a, b := join(t, h, `{"sampling":{}}`), join(t, h, `{"sampling":{}}`)
		f := server()
		f.ask("nobody")
		f.refused(t, "not certain")
		ofA := a.call(t, f, "1", "x")
		b.say(t, `{"jsonrpc":"2.0","id":5,"method":"tools/list"}`) // a list does not count as work for a client
		f.hears("tools/list")
		f.ask("of a")
		a.hears(t, "of a")
		ofB := b.call(t, f, "1", "x")
		f.ask("two")
		f.refused(t, "not certain")
		f.say(result(ofB, "{}"))
		b.hears(t, `"id":1`)
		f.ask("again of a")
		a.hears(t, "again of a")
		f.say(result(ofA, "{}"))
		b.call(t, f, "2", "x")
		b.say(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		f.hears("notifications/cancelled")
		a.call(t, f, "3", "x")
		f.ask("a ghost of b")
		f.refused(t, "not certain")
		h.mu.Lock()
		now = now.Add(2 * time.Minute)
		h.mu.Unlock()
		f.ask("no ghost")
		a.hears(t, "no ghost")
		f.say(`{"jsonrpc":"2.0","id":"roots","method":"roots/list"}`)
		f.refused(t, "does not offer")
		f.say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		if got := f.answer(); got.Error != nil {
			t.Error(got.Error)
		}
		_ = a.Close()
		for range 3 { // the hub answers the questions of a client that has left
			f.refused(t, "left")
		}
		if b.got("of a")+b.got("ghost") != "" {
			t.Error("b heard a's question")
		}
	})
}

// Log messages go to the only client that the server works for, in the level that the client asked
// for. Changes of lists go to all clients. Messages about a task go to the client that started it.
func TestWhatBelongsToWhom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, server := newShared(t, Options{})
		a, b := join(t, h, "{}"), join(t, h, "{}")
		f := server()
		f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"text":"left out"}}`)
		a.hears(t, "tools/list_changed")
		b.hears(t, "tools/list_changed")
		b.say(t, `{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"error"}}`)
		f.say(result(f.hears("logging/setLevel"), "{}"))
		a.say(t, `{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"debug"}}`)
		if got := f.hears("logging/setLevel"); string(got.Params) != `{"level":"debug"}` {
			t.Errorf("%s", got.Params)
		}
		log := func(level, text string) {
			f.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"` + level + `","data":"` + text + `"}}`)
		}
		log("emergency", "nobody works")
		f.say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`) // answered when the log is read, before b calls
		if got := f.answer(); got.Error != nil {
			t.Error(got.Error)
		}
		ofB := b.call(t, f, "1", "x")
		log("info", "too low")
		log("error", "log of b")
		b.hears(t, "log of b")
		f.say(result(ofB, `{"task":{"taskId":"t-b","status":"working"}}`))
		b.hears(t, "t-b")
		f.say(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t-b","status":"working","note":"of b"}}`)
		b.hears(t, "tasks/status")
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			a.say(t, `{"jsonrpc":"2.0","id":"`+method+`","method":"`+method+`","params":{"taskId":"t-b"}}`)
			if got := a.hears(t, `"id":"`+method); !strings.Contains(got, "no such task") {
				t.Error(got)
			}
		}
		for _, p := range []*person{a, b} {
			p.say(t, `{"jsonrpc":"2.0","id":"all","method":"tasks/list","params":{"_meta":{"x":1}}}`)
			f.say(result(f.hears("tasks/list"), `{"tasks":[{"taskId":"t-b","note":"of b"},{"taskId":"t-c"}],"other":"of c"}`))
			p.hears(t, `"id":"all"`)
		}
		if got := b.got(`"id":"all"`); !strings.Contains(got, "t-b") || strings.Contains(got, "t-c") || strings.Contains(got, "of c") {
			t.Error(got)
		}
		a.call(t, f, "2", "x") // b's task is open
		f.say(`{"jsonrpc":"2.0","method":"notifications/unknown","params":{"text":"whose is this"}}`)
		f.say(`{"jsonrpc":"2.0","method":"notifications/unknown","params":{"text":"the task's","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t-b"}}}}`)
		b.hears(t, "the task's")
		a.say(t, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		a.say(t, `{"jsonrpc":"2.0","method":"notifications/other","params":{"text":"to all"}}`)
		a.say(t, `{"jsonrpc":"2.0","id":"end","method":"tasks/list"}`)
		f.say(result(f.hears("tasks/list"), `{"tasks":[]}`))
		a.hears(t, `"id":"end"`)
		if a.got("of b")+a.got("t-b")+a.got("nobody works")+a.got("whose")+b.got("whose")+b.got("nobody works")+b.got("too low")+a.got("left out") != "" {
			t.Error("somebody heard what is not his")
		}
	})
}

// Parameters that a lenient server could read differently from us are not forwarded.
func TestWhatCouldBeReadInTwoWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, server := newShared(t, Options{})
		a := join(t, h, "{}")
		f := server()
		for i, meta := range []string{`"_META":{"progressToken":1}`, `"_meta":{"ProgressToken":1}`, `"_meta":[1]`} {
			a.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":"bad %d","method":"completion/complete","params":{%s}}`, i, meta))
			if got := a.hears(t, fmt.Sprintf(`"bad %d"`, i)); !strings.Contains(got, "error") {
				t.Error(got)
			}
		}
		a.say(t, `{"jsonrpc":"2.0","id":"two","method":"completion/complete","params":{"_meta":{"progressToken":"floodmark-1"},"_meta":{"progressToken":"floodmark-2","progressToken":"floodmark-3"}}}`)
		if got := string(f.hears("completion/complete").Params); strings.Count(got, "progressToken") != 1 || strings.Contains(got, "floodmark-3") {
			t.Error(got)
		}
	})
}
