package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// FromEvent puts an event on the wire. Bytes that are not UTF-8 are replaced, as in JSON.
func FromEvent(ev hook.Event) *Event {
	e := &Event{
		Point: string(ev.Point), Agent: text(ev.Agent), Session: text(string(ev.Session)),
		Cause: text(string(ev.Cause)), ByPerson: ev.ByPerson, Project: text(ev.Project), Home: text(ev.Home),
		Text: text(ev.Text), Typed: ev.Typed,
		Parts: list(ev.Parts, fromContent), Sources: list(ev.Sources, fromContent), Messages: list(ev.Messages, fromContent),
		Tools: list(ev.Tools, fromTool), Iteration: number(ev.Iteration), Calls: list(ev.Calls, fromCall),
		Audience: text(string(ev.Audience)), Child: text(string(ev.Child)),
		Gateway: ev.Gateway, Retry: ev.Retry, More: ev.More,
		Shared: text(ev.Shared), Given: ev.Given, Claims: text(string(ev.Claims)),
		SystemPrompt: text(ev.SystemPrompt), Model: text(ev.Model), TokenEstimate: number(ev.TokenEstimate), LatencyMs: number(ev.LatencyMs),
		PendingToolResults: number(ev.PendingToolResults), MessageCount: number(ev.MessageCount),
		ToolCallsMade: number(ev.ToolCallsMade), NewMessagesAdded: number(ev.NewMessagesAdded), WillContinue: ev.WillContinue,
		SessionKey: text(ev.SessionKey), Channel: text(ev.Channel),
	}
	if u := ev.TokenUsage; u != (floodmark.TokenUsage{}) {
		e.TokenUsage = &TokenUsage{Input: number(u.Input), Output: number(u.Output)}
	}
	if ev.Caller != (hook.Process{}) {
		e.Caller = &Process{Pid: number(ev.Caller.PID), Start: ev.Caller.Start}
	}
	if !ev.Origin.IsZero() {
		e.Origin = FromOrigin(ev.Origin)
	}
	if !ev.Call.IsZero() {
		e.Call = fromCall(ev.Call)
	}
	if ev.Result != (hook.Result{}) {
		e.Result = &Result{Text: text(ev.Result.Text), Digest: digest(ev.Result.Digest), Error: ev.Result.Error}
	}
	if w := ev.Window; w != nil {
		e.Window = &Window{Client: text(w.Client), Ticket: text(string(w.Ticket)), Answer: text(w.Answer), Picked: text(w.Picked)}
	}
	return e
}

// Hook converts an event from the wire. It does not check limits and words; [hook.Event.Check]
// does.
func (x *Event) Hook() (hook.Event, error) {
	ev := hook.Event{
		Point: hook.Point(x.GetPoint()), Agent: x.GetAgent(), Session: floodmark.SessionID(x.GetSession()),
		Cause: hook.Cause(x.GetCause()), ByPerson: x.GetByPerson(), Project: x.GetProject(), Home: x.GetHome(),
		Origin: ToOrigin(x.GetOrigin()), Text: x.GetText(), Typed: x.GetTyped(),
		Tools: list(x.GetTools(), toTool), Iteration: int(x.GetIteration()),
		Calls: list(x.GetCalls(), toCall), Call: toCall(x.GetCall()),
		Audience: hook.Audience(x.GetAudience()), Child: floodmark.SessionID(x.GetChild()),
		Gateway: x.GetGateway(), Retry: x.GetRetry(), More: x.GetMore(),
		Shared: x.GetShared(), Given: x.GetGiven(), Claims: floodmark.SessionID(x.GetClaims()),
		Caller:       hook.Process{PID: int(x.GetCaller().GetPid()), Start: x.GetCaller().GetStart()},
		SystemPrompt: x.GetSystemPrompt(), Loop: x.loop(),
	}
	if w := x.GetWindow(); w != nil {
		ev.Window = &hook.Window{Client: w.GetClient(), Ticket: floodmark.TicketID(w.GetTicket()), Answer: w.GetAnswer(), Picked: w.GetPicked()}
	}
	var err error
	if ev.Parts, err = contents("parts", x.GetParts()); err != nil {
		return hook.Event{}, err
	}
	if ev.Sources, err = contents("sources", x.GetSources()); err != nil {
		return hook.Event{}, err
	}
	if ev.Messages, err = contents("messages", x.GetMessages()); err != nil {
		return hook.Event{}, err
	}
	ev.Result = hook.Result{Text: x.GetResult().GetText(), Error: x.GetResult().GetError()}
	if ev.Result.Digest, err = toDigest(x.GetResult().GetDigest()); err != nil {
		return hook.Event{}, fmt.Errorf("read event: result: %w", err)
	}
	return ev, nil
}

func (x *Event) loop() floodmark.Loop {
	return floodmark.Loop{
		Model: x.GetModel(), TokenEstimate: int(x.GetTokenEstimate()), LatencyMs: int(x.GetLatencyMs()),
		TokenUsage:         floodmark.TokenUsage{Input: int(x.GetTokenUsage().GetInput()), Output: int(x.GetTokenUsage().GetOutput())},
		PendingToolResults: int(x.GetPendingToolResults()), MessageCount: int(x.GetMessageCount()),
		ToolCallsMade: int(x.GetToolCallsMade()), NewMessagesAdded: int(x.GetNewMessagesAdded()), WillContinue: x.GetWillContinue(),
		SessionKey: x.GetSessionKey(), Channel: x.GetChannel(),
	}
}

func fromContent(c hook.Content) *Content {
	w := &Content{Kind: text(string(c.Kind)), Text: text(c.Text), Digest: digest(c.Digest), Trust: text(c.Trust)}
	if !c.Origin.IsZero() {
		w.Origin = FromOrigin(c.Origin)
	}
	return w
}

func contents(field string, ws []*Content) ([]hook.Content, error) {
	if len(ws) == 0 {
		return nil, nil
	}
	all := make([]hook.Content, len(ws))
	for i, w := range ws {
		d, err := toDigest(w.GetDigest())
		if err != nil {
			return nil, fmt.Errorf("read event: %s[%d]: %w", field, i, err)
		}
		all[i] = hook.Content{
			Kind: floodmark.NodeKind(w.GetKind()), Origin: ToOrigin(w.GetOrigin()), Text: w.GetText(), Digest: d, Trust: w.GetTrust(),
		}
	}
	return all, nil
}

func fromTool(t hook.Tool) *Tool {
	return &Tool{Server: text(t.Server), Name: text(t.Name), Hints: fromHints(t.Hints)}
}

func toTool(w *Tool) hook.Tool {
	return hook.Tool{Server: w.GetServer(), Name: w.GetName(), Hints: toHints(w.GetHints())}
}

func fromHints(h *hook.Hints) *Hints {
	if h == nil {
		return nil
	}
	return &Hints{
		ReadOnly: h.ReadOnly, Destructive: h.Destructive, OpenWorld: h.OpenWorld,
		Trust: text(h.Trust), Secrecy: text(h.Secrecy),
	}
}

func toHints(w *Hints) *hook.Hints {
	if w == nil {
		return nil
	}
	return &hook.Hints{
		ReadOnly: w.ReadOnly, Destructive: w.Destructive, OpenWorld: w.OpenWorld,
		Trust: w.GetTrust(), Secrecy: w.GetSecrecy(),
	}
}

func fromCall(c hook.Call) *Call {
	return &Call{
		Id: text(string(c.ID)), Server: text(c.Server), Name: text(c.Name), Args: text(string(c.Args)), Hints: fromHints(c.Hints),
	}
}

func toCall(w *Call) hook.Call {
	c := hook.Call{ID: floodmark.CallID(w.GetId()), Server: w.GetServer(), Name: w.GetName(), Hints: toHints(w.GetHints())}
	if w.GetArgs() != "" {
		c.Args = json.RawMessage(w.GetArgs())
	}
	return c
}

// list converts each element. It returns nil for an empty list, as decoding does.
func list[A, B any](all []A, turn func(A) B) []B {
	if len(all) == 0 {
		return nil
	}
	turned := make([]B, len(all))
	for i, a := range all {
		turned[i] = turn(a)
	}
	return turned
}

// text returns s as UTF-8, with U+FFFD for invalid bytes, as in JSON. Otherwise protobuf would
// refuse the whole message.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// number converts n, and caps a value that does not fit. Our counts are far smaller.
func number[N ~int](n N) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

func digest(d floodmark.Digest) string {
	if d.IsZero() {
		return ""
	}
	return d.String()
}

func toDigest(s string) (d floodmark.Digest, err error) {
	if s == "" {
		return d, nil
	}
	err = d.UnmarshalText([]byte(s))
	return d, err
}
