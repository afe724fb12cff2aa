package mcpgateway

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark/internal/mcp/mcpstdio"
)

// Ids that a float cannot hold pass as they are, and are told apart.
func TestLargeIDsPassUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		ids := []string{"9007199254740993", "9007199254740992", "9007199254740994", "-9007199254740993", "18446744073709551615", "1.5", "1.25", "1e30", "7", `"9007199254740993"`, strings.Repeat("9", mcpstdio.MaxIDNumber)}
		for _, id := range ids {
			s.client.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
			if got := s.server.hear(); !strings.Contains(got, `"id":`+id+`,`) {
				t.Errorf("the server heard %s", got)
			}
		}
		for _, id := range ids {
			s.server.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
			if got := s.client.hear(); !strings.Contains(got, `"id":`+id+`,`) {
				t.Errorf("the client heard %s", got)
			}
		}
		s.server.say(`{"jsonrpc":"2.0","id":9007199254740995,"method":"roots/list"}`)
		s.client.hear()
		s.client.say(`{"jsonrpc":"2.0","id":9007199254740995,"result":{"roots":[]}}`)
		if got := s.server.hear(); !strings.Contains(got, `"id":9007199254740995,`) {
			t.Errorf("the server heard %s", got)
		}
	})
}

// A call with such an id is taken back by it.
func TestALargeIDIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.client.say(`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`)
		s.server.hear()
		s.client.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}`)
		s.server.hear()
		s.server.say(`{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`)
		s.client.silent()
	})
}

// A text that would be taken for a number is refused, and so is a number without end.
func TestOddIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		for _, id := range []string{`"\u0000number 5"`, strings.Repeat("9", mcpstdio.MaxIDNumber+1), `{"a":1}`, `[1]`, `true`} {
			s.client.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
			s.server.silent()
		}
	})
}
