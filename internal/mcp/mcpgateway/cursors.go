package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/format/strictjson"
)

// A list continues from the cursor that the server gave. Some clients let their model write the
// cursor, so a cursor that the server did not give is judged before the server gets it.

// lists reports whether a method asks for a list.
func lists(method string) bool {
	return slices.Contains([]string{listTools, listPrompts, listTemplates, listResources, "tasks/list"}, method)
}

// cursor remembers a cursor that the server gave.
func (k *known) cursor(v json.RawMessage) {
	at, err := strictjson.Text(v)
	if err != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.cursors) >= maxStates {
		k.cursors = k.cursors[1:]
	}
	k.cursors = append(k.cursors, floodmark.DigestOf(at))
}

func (k *known) isCursor(v json.RawMessage) bool {
	at, err := strictjson.Text(v)
	if err != nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Contains(k.cursors, floodmark.DigestOf(at))
}

// news returns the parameters of a request for a list whose values the server did not give.
func (r *relay) news(m *jsonrpc.Request) ([]strictjson.Member, error) {
	if !lists(m.Method) || len(m.Params) == 0 || strictjson.IsNull(m.Params) {
		return nil, nil
	}
	if !json.Valid(m.Params) || !utf8.Valid(m.Params) {
		return nil, errors.New("its parameters are not JSON")
	}
	list, err := strictjson.Members(m.Params)
	if err == nil {
		err = strictjson.CheckDistinct(list, []string{"cursor", "_meta"})
	}
	if err != nil {
		return nil, err
	}
	list = strictjson.Without(list, "_meta")
	if v := strictjson.Value(list, "cursor"); strictjson.IsNull(v) || r.known.isCursor(v) {
		list = strictjson.Without(list, "cursor")
	}
	return list, nil
}

// listFrom forwards a request for a list after what is new in it was judged.
func (r *relay) listFrom(ctx context.Context, m *jsonrpc.Request, news []strictjson.Member) {
	args := append([]strictjson.Member{{Key: "server", Value: strictjson.Quote(r.o.Server)}}, news...)
	c := &call{agent: Agent, call: hook.Call{ID: newID(), Name: asFrom, Args: strictjson.Object(args)}}
	err := strictjson.CheckDistinct(args, nil)
	if err == nil {
		err = r.decide(ctx, c)
	}
	if err == nil {
		r.lost(ctx, c, "sent")
		if err = r.forward(ctx, m); err != nil && !errors.Is(err, context.Canceled) {
			err = denied("floodmark: the server cannot be reached: " + floodmark.OneLine(err.Error(), maxNote))
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		r.refuse(ctx, m, err)
	}
}
