// Package fleetcheck compares the answers that the clients of a fleet got with its journal, after
// the fact. It checks that, whatever nodes and databases failed, each session is one chain,
// everything acknowledged is in it, and every decision follows from the entries before it. It sends
// no requests and repairs nothing.
package fleetcheck

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// A Heard is one line of a client's log: an event and the answer that its agent got. All times are
// from one clock, the clients'.
type Heard struct {
	Session floodmark.SessionID `json:"session"`
	Point   hook.Point          `json:"point"`
	Call    floodmark.CallID    `json:"call,omitempty"`
	// Digest is the digest of the message, or of the result of a call.
	Digest floodmark.Digest `json:"digest,omitzero"`
	// Sent is when the first try began. Answered is when the agent got the answer.
	Sent     time.Time `json:"sent"`
	Answered time.Time `json:"answered"`
	// Node is the node that answered, if the client knows it. Tries is how many were asked.
	Node  string `json:"node,omitempty"`
	Tries int    `json:"tries,omitempty"`
	// Verdict is the answer that the agent got. Judged says that a node judged the event. If it did
	// not, the event may be in the journal or not.
	Verdict floodmark.Verdict `json:"verdict"`
	Judged  bool              `json:"judged"`
	// Why is the line that the agent got if the event was not judged.
	Why string `json:"why,omitempty"`
}

// Of returns the line for an event and its answer.
func Of(ev hook.Event, reply hook.Reply, err error) Heard {
	h := Heard{Session: ev.Session, Point: ev.Point, Call: ev.Call.ID, Verdict: reply.Decision.Verdict, Judged: err == nil && !Unjudged(reply)}
	if !h.Judged {
		h.Why = reply.Line[:min(len(reply.Line), maxWhy)]
	}
	switch ev.Point {
	case hook.MessageReceived:
		h.Digest = floodmark.DigestOf(ev.Text)
	case hook.AfterToolCall:
		h.Digest = ev.Result.ContentDigest()
	default:
	}
	return h
}

// Unjudged reports whether a reply refuses because nothing could be judged.
func Unjudged(r hook.Reply) bool {
	return r.Decision.Verdict == floodmark.Restrict && len(r.Decision.Reasons) > 0 && r.Decision.Reasons[0].Code == floodmark.Unjudged
}

// promise returns the fact that must be in the journal after an answer; empty if none must be.
func (h Heard) promise() string {
	switch h.Point {
	case hook.SessionStart:
		return "opened"
	case hook.SessionEnd:
		return "closed"
	case hook.MessageReceived, hook.AfterToolCall:
		return "seen " + h.Digest.String()
	case hook.BeforeToolCall:
		return decided(h.Call, h.Verdict)
	default:
		return ""
	}
}

func decided(c floodmark.CallID, v floodmark.Verdict) string {
	return fmt.Sprintf("decided %s %s", c, v)
}

// kept returns the promise that a fact fulfils; empty if none.
func kept(f floodmark.Fact) string {
	switch f := f.(type) {
	case floodmark.SessionOpened:
		return "opened"
	case floodmark.SessionClosed:
		return "closed"
	case floodmark.ContentSeen:
		return "seen " + f.Digest.String()
	case floodmark.ContentArrived:
		return "seen " + f.Digest.String()
	case floodmark.ActionDecided:
		if f.Action.Kind == floodmark.CallTool {
			return decided(f.Action.Call, f.Decision.Verdict)
		}
	default:
	}
	return ""
}

// maxWhy bounds the length of [Heard.Why].
const maxWhy = 300

// maxLine bounds one line of a log.
const maxLine = 1 << 16

// ReadLog reads a client's log, one JSON object a line. It leaves out a last line that is cut off
// because the client was killed.
func ReadLog(r io.Reader) ([]Heard, error) {
	var all []Heard
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var wrong error
	for n := 1; lines.Scan(); n++ {
		if wrong != nil {
			return nil, wrong
		}
		var h Heard
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			wrong = fmt.Errorf("read a client's log: line %d: %w", n, err)
			continue
		}
		all = append(all, h)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read a client's log: %w", err)
	}
	return all, nil
}
