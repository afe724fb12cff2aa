package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// maxRolloutBytes bounds the text of one rollout.
const maxRolloutBytes = 64 << 10

// A rolloutText is a rollout as stored.
//
// Rules for changing it: a program refuses unknown fields, so a new field is omitted if it is zero.
type rolloutText struct {
	Tenant  string    `json:"tenant"`
	Serial  uint64    `json:"serial"`
	Stable  uint64    `json:"stable"`
	Next    uint64    `json:"next"`
	Share   int       `json:"share"`
	Floor   uint64    `json:"floor,omitempty"`
	Revoked []uint64  `json:"revoked,omitempty"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// Encode returns a rollout as text.
func (r Rollout) Encode() ([]byte, error) { return json.Marshal(rolloutText(r.kept())) }

// DecodeRollout is the inverse of [Rollout.Encode]. It returns only valid rollouts.
func DecodeRollout(data []byte) (Rollout, error) {
	if len(data) > maxRolloutBytes {
		return Rollout{}, fmt.Errorf("%w: %d bytes, at most %d", ErrRollout, len(data), maxRolloutBytes)
	}
	var t rolloutText
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&t); err != nil {
		return Rollout{}, fmt.Errorf("%w: %w", ErrRollout, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Rollout{}, fmt.Errorf("%w: something follows it", ErrRollout)
	}
	r := Rollout(t).kept()
	if err := r.Check(); err != nil {
		return Rollout{}, err
	}
	return r, nil
}
