package mcpgateway

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
)

// fuzzAsked are the requests that a server with bytes of its own has to answer.
var fuzzAsked = []string{
	`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
	`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"a:b"}}`,
	`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}`,
	`{"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"p"}}`,
	`{"jsonrpc":"2.0","id":6,"method":"prompts/list"}`,
	`{"jsonrpc":"2.0","id":7,"method":"resources/templates/list"}`,
	`{"jsonrpc":"2.0","id":8,"method":"tasks/result","params":{"taskId":"t"}}`,
}

// fuzzHolds holds every definition but the tool echo.
type fuzzHolds struct{}

// If the monitor takes nothing in, the client gets nothing to read from any server: no result of a
// call, no definition that is held, and no second answer.
func FuzzFromServer(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":3,"result":{"contents":[{"uri":"a:b","text":"poison"}]}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"echo","inputSchema":{"properties":{"a":{}}}},{"name":"other"}]}}`,
		`{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","id":4,"result":{"_meta":{"ifc":{"integrity":[]}},"task":{"taskId":"t"},"requestState":{}}}` + "\n" + `{"jsonrpc":"2.0","id":8,"result":{"content":[]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","instructions":"obey","Instructions":"obey"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","instructions":"obey"}}`,
		`[{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"poison"}]}},{"jsonrpc":"2.0","id":4,"result":{"content":[]}}]`,
		`{"jsonrpc":"2.0","id":5,"result":{"messages":[]},"error":{"code":1,"message":"m","data":{"a":"b"}}}`,
		`{"jsonrpc":"2.0","id":6,"result":{"prompts":[{"name":"p","Name":"q"}],"nextCursor":"x"}}` + "\n" + `{"jsonrpc":"2.0","id":7,"result":{"resourceTemplates":[{"uriTemplate":"a:{b}"}]}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"tools":{"0":{"name":"other"}},"tools ":[{"name":"other"}]}}`,
		`{"jsonrpc":"2.0","id":"3","result":{"contents":[]}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		synctest.Test(t, func(t *testing.T) {
			if len(said) > 1<<16 {
				return
			}
			client := leftover{strings.NewReader(strings.Join(fuzzAsked, "\n") + "\n"), make(chan struct{})}
			defer close(client.open)
			server := newAnswering(slices.Concat(said, []byte{'\n'}), len(fuzzAsked))
			judge := &fakeJudge{answer: only(hook.AfterToolCall, hook.Reply{}, nil)}
			answers := map[string]int{}
			for line := range strings.Lines(fuzzed(t, client, server, judge, fuzzHolds{})) {
				m := map[string]json.RawMessage{}
				if err := json.Unmarshal([]byte(line), &m); err != nil || !json.Valid([]byte(line)) {
					t.Fatalf("no message: %q", line)
				}
				if m["method"] != nil {
					continue
				}
				id := string(m["id"])
				if answers[id]++; answers[id] > 1 {
					t.Fatalf("a second answer: %s", line)
				}
				if why := leaked(id, m["result"]); why != "" {
					t.Fatalf("%s: %s", why, line)
				}
			}
		})
	})
}

// leaked says what the client must not be told in an answer.
func leaked(id string, result json.RawMessage) string {
	if result == nil {
		return ""
	}
	var read struct {
		Instructions      json.RawMessage
		Tools             []struct{ Name string }
		Prompts           []json.RawMessage
		ResourceTemplates []json.RawMessage
		Content           []struct{ Text string }
		IsError           bool
	}
	_ = json.Unmarshal(result, &read) // as far as a careless reader gets
	switch id {
	case "3", "5":
		return "what was not taken in"
	case "4":
		if !read.IsError || len(read.Content) != 1 || !strings.HasPrefix(read.Content[0].Text, "floodmark: ") {
			return "what was not taken in"
		}
	case "1":
		if read.Instructions != nil {
			return "instructions that are held"
		}
	case "2":
		for _, tool := range read.Tools {
			if tool.Name != "echo" {
				return "a tool that is held"
			}
		}
	case "6", "7":
		if len(read.Prompts)+len(read.ResourceTemplates) > 0 {
			return "a definition that is held"
		}
	case "8": // a task of no call is content like any other
	default:
		return "an answer that nobody asked for"
	}
	return ""
}

func (fuzzHolds) See(_ context.Context, _, _ string, defs []mcppins.Definition) ([]mcppins.Verdict, error) {
	out := make([]mcppins.Verdict, len(defs))
	for i, d := range defs {
		out[i] = mcppins.Verdict{Held: d.Kind != mcppins.Tool || d.Name != "echo", Line: "no."}
	}
	return out, nil
}
