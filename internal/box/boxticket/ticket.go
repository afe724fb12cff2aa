package boxticket

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/box"
)

// An Order is what a ticket is for.
type Order struct {
	Spec    box.Spec
	Session string
	Call    string
	Command []string // the exact words of the command in the box
	Expires time.Time
	// Shared, unless empty, is a name. The boxes of all orders with the same name share one /tmp
	// and one cache. These folders are beside the tickets, because a box in an agent's sandbox can
	// write nowhere else.
	Shared string
}

// A ticket is the content of a ticket's file. A field may only be added when every floodmark-box in
// use knows it, because they refuse unknown fields.
type ticket struct {
	Name    string          `json:"name"`
	Session string          `json:"session"`
	Call    string          `json:"call"`
	Command string          `json:"command"` // see digest
	Expires time.Time       `json:"expires"`
	Key     string          `json:"key"` // seals the outcome
	Spec    json.RawMessage `json:"spec"`
}

// digest returns the hash of a command. Each word is hashed with its length, so that different
// commands never give the same text.
func digest(command []string) string {
	h := sha256.New()
	for _, word := range command {
		_, _ = io.WriteString(h, strconv.Itoa(len(word))+":"+word+",")
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A ticket's name is the mark of its monitor and random bytes.
const (
	markBytes = 4
	nameBytes = 16
)

// checkName refuses anything but the name of a ticket, such as a path.
func checkName(name string) error {
	if raw, err := hex.DecodeString(name); err != nil || len(raw) != markBytes+nameBytes || name != strings.ToLower(name) {
		return errors.New("this is not the name of a ticket")
	}
	return nil
}

// readTicket reads the file of a ticket.
func readTicket(data []byte, name string) (*ticket, *box.Spec, error) {
	var t ticket
	if err := decode(data, &t); err != nil {
		return nil, nil, fmt.Errorf("the ticket cannot be read: %w", err)
	}
	if key, err := hex.DecodeString(t.Key); err != nil || len(key) != sha256.Size {
		return nil, nil, errors.New("the ticket has no key")
	}
	if t.Name != name || checkName(name) != nil {
		return nil, nil, errors.New("the ticket has the name of another one")
	}
	spec, err := box.ReadSpec(bytes.NewReader(t.Spec))
	if err != nil {
		return nil, nil, err
	}
	return &t, spec, nil
}

// check refuses a ticket that is for another command, has expired, or is valid for too long.
func (t *ticket) check(command []string, now time.Time) error {
	switch {
	case t.Session == "" || t.Call == "" || len(t.Session) > maxID || len(t.Call) > maxID:
		return errors.New("the ticket names no call")
	case !now.Before(t.Expires):
		return errors.New("the ticket has expired: make the call again")
	case t.Expires.Sub(now) > MaxLife:
		return errors.New("the ticket is valid for too long")
	case len(command) == 0 || t.Command != digest(command):
		return errors.New("the ticket is for another command")
	}
	return nil
}

// decode reads one JSON value. It refuses unknown fields, and data after the value.
func decode(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows its end")
	}
	return nil
}
