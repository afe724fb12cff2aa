package telemetry

import (
	"encoding/json"
	"time"

	"github.com/floodmark/floodmark"
)

// A told is the part of a fact that may be shown. Its types have no fields for content, excerpts,
// texts, places or proofs of codes, so that none can be shown by mistake. Add no such field.
//
//sumtype:decl
type told interface {
	// agent returns the agent's name, or "" if the fact has none.
	agent() string
}

// A tool is a tool's name, bounded before it is shown.
type tool struct {
	Agent  string `json:"agent"`
	Server string `json:"server"`
	Name   string `json:"name"`
}

// A decided is an action and its decision.
type decided struct {
	Action struct {
		Kind    floodmark.ActionKind `json:"kind"`
		Call    string               `json:"call"`
		Tool    tool                 `json:"tool"`
		Effects []floodmark.Effect   `json:"effects"`
	} `json:"action"`
	Mark     floodmark.Label `json:"mark"`
	Trust    floodmark.Trust `json:"trust"`
	Decision struct {
		Verdict floodmark.Verdict `json:"verdict"`
		Reach   string            `json:"reach"` // "boxed", or empty
		Reasons []struct {
			Code floodmark.Code `json:"code"`
			Rule string         `json:"rule"`
		} `json:"reasons"`
		Would string `json:"would"`
	} `json:"decision"`
}

// The other reported facts.
type (
	opened  struct{ Agent string }
	closed  struct{}
	turn    struct{ open bool }
	answer  struct{} // of a model
	spawned struct {
		Child floodmark.SessionID `json:"child"`
	}
	announced struct {
		Node floodmark.NodeID `json:"node"`
		Call string           `json:"call"`
	}
	arrived struct {
		Node floodmark.NodeID `json:"node"`
	}
	incident struct {
		Kind string `json:"kind"`
		Call string `json:"call"`
		Tool tool   `json:"tool"`
	}
	asked struct {
		Ticket  floodmark.TicketID `json:"ticket"`
		Expires time.Time          `json:"expires"`
	}
	guessed struct{} // a wrong code
	replied struct {
		Ticket  floodmark.TicketID `json:"ticket"`
		Verdict floodmark.Verdict  `json:"verdict"`
	}
	granted struct {
		Ticket floodmark.TicketID `json:"ticket"`
	}
	used struct { // an approval
		Ticket floodmark.TicketID `json:"ticket"`
	}
	loop struct { // a model call, as the agent reports it
		Model string               `json:"model"`
		Usage floodmark.TokenUsage `json:"tokenUsage"`
	}
	opined struct { // an auditor
		Verdict floodmark.Verdict `json:"verdict"`
		Says    string            `json:"says"`
	}
	vouched struct {
		Digest floodmark.Digest `json:"digest"`
		back   bool             // whether it was withdrawn
	}
)

// word returns the decision in one word, as [floodmark.Decision.Word] does.
func (d *decided) word() string {
	reach := floodmark.Free // also if it is missing
	if d.Decision.Reach == floodmark.Boxed.String() {
		reach = floodmark.Boxed
	}
	return floodmark.Decision{Verdict: d.Decision.Verdict, Reach: reach}.Word()
}

func (d *decided) agent() string { return d.Action.Tool.Agent }
func (o *opened) agent() string  { return o.Agent }
func (*closed) agent() string    { return "" }
func (*turn) agent() string      { return "" }
func (*answer) agent() string    { return "" }
func (*spawned) agent() string   { return "" }
func (*announced) agent() string { return "" }
func (*arrived) agent() string   { return "" }
func (*incident) agent() string  { return "" }
func (*asked) agent() string     { return "" }
func (*guessed) agent() string   { return "" }
func (*replied) agent() string   { return "" }
func (*granted) agent() string   { return "" }
func (*used) agent() string      { return "" }
func (*loop) agent() string      { return "" }
func (*opined) agent() string    { return "" }
func (*vouched) agent() string   { return "" }

// readFact reads the part of a fact that may be shown. It returns nil if the kind is not reported.
func readFact(kind string, body []byte) (told, error) {
	var f told
	switch kind {
	case "action-decided":
		f = &decided{}
	case "session-opened":
		f = &opened{}
	case "session-closed":
		return &closed{}, nil
	case "turn-opened":
		return &turn{open: true}, nil
	case "turn-closed":
		return &turn{}, nil
	case "model-answered":
		return &answer{}, nil
	case "child-spawned":
		f = &spawned{}
	case "content-seen":
		f = &announced{}
	case "content-arrived":
		f = &arrived{}
	case "incident-seen":
		f = &incident{}
	case "ticket-opened":
		f = &asked{}
	case "ticket-refused":
		return &guessed{}, nil
	case "ticket-answered":
		f = &replied{}
	case "grant-given":
		f = &granted{}
	case "grant-used":
		f = &used{}
	case "loop-told":
		f = &loop{}
	case "opinion-given":
		f = &opined{}
	case "endorsed":
		f = &vouched{}
	case "withdrawn":
		f = &vouched{back: true}
	default:
		return nil, nil
	}
	if err := json.Unmarshal(body, f); err != nil {
		return nil, err
	}
	return f, nil
}

// effect returns the most guarded effect of a tool call, and the kind of any other action.
func (d *decided) effect() string {
	switch d.Action.Kind {
	case floodmark.CallTool:
	case floodmark.CallModel, floodmark.SendReply, floodmark.SpawnAgent:
		return string(d.Action.Kind)
	default:
		return other
	}
	least := floodmark.Observe
	if len(d.Action.Effects) == 0 {
		least = floodmark.Admin
	}
	for _, e := range d.Action.Effects {
		least = min(least, e)
	}
	return least.String()
}

// reason returns the code of the first reason, or "".
func (d *decided) reason() string {
	if len(d.Decision.Reasons) == 0 {
		return ""
	}
	return string(d.Decision.Reasons[0].Code)
}
