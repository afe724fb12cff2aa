package guard

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// Tool wraps a tool. Each call is decided, then made, and then its result is recorded as a source.
// The error is a [Denied] if the tool did not run, a [Withheld] if its result must not be used, and
// otherwise the tool's own.
//
// The monitor judges the JSON of the arguments, and the tool gets arguments decoded from that same
// JSON, so that nothing else can slip through. A string result is recorded as it is, any other as
// JSON.
func Tool[In, Out any](s *Session, name string, run func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (out Out, err error) {
		var none Out
		args, err := compact(in)
		if err != nil {
			return none, &Denied{Line: name + " was not called: its arguments cannot be written as JSON.", Err: err}
		}
		var judged In
		if err := json.Unmarshal(args, &judged); err != nil {
			return none, &Denied{Line: name + " was not called: its arguments cannot be read back from JSON.", Err: err}
		}
		_, err = s.Run(ctx, hook.Call{Name: name, Args: args}, func(ctx context.Context) (string, error) {
			if out, err = run(ctx, judged); err != nil {
				return "", err
			}
			return text(out)
		})
		if err != nil {
			return none, err
		}
		return out, nil
	}
}

// Run is [Tool] for one call of any tool: it decides, runs the tool, and records the result. It
// suits frameworks and servers' tools, whose arguments are JSON already. A call without an ID gets
// one.
func (s *Session) Run(ctx context.Context, call hook.Call, run func(context.Context) (string, error)) (string, error) {
	if s == nil {
		return "", &Denied{Line: "no session was started for this call, so it is not allowed."}
	}
	if call.ID == "" {
		call.ID = floodmark.CallID(rand.Text())
	}
	if err := s.decide(ctx, call); err != nil {
		return "", err
	}
	result, err := run(ctx)
	took := hook.Result{Text: result}
	if err != nil {
		took = hook.Result{Text: err.Error(), Error: true}
	}
	// The monitor must get the result even if the caller has gone.
	_, unknown := s.ask(context.WithoutCancel(ctx), hook.Event{Point: hook.AfterToolCall, Call: call, Result: took})
	if unknown != nil {
		w := &Withheld{Tool: call.Name, Err: unknown}
		s.refused.add(w.Error())
		return "", w
	}
	return result, err
}

// decide asks whether a call may be made, and asks once more after a person's approval.
func (s *Session) decide(ctx context.Context, call hook.Call) error {
	ev := hook.Event{Point: hook.BeforeToolCall, Call: call}
	_, err := s.ask(ctx, ev)
	no, refused := errors.AsType[*Denied](err)
	waiter, can := s.judge.(Waiter)
	if !refused || !can || s.opts.Wait <= 0 || no.Ticket == "" {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, s.opts.Wait)
	defer cancel()
	if verdict, failed := waiter.Await(waiting, s.opts.Session, no.Ticket); failed != nil || verdict != floodmark.Allow {
		return err
	}
	_, err = s.ask(ctx, ev)
	return err
}

// text returns a result in the form in which the monitor records it.
func text(out any) (string, error) {
	if s, ok := out.(string); ok {
		return s, nil
	}
	data, err := compact(out)
	if err != nil {
		return "", fmt.Errorf("write the result as JSON: %w", err)
	}
	return string(data), nil
}

// compact returns JSON without escapes for HTML, which would hide addresses.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}
