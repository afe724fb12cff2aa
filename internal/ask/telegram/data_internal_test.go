package telegram

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/approval"
)

func TestButtons(t *testing.T) {
	key := []byte("key")
	q := approval.Question{Offers: []approval.Offer{{Words: "this call, once"}, {Words: "all", Pattern: "p"}}}
	list := choicesOf(approval.Ticket{ID: "t-1", Session: "s", Calls: 1}, []approval.Question{q})
	seen := map[string]bool{}
	for i, c := range list {
		data := seal(key, "abcd", kindQuestion, "t-1", c.bound)
		if len(data) > maxDataBytes || seen[data] {
			t.Errorf("button %d: %d bytes, twice: %v", i, len(data), seen[data])
		}
		seen[data] = true
		s, ok := open(data)
		if !ok || s.tag != "abcd" || s.kind != kindQuestion || s.ticket != "t-1" {
			t.Fatalf("%q opens as %+v, %v", data, s, ok)
		}
		if got, ok := s.stands(key, list); !ok || got.cmd != c.cmd {
			t.Errorf("%q stands for %+v, %v", data, got.cmd, ok)
		}
		// If any bit is changed, the data matches no choice, or belongs to another question.
		for at := range len(data) {
			b := []byte(data)
			b[at] ^= 1
			if s, ok := open(string(b)); ok && s.ticket == "t-1" && s.tag == "abcd" && s.kind == kindQuestion {
				if _, ok := s.stands(key, list); ok {
					t.Errorf("%q is accepted as %q", b, data)
				}
			}
		}
		if _, ok := s.stands([]byte("another"), list); ok {
			t.Error("another key proves it")
		}
	}
	for name, change := range map[string]func(*approval.Ticket, *approval.Question){
		"another session": func(t *approval.Ticket, _ *approval.Question) { t.Session = "x" },
		"another call":    func(_ *approval.Ticket, q *approval.Question) { q.Action.ArgsDigest[0] = 1 },
		"another tool":    func(_ *approval.Ticket, q *approval.Question) { q.Action.Tool.Name = "x" },
		"another server":  func(_ *approval.Ticket, q *approval.Question) { q.Action.Tool.Server = "x" },
		"a wider offer": func(_ *approval.Ticket, q *approval.Question) {
			q.Offers = []approval.Offer{q.Offers[0], {Words: "all", Pattern: "*"}}
		},
		"a longer one": func(_ *approval.Ticket, q *approval.Question) {
			q.Offers = []approval.Offer{q.Offers[0], {Words: "all", Pattern: "p", For: 1}}
		},
		"offers in a circle": func(_ *approval.Ticket, q *approval.Question) { q.Offers = []approval.Offer{q.Offers[1], q.Offers[0]} },
	} {
		ticket, q2 := approval.Ticket{ID: "t-1", Session: "s", Calls: 1}, q
		change(&ticket, &q2)
		s, _ := open(seal(key, "abcd", kindQuestion, "t-1", list[2].bound))
		if got, ok := s.stands(key, choicesOf(ticket, []approval.Question{q2})); ok {
			t.Errorf("%s: the old button stands for %+v", name, got.cmd)
		}
	}
}

// FuzzUpdates reads what Telegram, or an attacker in its place, sends.
func FuzzUpdates(f *testing.F) {
	f.Add([]byte(`{"ok":true,"result":[{"update_id":1,"callback_query":{"id":"a","from":{"id":7},"message":{"message_id":3,"chat":{"id":7}},"data":"f1abcdqt-1.AAAAAAAAAAAAAAAA"}}]}`))
	f.Add([]byte(`{"ok":true,"result":[null,[],"x",{"update_id":-1},{"update_id":"1"},{"update_id":2,"callback_query":[]}]}`))
	f.Add([]byte(`{"ok":false,"error_code":429,"parameters":{"retry_after":1e99}}`))
	f.Add([]byte(strings.Repeat("[", 20000)))
	c := &Client{token: "1:a"}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, status := range []int{200, 302, 400, 429, 500} {
			var list rawList
			err := c.read("getUpdates", status, data, &list)
			if (err == nil) && status != 200 {
				t.Errorf("status %d is an answer", status)
			}
			if err != nil {
				continue
			}
			last := int64(0)
			for _, u := range readUpdates(list) {
				if u.ID <= last {
					t.Errorf("update %d after %d", u.ID, last)
				}
				last = u.ID
				if u.Press == nil {
					continue
				}
				if s, ok := open(u.Press.Data); ok && (len(s.ticket) > maxTicketBytes || s.ticket == "" || len(u.Press.Data) > maxDataBytes) {
					t.Errorf("%q opens as %+v", u.Press.Data, s)
				}
				if (Audience{Chat: 1, Users: []int64{1}}).may(*u.Press) && (u.Press.From.ID != 1 || u.Press.Message.Chat.ID != 1) {
					t.Errorf("%+v may answer", u.Press)
				}
			}
		}
	})
}

type rawList = []json.RawMessage
