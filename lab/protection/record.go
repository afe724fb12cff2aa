package protection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// A record is one line of the traces file. Its texts are still indices.
type record struct {
	ID         string          `json:"id"`
	Source     string          `json:"src"`
	Model      string          `json:"model"`
	Suite      string          `json:"suite"`
	Task       string          `json:"task"`
	Attack     string          `json:"attack"`
	Injection  string          `json:"inj"`
	Kind       Kind            `json:"kind"`
	System     text            `json:"sys"`
	User       text            `json:"user"`
	Steps      []recordedStep  `json:"steps"`
	Utility    bool            `json:"utility"`
	Security   bool            `json:"security"`
	Replay     replayed        `json:"replay"`
	Cuts       json.RawMessage `json:"cuts"`
	Coincident bool            `json:"coincident"`
	Injections map[string]text `json:"injections"` // by where they were put
}

type replayed struct {
	Security bool `json:"security"`
}

type recordedStep struct {
	Text  text           `json:"t"`
	Calls []recordedCall `json:"calls"`
}

type recordedCall struct {
	Tool   string          `json:"f"`
	Args   json.RawMessage `json:"a"`
	Result text            `json:"r"`
	Error  text            `json:"e"`
}

// A text is a string, the index of one, or nothing.
type text struct {
	body    string
	number  int
	present bool
	pooled  bool
}

// UnmarshalJSON reads one of the three forms.
func (t *text) UnmarshalJSON(data []byte) error {
	switch {
	case bytes.Equal(data, []byte("null")):
		return nil
	case data[0] == '"':
		t.present = true
		return json.Unmarshal(data, &t.body)
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		return fmt.Errorf("a text is a string, a number or null, not %.20q", data)
	}
	t.number, t.present, t.pooled = n, true, true
	return nil
}

// resolve turns records into traces: indices become texts, texts written out get numbers, and calls
// are counted.
func (d *Data) resolve(records []record, pool []string) error {
	r := resolver{pool: pool, known: map[string]int32{}}
	d.Traces = make([]Trace, len(records))
	for i := range records {
		t, err := r.trace(&records[i])
		if err == nil {
			err = t.check()
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		d.Traces[i] = t
	}
	d.Texts = len(pool) + len(r.known)
	return nil
}

type resolver struct {
	pool  []string
	known map[string]int32 // the numbers of texts that are not in the pool
	err   error            // the first bad number
}

func (r *resolver) text(t text) Text {
	if !t.pooled {
		id, ok := r.known[t.body]
		if !ok {
			id = int32(len(r.pool) + len(r.known))
			r.known[t.body] = id
		}
		return Text{ID: id, Body: t.body}
	}
	if t.number < 0 || t.number >= len(r.pool) {
		r.err = errors.Join(r.err, fmt.Errorf("no text has the number %d", t.number))
		return Text{}
	}
	return Text{ID: int32(t.number), Body: r.pool[t.number]}
}

func (r *resolver) trace(rec *record) (Trace, error) {
	t := Trace{
		ID: rec.ID, Source: rec.Source, Model: rec.Model, Suite: rec.Suite, Task: rec.Task,
		Attack: rec.Attack, Injection: rec.Injection, Kind: rec.Kind,
		System: r.text(rec.System), User: r.text(rec.User),
		Steps:   make([]Step, len(rec.Steps)),
		Utility: rec.Utility, Succeeded: rec.Security, Replayed: rec.Replay.Security,
		Coincident: rec.Coincident,
	}
	for _, place := range slices.Sorted(maps.Keys(rec.Injections)) {
		t.Injected = append(t.Injected, r.text(rec.Injections[place]))
	}
	n := 0
	for i, s := range rec.Steps {
		t.Steps[i] = Step{Text: r.text(s.Text), Calls: make([]Call, len(s.Calls))}
		for j, c := range s.Calls {
			t.Steps[i].Calls[j] = Call{
				Index: n, Tool: c.Tool, Args: c.Args, Result: r.text(c.Result),
				Fed: c.Result.present && !c.Error.present,
			}
			n++
		}
	}
	if r.err != nil {
		return t, r.err
	}
	if n > MaxCallsInRun {
		return t, fmt.Errorf("%w: %d calls, at most %d", ErrTooLarge, n, MaxCallsInRun)
	}
	if t.Kind != Attack || !t.Succeeded || !t.Replayed {
		return t, nil
	}
	return t, t.readCuts(rec.Cuts, n)
}

// readCuts reads the sets of calls that must be stopped for the attack to fail. null means that the
// attack needs no call. A missing list is an error, because it would count as stopped.
func (t *Trace) readCuts(raw json.RawMessage, calls int) error {
	if len(raw) == 0 {
		return errors.New("a successful attack needs cuts")
	}
	if bytes.Equal(raw, []byte("null")) {
		t.TextOnly = true
		return nil
	}
	if err := json.Unmarshal(raw, &t.Cuts); err != nil {
		return fmt.Errorf("cuts: %w", err)
	}
	for _, cut := range t.Cuts {
		for _, i := range cut {
			if i < 0 || i >= calls {
				return fmt.Errorf("cuts: no call has the number %d", i)
			}
		}
		if len(cut) == 0 {
			return errors.New("cuts: an empty set would stop the attack by doing nothing")
		}
	}
	return nil
}

// check refuses traces that are in no set because of an unknown value, so that none is left out
// unnoticed.
func (t *Trace) check() error {
	switch t.Kind {
	case Benign, Attack, InjectionAsUser:
	default:
		return fmt.Errorf("unknown kind %q", t.Kind)
	}
	if t.Source != "agentdojo" && t.Source != "agentdyn" {
		return fmt.Errorf("unknown source %q", t.Source)
	}
	if _, ok := taskNumber(t.Task); !ok {
		return fmt.Errorf("task %q has no number", t.Task)
	}
	return nil
}
