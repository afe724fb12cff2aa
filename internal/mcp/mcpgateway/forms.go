package mcpgateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/format/strictjson"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
)

// A server can ask the person at the client, by a form or by an address to open. The person must
// see which server asks, and all of the question.

// maxForm is how deep a form may be nested.
const maxForm = 32

// asksPerson returns a question of the server with the server's name added and hidden characters
// made visible. Values that the client returns to the server must not be changed, so a question with
// hidden characters in such a value is refused.
func (r *relay) asksPerson(params json.RawMessage) (json.RawMessage, error) {
	list, err := strictjson.Members(params)
	if err == nil {
		err = strictjson.CheckDistinct(list, []string{"mode", "message", "requestedSchema", "url", "elicitationId", "_meta", "task"})
	}
	if err == nil {
		list, err = seenForm(list)
	}
	who := "The server “" + floodmark.OneLine(mcppins.Visible(r.o.Server), maxQuoted) + "” asks"
	if v := strictjson.Value(list, "url"); err == nil && v != nil {
		var host string
		if host, err = opens(v); err == nil {
			who += " you to open " + host
		}
	}
	if err != nil {
		return nil, denied("floodmark: the question is kept back: " + floodmark.OneLine(err.Error(), maxNote) + ".")
	}
	said, _ := strictjson.Text(strictjson.Value(list, "message"))
	return strictjson.Object(strictjson.With(list, "message", strictjson.Quote(who+": "+said))), nil
}

// opens returns the host of an address that a person is to open.
func opens(v json.RawMessage) (string, error) {
	address, err := strictjson.Text(v)
	if err != nil {
		return "", fmt.Errorf("its address: %w", err)
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", errors.New("its address is none of the web")
	case u.User != nil:
		return "", errors.New("its address has a name before the host")
	}
	return u.Host, nil
}

// seenForm makes hidden characters visible in the texts for people, and refuses them elsewhere.
func seenForm(list []strictjson.Member) ([]strictjson.Member, error) {
	out := slices.Clone(list)
	for i, m := range out {
		if m.Key == "_meta" {
			continue // programs read it
		}
		v, err := seenMember(m, 0)
		if err != nil {
			return nil, err
		}
		out[i].Value = v
	}
	return out, nil
}

func seenMember(m strictjson.Member, depth int) (json.RawMessage, error) {
	if mcppins.Hides(m.Key) {
		return nil, errors.New("a name in it holds what a reader does not see")
	}
	return seenValue(m.Value, slices.Contains([]string{"message", "title", "description", "enumNames"}, m.Key), depth)
}

// seenValue makes hidden characters in a value visible if read, which means that the value is a
// text for people. Otherwise it refuses a value with hidden characters.
func seenValue(v json.RawMessage, read bool, depth int) (json.RawMessage, error) {
	if depth > maxForm {
		return nil, fmt.Errorf("it is nested more than %d deep", maxForm)
	}
	if list, ok := strictjson.Array(v); ok {
		for i, each := range list {
			seen, err := seenValue(each, read, depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = seen
		}
		return json.Marshal(list)
	}
	if list, err := strictjson.Members(v); err == nil {
		if err := strictjson.CheckDistinct(list, nil); err != nil {
			return nil, err
		}
		for i, m := range list {
			if list[i].Value, err = seenMember(m, depth+1); err != nil {
				return nil, err
			}
		}
		return strictjson.Object(list), nil
	}
	said, err := strictjson.Text(v)
	switch {
	case err != nil || !mcppins.Hides(said):
		return v, nil //nolint:nilerr // a number hides nothing
	case read:
		return strictjson.Quote(mcppins.Visible(said)), nil
	}
	return nil, errors.New("a value in it holds what a reader does not see")
}

// wantsMore applies asksPerson to the questions in a result by which the server asks for more before
// it makes the call.
func (r *relay) wantsMore(list []strictjson.Member) ([]strictjson.Member, error) {
	v := strictjson.Value(list, "inputRequests")
	if strictjson.IsNull(v) {
		return list, nil
	}
	asked, err := strictjson.Members(v)
	if err == nil {
		err = strictjson.CheckDistinct(asked, nil)
	}
	for i := 0; err == nil && i < len(asked); i++ {
		var one []strictjson.Member
		if one, err = strictjson.Members(asked[i].Value); err != nil {
			break
		}
		if err = strictjson.CheckDistinct(one, []string{"method", "params"}); err != nil {
			break
		}
		if method, _ := strictjson.Text(strictjson.Value(one, "method")); method != elicit {
			continue
		}
		var params json.RawMessage
		if params, err = r.asksPerson(strictjson.Value(one, "params")); err == nil {
			asked[i].Value = strictjson.Object(strictjson.With(one, "params", params))
		}
	}
	if err != nil {
		return nil, notShown(err)
	}
	return strictjson.With(list, "inputRequests", strictjson.Object(asked)), nil
}

// codeOpenFirst is the code of the error by which a server wants addresses opened before a call.
const codeOpenFirst = -32042

// wantsFirst applies asksPerson to the questions in an error with codeOpenFirst.
func (r *relay) wantsFirst(m *jsonrpc.Response) error {
	wire, ok := errors.AsType[*jsonrpc.Error](m.Error)
	if !ok || wire.Code != codeOpenFirst {
		return nil
	}
	list, err := strictjson.Members(wire.Data)
	if err == nil {
		err = strictjson.CheckDistinct(list, []string{"elicitations"})
	}
	asked, ok := strictjson.Array(strictjson.Value(list, "elicitations"))
	if err == nil && !ok {
		err = errors.New("it is no list")
	}
	for i := 0; err == nil && i < len(asked); i++ {
		asked[i], err = r.asksPerson(asked[i])
	}
	if err != nil {
		return notShown(err)
	}
	all, err := json.Marshal(asked)
	if err != nil {
		return notShown(err)
	}
	changed := *wire
	changed.Data = strictjson.Object(strictjson.With(list, "elicitations", all))
	m.Error = &changed
	return nil
}

// notShown returns the refusal of an answer whose question cannot be shown.
func notShown(err error) error {
	if line, ok := errors.AsType[denied](err); ok {
		return line
	}
	return denied("floodmark: the server's question is kept back: " + floodmark.OneLine(err.Error(), maxNote) + ".")
}
