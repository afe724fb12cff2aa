package mcpgateway

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/format/strictjson"
)

// The limits on what is said, in bytes. A refusal is one line that a model reads.
const (
	maxReason = 2000
	maxNote   = 300
	maxQuoted = 100
)

// The codes of our own errors, in the range that JSON-RPC leaves to servers.
const (
	codeRefused = -32050 // the monitor says no
	codeGone    = -32051 // the server has ended
)

const noAnswer = "the monitor did not answer, so nothing is allowed. Ask the owner to run «floodmark status», and go on without this."

var errNotBegun = errors.New("the session was not begun")

// refusal returns the line for a reply that does not allow the request. The line never contains a
// question's code, because a reply has none.
func refusal(r hook.Reply, err error) string {
	line := r.Told()
	switch elsewhere := r.Elsewhere(); {
	case err == nil && elsewhere != nil:
		line = "refused because " + elsewhere.Error() + "."
	case line != "":
	case err != nil:
		line = noAnswer
	case r.Decision.Verdict == floodmark.Allow && len(r.Decision.Verifiers) > 0:
		line = "refused because these must agree first and were not asked: " + strings.Join(r.Decision.Verifiers, ", ") + "."
	case len(r.Decision.Reasons) > 0:
		line = "refused because " + r.Decision.Reasons[0].Text + "."
	default:
		line = "refused."
	}
	if todo := r.Decision.Remedy.Agent; todo != "" && err == nil {
		line += " " + todo
	}
	return "floodmark: " + floodmark.OneLine(line, maxReason)
}

// toolError returns a refusal in the form of a tool's result, which models read.
func toolError(line string) json.RawMessage {
	return strictjson.Object([]strictjson.Member{
		{Key: "content", Value: append(append(json.RawMessage(`[{"type":"text","text":`), strictjson.Quote(line)...), `}]`...)},
		{Key: "isError", Value: json.RawMessage("true")},
	})
}

func rpcError(code int64, line string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: line}
}
