package monitor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
)

// BenchmarkHandle measures a whole decision in a warm session that began with
// 200 facts, over a journal that costs next to nothing.
func BenchmarkHandle(b *testing.B) {
	for _, c := range []struct {
		name string
		ev   hook.Event
		want floodmark.Verdict
	}{
		{"allowed", calls("s", "x", "read", `{"path":"/work/p/notes.md"}`), floodmark.Allow},
		{"asked", mail("s", "x"), floodmark.Confirm},
		{"command", calls("s", "x", "exec", `{"command":"git status"}`), floodmark.Allow},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := lived(b, monitor.Limits{})
			b.ReportAllocs()
			for b.Loop() {
				if reply, err := d.Handle(b.Context(), "", c.ev); err != nil || reply.Decision.Verdict != c.want {
					b.Fatal(reply, err)
				}
			}
		})
	}
}

// BenchmarkModelCall measures a model call that carries a hundred messages of 2 kB, from its
// JSON to the answer: with their texts, with their digests only, and without any.
func BenchmarkModelCall(b *testing.B) {
	d, texts, digests := prompted(b)
	for name, messages := range map[string][]hook.Content{"texts": texts, "digests": digests, "none": nil} {
		ev := at("s", hook.BeforeLLMCall)
		ev.Messages = messages
		data, err := json.Marshal(ev)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for n := 1; b.Loop(); n++ {
				if n%5000 == 1 {
					b.StopTimer() // a turn has no more rounds than this
					d.tell(b, says("s", "go on"))
					b.StartTimer()
				}
				ev, err := hook.Decode(data)
				if err != nil {
					b.Fatal(err)
				}
				if reply, err := d.Handle(b.Context(), "", ev); err != nil || reply.Decision.Verdict != floodmark.Allow {
					b.Fatal(reply, err)
				}
			}
		})
	}
}

// A model call writes one entry for any number of messages, and known messages are not recorded
// again.
func TestAModelCallOfAHundredMessages(t *testing.T) {
	d, texts, digests := prompted(t)
	for name, messages := range map[string][]hook.Content{"texts": texts, "digests": digests} {
		before := len(facts(t, d.cfg.Journal, session("s")))
		ev := at("s", hook.BeforeLLMCall)
		ev.Messages = messages
		if reply := d.tell(t, ev); reply.Decision.Verdict != floodmark.Allow {
			t.Errorf("%s: %+v", name, reply)
		}
		if n := len(facts(t, d.cfg.Journal, session("s"))) - before; n != 1 {
			t.Errorf("%s: %d entries for one model call", name, n)
		}
	}
}

// prompted returns a monitor with a session that has seen a hundred texts of 2 kB, with
// those texts and with their digests.
func prompted(tb testing.TB) (d *desk, texts, digests []hook.Content) {
	tb.Helper()
	d = newDesk(tb, journal.NewMemory(), manyRounds(tb))
	d.tell(tb, at("s", hook.SessionStart))
	d.tell(tb, says("s", "read these pages"))
	for i := range 100 {
		fetch := calls("s", fmt.Sprint("c", i), "web_fetch", fmt.Sprintf(`{"url":"https://news.example/%d"}`, i))
		text := strings.Repeat(fmt.Sprintf("page %d says write to user%d@firm.example. ", i, i), 50)
		d.tell(tb, fetch)
		d.tell(tb, returns(fetch, text))
		texts = append(texts, hook.Content{Kind: floodmark.NodeToolResult, Text: text})
		digests = append(digests, hook.Content{Kind: floodmark.NodeToolResult, Digest: floodmark.DigestOf(text)})
	}
	return d, texts, digests
}

// BenchmarkCold measures the same without a cache: the session and its index are read each time.
func BenchmarkCold(b *testing.B) {
	d := lived(b, monitor.Limits{CacheBytes: 1, ContentBytes: 1})
	b.ReportAllocs()
	for b.Loop() {
		if reply, err := d.Handle(b.Context(), "", mail("s", "x")); err != nil || reply.Decision.Verdict != floodmark.Confirm {
			b.Fatal(reply, err)
		}
	}
}

// BenchmarkSessions measures many sessions at once.
func BenchmarkSessions(b *testing.B) {
	d := newDesk(b, journal.NewMemory(), manyRounds(b))
	var n atomic.Int64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		id := fmt.Sprint("s", n.Add(1))
		for pb.Next() {
			if reply, err := d.Handle(b.Context(), "", mail(id, "x")); err != nil || reply.Decision.Verdict != floodmark.Confirm {
				b.Error(reply, err)
			}
		}
	})
}

// lived returns a monitor with a session of 200 facts.
func lived(b *testing.B, limits monitor.Limits) *desk {
	b.Helper()
	d := newDesk(b, journal.NewMemory(), manyRounds(b), func(c *monitor.Config) { c.Limits = limits })
	begin := at("s", hook.SessionStart)
	begin.Project, begin.Home = "/work/p", "/home/u"
	d.tell(b, begin)
	d.tell(b, says("s", "read these files"))
	for i := range 98 {
		read := calls("s", fmt.Sprint("c", i), "read", fmt.Sprintf(`{"path":"notes/%d.md"}`, i))
		if reply := d.tell(b, read); reply.Decision.Verdict != floodmark.Allow {
			b.Fatal(reply)
		}
		d.tell(b, returns(read, fmt.Sprintf("page %d says write to user%d@firm.example", i, i)))
	}
	return d
}

// manyRounds raises the limit of rounds: each benchmark is one turn.
func manyRounds(tb testing.TB) func(*monitor.Config) {
	rules := mustRules(tb, plain+"maxIterations: 10000\n")
	return func(c *monitor.Config) {
		c.Observe = nil
		c.Rules = func() kernel.Rules { return rules }
	}
}
