package boxticket

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// An Outcome is a box's report. It lists exactly what was changed and refused. It does not list
// everything that a command failed to reach: only the hosts that the command requested from the
// box's proxy or resolver. An attempt to reach a numeric address, a path that is not shown, or a
// missing socket leaves no trace.
type Outcome struct {
	Name     string    `json:"name"`
	Session  string    `json:"session"`
	Call     string    `json:"call"`
	Redeemed time.Time `json:"redeemed"`
	Stage    Stage     `json:"stage"`
	// Why says why nothing ran, in the stage [StageRefused].
	Why string `json:"why,omitempty"`
	// Exit is the exit code. Signal is the signal that ended the command, if one did.
	Exit   int `json:"exit"`
	Signal int `json:"signal,omitempty"`
	// Changes are what the command did to the project. Cut is set if not all changes are listed, so
	// that any file of the project may have been changed.
	Changes []Change `json:"changes,omitempty"`
	Cut     bool     `json:"cut,omitempty"`
	// Unmoved says why not all files that should be kept were moved into the project.
	Unmoved string `json:"unmoved,omitempty"`
	// Hosts are the names that the command requested and could not reach, with a port if the
	// command named one. They are chosen by the command, so they contain only plain characters.
	Hosts []string `json:"hosts,omitempty"`
	// Left is set if processes were still running when the command ended. They were ended with the
	// box.
	Left bool `json:"left,omitempty"`
	// Kept is the hash of the box's record of what it replaced, if that record is beside the
	// ticket.
	Kept string `json:"kept,omitempty"`
}

// A Change is one path of the project that a command changed.
type Change struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // as in package box
	// SHA256 is the hash of a file's content, or empty if it is not known.
	SHA256 string `json:"sha256,omitempty"`
	// Refused says why the change was not moved into the project. It is empty if it was.
	Refused string `json:"refused,omitempty"`
}

// A Stage says how far a box has got.
type Stage string

// The stages of a box.
const (
	StageRefused Stage = "refused" // nothing ran
	StageMoving  Stage = "moving"  // the command has ended; Changes are being moved in
	StageEnded   Stage = "ended"
)

// seal encodes an outcome, with a MAC that proves that the writer has the key.
func (o *Outcome) seal(key []byte) ([]byte, error) {
	o.trim()
	body, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return append(append([]byte(code(key, body)), '\n'), body...), nil
}

// trim cuts an outcome to its limits. It leaves out changes beyond the limits, and paths that JSON
// cannot represent.
func (o *Outcome) trim() {
	o.Why, o.Unmoved = cut(o.Why), cut(o.Unmoved)
	o.Hosts = o.Hosts[:min(len(o.Hosts), maxHosts)]
	const rest = 256 // bytes of JSON for the other fields of a change
	room := maxOutcome - 1<<20
	listed := make([]Change, 0, min(len(o.Changes), maxChanges))
	for _, c := range o.Changes {
		path, _ := json.Marshal(c.Path) // a string always encodes
		room -= len(path) + len(c.Refused) + rest
		if len(listed) == maxChanges || room < 0 {
			o.Cut = true
			break
		}
		if !utf8.ValidString(c.Path) {
			o.Cut = true
			continue
		}
		listed = append(listed, c)
	}
	o.Changes = listed
}

func cut(text string) string { return text[:min(len(text), maxText)] }

func code(key, body []byte) string {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// readOutcome reads the outcome of a ticket that was sealed with a key.
func readOutcome(data []byte, name string, key []byte) (*Outcome, error) {
	sealed, body, _ := bytes.Cut(data, []byte("\n"))
	if !hmac.Equal(sealed, []byte(code(key, body))) {
		return nil, errors.New("the outcome was not written by the box that took the ticket")
	}
	var o Outcome
	if err := decode(body, &o); err != nil {
		return nil, fmt.Errorf("the outcome cannot be read: %w", err)
	}
	if o.Name != name {
		return nil, errors.New("the outcome is that of another ticket")
	}
	if !slices.Contains([]Stage{StageRefused, StageMoving, StageEnded}, o.Stage) {
		return nil, fmt.Errorf("the outcome has an unknown stage %q", o.Stage)
	}
	return &o, nil
}
