package hookframe_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"testing"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// say writes a frame, or bytes that are no frame.
func say(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	if _, err := conn.Write(frame); err != nil {
		t.Error(err)
	}
}

// hear reads a frame; empty if there are no more.
func hear(conn net.Conn) string {
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return ""
	}
	data := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(conn, data); err != nil {
		return ""
	}
	return string(data)
}

// beginShown asks a handler that shows a question. It returns the asker's end, what was answered
// there, and a channel that is closed when the handler's wait ended.
func beginShown(t *testing.T, shows bool) (conn net.Conn, said chan bool, gone chan struct{}) {
	t.Helper()
	near, far := net.Pipe()
	said, gone = make(chan bool, 2), make(chan struct{})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = hookframe.Serve(t.Context(), far, func(ctx context.Context, _ hookframe.Request) hookframe.Response {
			defer close(gone)
			waiting, _ := hookframe.Waiting(ctx)
			if hookframe.Shows(waiting) != shows {
				t.Errorf("it shows: %v", !shows)
			}
			hookframe.Show(waiting, "May it?", func(_ context.Context, no bool) { said <- no })
			hookframe.Still(waiting)
			<-waiting.Done()
			return hookframe.Refuse("nobody answered")
		})
	}()
	t.Cleanup(func() { _ = near.Close(); <-served })
	req := hookframe.Request{V: hookframe.Version, Agent: "pi", Event: "e", Raw: []byte(`{}`), DeadlineMS: 10_000, PersonMS: 60_000, Shows: shows}
	if err := hookframe.WriteRequest(near, req); err != nil {
		t.Fatal(err)
	}
	return near, said, gone
}

// Only an asker that shows questions gets one, and only one denial is read there. Any other message
// ends the wait, and so lets nothing run.
func TestOnlyANoIsHeardWhereAQuestionIsShown(t *testing.T) {
	for text, c := range map[string]struct{ told, no bool }{
		`{"v":1,"no":true}`:              {true, true},
		`{"v":1,"no":false}`:             {true, false},
		`{"v":1,"yes":true}`:             {true, false},
		`{"v":1,"no":true,"yes":true}`:   {true, false},
		`{"v":1,"no":true}{}`:            {true, false},
		`{"v":2,"no":true}`:              {true, false},
		`{"no":true}`:                    {true, false},
		`{"v":1,"stdout":"{}","exit":0}`: {true, false},
		`null`:                           {true, false},
		``:                               {true, false},
		string(make([]byte, 65)):         {false, false}, // larger than any denial
	} {
		conn, said, gone := beginShown(t, true)
		var f map[string]any
		if told := hear(conn); json.Unmarshal([]byte(told), &f) != nil || f["ask"] != "May it?" || f["still"] != true {
			t.Errorf("it is told %q", told)
		}
		go func() { // an oversized message is not read to its end
			frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
			_, _ = conn.Write(frame)
		}()
		if c.told {
			if no := <-said; no != c.no {
				t.Errorf("%q is a no: %v", text, no)
			}
		}
		if c.no { // a second denial is ignored
			say(t, conn, text)
		}
		<-gone
		if len(said) > 0 {
			t.Errorf("%q was heard twice", text)
		}
	}
}

// An asker that shows no questions gets none, and any message from it means that it is gone.
func TestWhoShowsNothingSaysNothing(t *testing.T) {
	conn, said, gone := beginShown(t, false)
	if told := hear(conn); told != `{"v":1,"still":true}` {
		t.Errorf("it is told %q", told)
	}
	go func() { _, _ = conn.Write([]byte{0}) }()
	<-gone
	if len(said) > 0 {
		t.Error("it was heard")
	}
}
