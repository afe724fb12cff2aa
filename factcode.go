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

// usualFactBytes is what most facts have room in.
const usualFactBytes = 768

func (SessionOpened) factKind() string    { return "session-opened" }
func (SessionForked) factKind() string    { return "session-forked" }
func (SessionClosed) factKind() string    { return "session-closed" }
func (RulesLoaded) factKind() string      { return "rules-loaded" }
func (ContextCleared) factKind() string   { return "context-cleared" }
func (TurnOpened) factKind() string       { return "turn-opened" }
func (TurnClosed) factKind() string       { return "turn-closed" }
func (IterationOpened) factKind() string  { return "iteration-opened" }
func (LoopTold) factKind() string         { return "loop-told" }
func (ContentSeen) factKind() string      { return "content-seen" }
func (ContentArrived) factKind() string   { return "content-arrived" }
func (ModelAnswered) factKind() string    { return "model-answered" }
func (ActionDecided) factKind() string    { return "action-decided" }
func (OpinionGiven) factKind() string     { return "opinion-given" }
func (VerifierAnswered) factKind() string { return "verifier-answered" }
func (CallFollowed) factKind() string     { return "call-followed" }
func (ChildSpawned) factKind() string     { return "child-spawned" }
func (ChildEnded) factKind() string       { return "child-ended" }
func (ArtifactRead) factKind() string     { return "artifact-read" }
func (ArtifactWritten) factKind() string  { return "artifact-written" }
func (ArtifactSettled) factKind() string  { return "artifact-settled" }
func (ArtifactsKept) factKind() string    { return "artifacts-kept" }
func (FilesCleaned) factKind() string     { return "files-cleaned" }
func (Endorsed) factKind() string         { return "endorsed" }
func (Withdrawn) factKind() string        { return "withdrawn" }
func (IncidentSeen) factKind() string     { return "incident-seen" }
func (TicketOpened) factKind() string     { return "ticket-opened" }
func (TicketExtended) factKind() string   { return "ticket-extended" }
func (TicketCounted) factKind() string    { return "ticket-counted" }
func (TicketRefused) factKind() string    { return "ticket-refused" }
func (TicketAnswered) factKind() string   { return "ticket-answered" }
func (GrantGiven) factKind() string       { return "grant-given" }
func (GrantUsed) factKind() string        { return "grant-used" }
func (GrantEnded) factKind() string       { return "grant-ended" }
func (PauseBegan) factKind() string       { return "pause-began" }
func (PauseEnded) factKind() string       { return "pause-ended" }

// KindOf returns the word that stands for f's kind on disk.
func KindOf(f Fact) string {
	if f == nil {
		return ""
	}
	return f.factKind()
}

// EncodeFact returns f's kind and its one encoding.
func EncodeFact(f Fact) (kind string, body []byte, err error) {
	if body, err = AppendFact(make([]byte, 0, usualFactBytes), f); err != nil {
		return "", nil, err
	}
	return f.factKind(), body, nil
}

// AppendFact appends f's one encoding.
func AppendFact(dst []byte, f Fact) ([]byte, error) {
	if f == nil {
		return nil, errors.New("encode fact: there is none")
	}
	c := plain{out: dst}
	if !c.write(f) {
		body, err := json.Marshal(f)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", f.factKind(), err)
		}
		c.out = append(dst, body...)
	}
	if size := len(c.out) - len(dst); size > MaxFactBytes {
		return nil, fmt.Errorf("encode %s: %d bytes, at most %d", f.factKind(), size, MaxFactBytes)
	}
	return c.out, nil
}

// DecodeFact is the inverse of [EncodeFact]. It refuses a kind or a field it
// does not know: skipping one could make a session look cleaner than it is.
func DecodeFact(kind string, body []byte) (Fact, error) {
	if len(body) > MaxFactBytes {
		return nil, fmt.Errorf("decode %s: %d bytes, at most %d", kind, len(body), MaxFactBytes)
	}
	if f, ok := readPlain(kind, body); ok {
		return f, nil
	}
	f, known, err := read(kind, body)
	switch {
	case !known:
		return nil, fmt.Errorf("unknown fact kind %q", kind)
	case err != nil:
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	return f, nil
}

// read decodes one kind of fact. It is a switch, not a table: a session is
// replayed fact by fact.
func read(kind string, body []byte) (f Fact, known bool, err error) {
	known = true
	switch kind {
	case "session-opened":
		f, err = decode[SessionOpened](body)
	case "session-forked":
		f, err = decode[SessionForked](body)
	case "session-closed":
		f, err = decode[SessionClosed](body)
	case "rules-loaded":
		f, err = decode[RulesLoaded](body)
	case "context-cleared":
		f, err = decode[ContextCleared](body)
	case "turn-opened":
		f, err = decode[TurnOpened](body)
	case "turn-closed":
		f, err = decode[TurnClosed](body)
	case "iteration-opened":
		f, err = decode[IterationOpened](body)
	case "content-seen":
		f, err = decode[ContentSeen](body)
	case "content-arrived":
		f, err = decode[ContentArrived](body)
	case "model-answered":
		f, err = decode[ModelAnswered](body)
	case "action-decided":
		f, err = decodeInto(body, ActionDecided{Decision: Decision{Reach: Free}})
	case "opinion-given":
		f, err = decode[OpinionGiven](body)
	case "call-followed":
		f, err = decode[CallFollowed](body)
	case "child-spawned":
		f, err = decode[ChildSpawned](body)
	case "child-ended":
		f, err = decode[ChildEnded](body)
	case "artifact-read":
		f, err = decode[ArtifactRead](body)
	case "artifact-written":
		f, err = decode[ArtifactWritten](body)
	case "artifact-settled":
		f, err = decode[ArtifactSettled](body)
	case "artifacts-kept":
		f, err = decode[ArtifactsKept](body)
	case "files-cleaned":
		f, err = decode[FilesCleaned](body)
	case "endorsed":
		f, err = decode[Endorsed](body)
	case "withdrawn":
		f, err = decode[Withdrawn](body)
	default:
		return readAsked(kind, body)
	}
	return f, known, err
}

// readAsked decodes the facts of asking, incidents, and what an agent says of itself.
func readAsked(kind string, body []byte) (f Fact, known bool, err error) {
	known = true
	switch kind {
	case "loop-told":
		f, err = decode[LoopTold](body)
	case "verifier-answered":
		f, err = decode[VerifierAnswered](body)
	case "incident-seen":
		f, err = decode[IncidentSeen](body)
	case "ticket-opened":
		f, err = decode[TicketOpened](body)
	case "ticket-extended":
		f, err = decode[TicketExtended](body)
	case "ticket-counted":
		f, err = decode[TicketCounted](body)
	case "ticket-refused":
		f, err = decode[TicketRefused](body)
	case "ticket-answered":
		f, err = decode[TicketAnswered](body)
	case "grant-given":
		f, err = decode[GrantGiven](body)
	case "grant-used":
		f, err = decode[GrantUsed](body)
	case "grant-ended":
		f, err = decode[GrantEnded](body)
	case "pause-began":
		f, err = decode[PauseBegan](body)
	case "pause-ended":
		f, err = decode[PauseEnded](body)
	default:
		known = false
	}
	return f, known, err
}

func decode[F Fact](body []byte) (Fact, error) {
	var f F
	return decodeInto(body, f)
}

// decodeInto reads a fact whose fields are as given where the body has none.
func decodeInto[F Fact](body []byte, f F) (Fact, error) {
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
