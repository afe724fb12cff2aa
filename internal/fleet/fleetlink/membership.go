// Package fleetlink connects a laptop to the fleet it joined. It uploads facts in order, reports
// what runs on the laptop, and fetches the rules for this machine. It decides nothing, and no
// decision waits for it. A laptop that did not join has no link.
//
// The laptop does not store how far it has uploaded. It asks the fleet at each start and every
// hour, so that no entries stay missing after a crash of the laptop or a loss of data at the fleet.
package fleetlink

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// A Membership is what a laptop knows of the fleet it joined. The token is
// secret.
//
// Rules for changing it: fields are only added, and the absence of a field must mean what it meant
// before.
type Membership struct {
	Version int `json:"version"`
	// URL is where the fleet answers.
	URL string `json:"url"`
	// Authority has the certificates of the fleet's authorities, in PEM. If it is empty, the
	// authorities that the machine trusts are used.
	Authority string `json:"authority,omitempty"`
	Tenant    string `json:"tenant,omitempty"`
	Machine   string `json:"machine"`
	Token     string `json:"token"`
	// Keys are the keys of the authors whose bundles are accepted, as given when the laptop joined.
	// Without keys the owner's own policy is in effect.
	Keys   []string  `json:"keys,omitempty"`
	Joined time.Time `json:"joined"`
	// NoAsking says that questions are not shown by the fleet.
	NoAsking bool `json:"noAsking,omitempty"`
}

const (
	membershipVersion = 1
	maxMembership     = 1 << 20
	// MaxAuthority bounds a file of certificates, which must fit into one request.
	MaxAuthority = 48 << 10
	fileMode     = 0o600
)

// Load returns the membership in a file; false if there is none. A file that others can read, or
// that is damaged, is an error, because a laptop that joined must not be taken for one that did
// not.
func Load(path string) (Membership, bool, error) {
	var m Membership
	found, err := load(path, maxMembership, &m)
	if err != nil || !found {
		return Membership{}, false, err
	}
	if m.Version != membershipVersion || m.check() != nil {
		return Membership{}, false, fmt.Errorf("%s: not a membership this program knows (say «floodmark fleet leave», or restore it)", path)
	}
	return m, true, nil
}

// check returns why a fleet must not give this membership, or nil. It must be readable again after
// it is stored, and can be shown to people.
func (m Membership) check() error {
	_, keys := m.keys()
	switch {
	case CheckURL(m.URL) != nil || len(m.URL) > maxText || len(m.Authority) > MaxAuthority:
		return errors.New("no address of a fleet")
	case !name(m.Machine) || !name(m.Token):
		return errors.New("the fleet gave this machine no name or no token")
	case m.Tenant != "" && !name(m.Tenant):
		return errors.New("the fleet gave this machine no tenant that could be one")
	case len(m.Keys) > bundle.MaxKeys || keys != nil:
		return errors.New("the fleet named authors' keys that are none")
	}
	return nil
}

// maxText bounds each text from a fleet.
const maxText = 512

// name reports whether a text is one printable word.
func name(s string) bool {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }
	return s != "" && len(s) <= maxText && utf8.ValidString(s) && !strings.ContainsFunc(s, odd)
}

// Save writes the membership to a file that no other user can read.
func (m Membership) Save(path string) error {
	m.Version = membershipVersion
	return save(path, m)
}

// Print returns a hash that identifies a membership without revealing its secrets. A new field must
// be omitted while it is empty, so that the hash stays the same.
func (m Membership) Print() string {
	m.Version = membershipVersion
	data, err := json.Marshal(m)
	if err != nil {
		return "" // never happens
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// CheckURL refuses an address that is not safe to send a token to.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("want an address such as https://floodmark.firm.example:7443")
	case u.Scheme != "https":
		return errors.New("a fleet is reached by https:// and nothing else")
	}
	return nil
}

// Roots returns the authorities in PEM; nil for those that the machine trusts.
func Roots(authority string) (*x509.CertPool, error) {
	if len(authority) > MaxAuthority {
		return nil, fmt.Errorf("it holds more than %d bytes", MaxAuthority)
	}
	return outward.Roots(authority)
}

func load(path string, limit int64, into any) (found bool, err error) {
	data, err := wholefile.ReadOwn(path, limit)
	switch _, shown := errors.AsType[*wholefile.ShownError](err); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case shown:
		return false, fmt.Errorf("%s: others can read it, or it is no plain file (chmod 600 %s)", path, path)
	case err != nil:
		return false, fmt.Errorf("%s: %w", path, err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return false, fmt.Errorf("%s: it is damaged", path) // the error of the decoder may contain a secret
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("%s: it is damaged", path)
	}
	return true, nil
}

func save(path string, what any) error {
	data, err := json.MarshalIndent(what, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Replace(path, append(data, '\n'), fileMode)
}
