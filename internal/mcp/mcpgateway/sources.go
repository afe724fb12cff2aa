package mcpgateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// takeIn tells the monitor of content that came without a call. Nil means that the monitor has it.
func (r *relay) takeIn(ctx context.Context, list ...hook.Content) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), judgeTime)
	defer cancel()
	reply, err := r.o.Session.tell(ctx, r.about(hook.Event{Point: hook.ContextAssembled, Agent: Agent, Sources: list}))
	if err == nil && !reply.Allows() {
		err = errors.New(refusal(reply, nil))
	}
	if err != nil {
		r.o.Note("content was not taken in: " + floodmark.OneLine(err.Error(), maxNote))
		return err
	}
	r.o.Session.took(reply.Mark)
	return nil
}

// content returns text of the server under one of the gateway's tools in the catalog.
func content(tool string, raw ...json.RawMessage) hook.Content {
	words, whole := readable(raw...)
	c := hook.Content{Kind: floodmark.NodeToolResult, Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: tool}, Text: words}
	if !whole {
		c.Trust = floodmark.Untrusted.String()
	}
	return c
}

// tellDefinitions tells the monitor what the client was shown of the server.
func (r *relay) tellDefinitions(ctx context.Context) error {
	words := r.known.definitions()
	if words == "" {
		return nil
	}
	if len(words) > MaxText {
		words = strings.ToValidUTF8(words[:MaxText], "")
	}
	return r.takeInDefinition(ctx, words)
}

// takeInDefinition tells the monitor of the server's description of itself.
func (r *relay) takeInDefinition(ctx context.Context, words string) error {
	err := r.takeIn(ctx, hook.Content{
		Kind:   floodmark.NodeInput,
		Origin: floodmark.Origin{Kind: floodmark.FromDefinition, Name: "what the server says of itself", Server: r.o.Server},
		Text:   words,
	})
	if err != nil {
		return denied(refusal(hook.Reply{}, err))
	}
	return nil
}

// held refuses a call of a held definition. The line says why and may quote the server, for example
// the names of what changed, so the monitor takes it in before a model reads it.
func (r *relay) held(ctx context.Context, line string) error {
	if err := r.takeInDefinition(ctx, line); err != nil {
		return err
	}
	return denied(line)
}

// quoting refuses an answer of the server. The refusal may quote the answer, so the answer is taken
// in first.
func (r *relay) quoting(ctx context.Context, answer json.RawMessage, refused error) error {
	if err := r.takeIn(ctx, content(asOther, answer)); err != nil {
		return err
	}
	return refused
}

// readable returns all text in JSON values that could reach a model: every string and number, and
// the keys. It leaves out pictures and sounds, and reports whether the text is complete.
func readable(raw ...json.RawMessage) (string, bool) {
	var b strings.Builder
	for _, v := range raw {
		if len(v) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(v))
		d.UseNumber()
		for {
			t, err := d.Token()
			if err != nil {
				break
			}
			var s string
			switch t := t.(type) {
			case string:
				s = t
			case json.Number:
				s = t.String()
			default:
				continue
			}
			if s == "" || encoded(s) {
				continue
			}
			if b.Len()+len(s) > MaxText {
				return strings.ToValidUTF8(b.String(), "\uFFFD"), false
			}
			b.WriteString(s)
			b.WriteByte('\n')
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD"), true
}

// minEncoded is the length from which a run without a space is taken for bytes, not words: no
// address, path or token in real use is as long.
const minEncoded = 4096

// encoded reports whether a string is bytes in base64.
func encoded(s string) bool {
	if len(s) < minEncoded {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/', c == '=', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}
