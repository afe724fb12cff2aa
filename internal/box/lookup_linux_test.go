package box

import (
	"fmt"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

func query(name string, change func(*dnsmessage.Message)) []byte {
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 7, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}},
	}
	if change != nil {
		change(&m)
	}
	data, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return data
}

func TestNoNameExists(t *testing.T) {
	name, reply := noSuchName(query("Git.Example.com.", nil))
	var m dnsmessage.Message
	if err := m.Unpack(reply); err != nil || name != "git.example.com" || m.ID != 7 || !m.Response || m.RCode != dnsmessage.RCodeNameError || len(m.Questions) != 1 {
		t.Errorf("%q, %+v, %v", name, m, err)
	}
	for _, bad := range [][]byte{
		nil, []byte("x"),
		query("a\x1b[31m.example.", nil), query("a\n.example.", nil), query("ä.example.", nil), query(".", nil),
		query("a.example.", func(m *dnsmessage.Message) { m.Response = true }),
		query("a.example.", func(m *dnsmessage.Message) { m.OpCode = 5 }),
		query("a.example.", func(m *dnsmessage.Message) { m.Questions = nil }),
	} {
		if name, reply := noSuchName(bad); reply != nil {
			t.Errorf("%q: %q is answered", bad, name)
		}
	}
	var l lookups
	for i := range 2 * maxLookups {
		l.note(fmt.Sprint("h", i/2))
	}
	l.note("one more")
	if n := len(l.list()); n != maxLookups {
		t.Errorf("%d names are kept", n)
	}
}

func FuzzNoSuchName(f *testing.F) {
	f.Add(query("git.example.com.", nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if name, reply := noSuchName(data); reply != nil && (!plainHost(name) || len(reply) > 2*maxQuery) {
			t.Errorf("%q, %d bytes", name, len(reply))
		}
	})
}
