package mcpshare

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcp/mcpline"
)

// For any messages of two clients and a server, nothing panics, and no client gets an answer to a
// call that it has not made, or a message with another client's text.
func FuzzShared(f *testing.F) {
	f.Add([]byte("a" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":1}}}` + "\nb" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\ns" + `{"jsonrpc":"2.0","id":2,"result":{"task":{"taskId":"t"}}}`))
	f.Add([]byte("a" + `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x"}}` + "\ns" + `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x"}}` + "\ns" + `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"elicitationId":"e"}}`))
	f.Add([]byte("b" + `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}` + "\ns" + `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error"}}` + "\nb" + `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := New(Options{Name: "box"})
		l := &line{
			Line: mcpline.New(nil, maxServerQueue), h: h, ports: map[*port]bool{}, sent: map[jsonrpc.ID]*sent{}, tokens: map[string]*sent{},
			asked: map[jsonrpc.ID]*question{}, heard: map[string]map[*port]bool{}, tasks: map[string]*task{}, forms: map[string]*port{}, ghosts: map[*port]time.Time{},
		}
		h.line = l
		ports := map[byte]*port{'a': l.join(), 'b': l.join()}
		open := map[byte]map[jsonrpc.ID]int{'a': {}, 'b': {}}
		for said := range bytes.SplitSeq(data, []byte("\n")) {
			if len(said) < 2 {
				continue
			}
			m, err := jsonrpc.DecodeMessage(said[1:])
			if err != nil {
				continue
			}
			if p := ports[said[0]]; p != nil {
				if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
					open[said[0]][r.ID]++
				}
				_ = p.Write(t.Context(), m)
			} else {
				l.got(m)
			}
			for who, p := range ports {
				for len(p.in) > 0 {
					if r, ok := (<-p.in).(*jsonrpc.Response); ok {
						if open[who][r.ID]--; open[who][r.ID] < 0 {
							t.Fatalf("%c got an answer to %v that it did not ask for", who, r.ID.Raw())
						}
					}
				}
			}
			for msg, more := l.Take(); more; msg, more = l.Take() {
				if r, ok := msg.(*jsonrpc.Request); ok && strings.Count(string(r.Params), `"progressToken"`) > 1 && !strings.Contains(string(said), `\u`) && strings.Count(string(said), `"progressToken"`) < 2 {
					t.Fatalf("two tokens: %s", r.Params)
				}
			}
		}
		for _, p := range ports {
			_ = p.Close()
		}
		if len(l.ports)+len(l.heard)+len(l.tasks)+len(l.forms)+len(l.asked)+len(l.sent)-unheard(l) != 0 {
			t.Fatalf("something is left: %d, %d, %d, %d, %d, %d", len(l.ports), len(l.heard), len(l.tasks), len(l.forms), len(l.asked), len(l.sent))
		}
	})
}

// unheard counts our own calls whose answers are dropped.
func unheard(l *line) (n int) {
	for _, s := range l.sent {
		if s.answered != nil {
			n++
		}
	}
	return n
}
