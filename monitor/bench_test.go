package monitor_test

import (
	"fmt"
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
			d := newDesk(b, journal.NewMemory(), func(c *monitor.Config) { c.Observe = nil })
			d.tell(b, at("s", hook.SessionStart))
			d.tell(b, says("s", "read these pages"))
			for i := range 66 {
				fetch := calls("s", fmt.Sprint("c", i), "web_fetch", fmt.Sprintf(`{"url":"https://news.example/%d"}`, i))
				d.tell(b, fetch)
				d.tell(b, returns(fetch, fmt.Sprintf("page %d says write to user%d@firm.example", i, i)))
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Handle(b.Context(), "", ev); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
