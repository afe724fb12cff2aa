// Package fleetlink connects a laptop to the fleet it joined: it uploads facts in order, reports
// what runs here, and fetches the rules that are meant for this machine. It decides nothing, and no
// decision waits for it. A laptop that never joined has none.
//
// The laptop stores no note of how far it has uploaded. It asks the fleet at each start and every
// hour, so neither a kill nor a fleet that lost what it confirmed leaves a hole.
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

	"github.com/floodmark/floodmark/internal/bundle"
	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/internal/wholefile"
)

// A Membership is what a laptop knows of the fleet it joined. The token is
// secret.
//
// Rules for changing it: fields are only added, and the absence of one must mean
// what it meant before.
type Membership struct {
	Version int `json:"version"`
	// URL is where the fleet answers.
	URL string `json:"url"`
	// Authority are the certificates of the fleet's authorities, in PEM; empty for those the
	// machine trusts.
	Authority string `json:"authority,omitempty"`
	Tenant    string `json:"tenant,omitempty"`
	Machine   string `json:"machine"`
	Token     string `json:"token"`
	// Keys are those of the authors whose bundles are accepted, as given when the laptop joined.
	// Without keys the owner's own policy holds.
	Keys   []string  `json:"keys,omitempty"`
	Joined time.Time `json:"joined"`
	// NoAsking says that questions stay on this laptop.
	NoAsking bool `json:"noAsking,omitempty"`
}

const (
	membershipVersion = 1
	maxMembership     = 1 << 20
	// MaxAuthority bounds a file of certificates: it must fit into one request.
	MaxAuthority = 48 << 10
	fileMode     = 0o600
)

// Load returns the membership in a file; false if there is none. A file that
// others can read, or that is damaged, is an error: a laptop that joined must not
// take itself for one that did not.
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

// check refuses what no fleet may give: what is kept must be readable again, and
// shown to people.
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

// maxText bounds each text that a fleet gives.
const maxText = 512

// name reports whether a text is one word that can be printed.
func name(s string) bool {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }
	return s != "" && len(s) <= maxText && utf8.ValidString(s) && !strings.ContainsFunc(s, odd)
}

// Save writes the membership, so that no other user can read it.
func (m Membership) Save(path string) error {
	m.Version = membershipVersion
	return save(path, m)
}

// Print tells memberships apart without telling their secrets. Fields that are
// added must be left out while they are empty, so that it stays the same.
func (m Membership) Print() string {
	m.Version = membershipVersion
	data, err := json.Marshal(m)
	if err != nil {
		return "" // it is like no other
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

// Roots are the authorities in PEM; nil for those the machine trusts.
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
		return false, fmt.Errorf("%s: it is damaged", path) // what it says may be secret
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
