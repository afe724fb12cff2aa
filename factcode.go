package floodmark

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxFactBytes bounds one encoded fact. A fact carries no content but the
// owner's own words, so a larger one is a bug or an attack.
const MaxFactBytes = 4 << 20

func (SessionOpened) factKind() string   { return "session-opened" }
func (SessionForked) factKind() string   { return "session-forked" }
func (SessionClosed) factKind() string   { return "session-closed" }
func (RulesLoaded) factKind() string     { return "rules-loaded" }
func (ContextCleared) factKind() string  { return "context-cleared" }
func (TurnOpened) factKind() string      { return "turn-opened" }
func (TurnClosed) factKind() string      { return "turn-closed" }
func (IterationOpened) factKind() string { return "iteration-opened" }
func (ContentSeen) factKind() string     { return "content-seen" }
func (ContentArrived) factKind() string  { return "content-arrived" }
func (ModelAnswered) factKind() string   { return "model-answered" }
func (ActionDecided) factKind() string   { return "action-decided" }
func (OpinionGiven) factKind() string    { return "opinion-given" }
func (ChildSpawned) factKind() string    { return "child-spawned" }
func (ChildEnded) factKind() string      { return "child-ended" }
func (Endorsed) factKind() string        { return "endorsed" }
func (Withdrawn) factKind() string       { return "withdrawn" }
func (IncidentSeen) factKind() string    { return "incident-seen" }
func (TicketOpened) factKind() string    { return "ticket-opened" }
func (TicketExtended) factKind() string  { return "ticket-extended" }
func (TicketRefused) factKind() string   { return "ticket-refused" }
func (TicketAnswered) factKind() string  { return "ticket-answered" }
func (GrantGiven) factKind() string      { return "grant-given" }
func (GrantUsed) factKind() string       { return "grant-used" }
func (GrantEnded) factKind() string      { return "grant-ended" }

// EncodeFact returns f's kind and its one encoding.
func EncodeFact(f Fact) (kind string, body []byte, err error) {
	if f == nil {
		return "", nil, errors.New("encode fact: there is none")
	}
	body, err = json.Marshal(f)
	if err != nil {
		return "", nil, fmt.Errorf("encode %s: %w", f.factKind(), err)
	}
	if len(body) > MaxFactBytes {
		return "", nil, fmt.Errorf("encode %s: %d bytes, at most %d", f.factKind(), len(body), MaxFactBytes)
	}
	return f.factKind(), body, nil
}

// DecodeFact is the inverse of [EncodeFact]. It refuses a kind or a field it
// does not know: skipping one could make a session look cleaner than it is.
func DecodeFact(kind string, body []byte) (Fact, error) {
	read, ok := factReaders()[kind]
	if !ok {
		return nil, fmt.Errorf("unknown fact kind %q", kind)
	}
	if len(body) > MaxFactBytes {
		return nil, fmt.Errorf("decode %s: %d bytes, at most %d", kind, len(body), MaxFactBytes)
	}
	f, err := read(body)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	return f, nil
}

// factReaders has one reader for every kind of fact.
func factReaders() map[string]func([]byte) (Fact, error) {
	return map[string]func([]byte) (Fact, error){
		"session-opened":   decode[SessionOpened],
		"session-forked":   decode[SessionForked],
		"session-closed":   decode[SessionClosed],
		"rules-loaded":     decode[RulesLoaded],
		"context-cleared":  decode[ContextCleared],
		"turn-opened":      decode[TurnOpened],
		"turn-closed":      decode[TurnClosed],
		"iteration-opened": decode[IterationOpened],
		"content-seen":     decode[ContentSeen],
		"content-arrived":  decode[ContentArrived],
		"model-answered":   decode[ModelAnswered],
		"action-decided":   decode[ActionDecided],
		"opinion-given":    decode[OpinionGiven],
		"child-spawned":    decode[ChildSpawned],
		"child-ended":      decode[ChildEnded],
		"endorsed":         decode[Endorsed],
		"withdrawn":        decode[Withdrawn],
		"incident-seen":    decode[IncidentSeen],
		"ticket-opened":    decode[TicketOpened],
		"ticket-extended":  decode[TicketExtended],
		"ticket-refused":   decode[TicketRefused],
		"ticket-answered":  decode[TicketAnswered],
		"grant-given":      decode[GrantGiven],
		"grant-used":       decode[GrantUsed],
		"grant-ended":      decode[GrantEnded],
	}
}

func decode[F Fact](body []byte) (Fact, error) {
	var f F
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return f, nil
}
