package monitor_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// BenchmarkHandle measures a whole decision in a warm session that began with
// 200 facts, over a journal that costs next to nothing.
func BenchmarkHandle(b *testing.B) {
	for name, ev := range map[string]hook.Event{
		"allowed": calls("s", "x", "read", `{"path":"/work/notes.md"}`),
		"asked":   mail("s", "x"),
		"command": calls("s", "x", "exec", `{"command":"git status"}`),
	} {
		b.Run(name, func(b *testing.B) {
			d := lived(b, monitor.Limits{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Handle(b.Context(), "", ev); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCold measures the same where nothing is remembered: the session and
// its index are read each time.
func BenchmarkCold(b *testing.B) {
	d := lived(b, monitor.Limits{CacheBytes: 1, ContentBytes: 1})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Handle(b.Context(), "", mail("s", "x")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSessions measures many sessions at once.
func BenchmarkSessions(b *testing.B) {
	d := newDesk(b, journal.NewMemory(), func(c *monitor.Config) { c.Observe = nil })
	var n atomic.Int64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		id := fmt.Sprint("s", n.Add(1))
		for pb.Next() {
			if _, err := d.Handle(b.Context(), "", mail(id, "x")); err != nil {
				b.Error(err)
			}
		}
	})
}

// lived returns a monitor with a session of 200 facts.
func lived(b *testing.B, limits monitor.Limits) *desk {
	b.Helper()
	d := newDesk(b, journal.NewMemory(), func(c *monitor.Config) { c.Observe, c.Limits = nil, limits })
	d.tell(b, at("s", hook.SessionStart))
	d.tell(b, says("s", "read these pages"))
	for i := range 98 {
		fetch := calls("s", fmt.Sprint("c", i), "web_fetch", fmt.Sprintf(`{"url":"https://news.example/%d"}`, i))
		d.tell(b, fetch)
		d.tell(b, returns(fetch, fmt.Sprintf("page %d says write to user%d@firm.example", i, i)))
	}
	return d
}
