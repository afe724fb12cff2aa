package people

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// The limits of the file of logins.
const (
	maxBook   = 4 << 20
	maxFleets = 64
	// MaxFleetName bounds a fleet's local name.
	MaxFleetName = 100
	bookWait     = 10 * time.Second
)

// ErrNoLogin means that there is no login at the fleet.
var ErrNoLogin = errors.New("you are not logged in there")

// A Fleet is a login at a fleet.
//
// Rules for changing it: keys are only added, and a login without a new key must not permit more
// than one with it.
type Fleet struct {
	// Name is the local name of the fleet.
	Name string `json:"-"`
	// URL is the fleet's address. The pass is sent only there.
	URL string `json:"url"`
	// Authority is the certificate, as PEM, of the authority that signs the fleet's certificate. It
	// is empty if the machine trusts the fleet's authority.
	Authority string `json:"authority,omitempty"`
	Login     Login  `json:"login,omitzero"`
	Pass      Pass   `json:"pass"`
	// Given is set if the pass is a token that the fleet's operator made. Login is empty then. It
	// is nil for a login at an identity provider.
	Given *Given    `json:"given,omitempty"`
	Since time.Time `json:"since"`
}

// Door returns the authorities for the fleet's own certificate, or nil for those that the machine
// trusts.
func (f Fleet) Door() (*x509.CertPool, error) { return outward.Roots(f.Authority) }

// Roots returns the authorities for the certificate of the fleet's identity provider: those that
// the machine trusts, and the fleet's own authority.
func (f Fleet) Roots() (*x509.CertPool, error) { return outward.RootsBeside(f.Authority) }

// A Book is the file with a person's logins. It is safe for concurrent use, also
// by several processes.
type Book struct {
	path string
	now  func() time.Time
	dial Dial // to identity providers; nil uses the machine's own network

	mu     sync.Mutex        // guards unkept
	unkept map[string]unkept // by the fleet's name; see ErrNotKept
}

// OpenBook returns the book at a path; the file need not exist yet.
func OpenBook(path string, now func() time.Time) *Book { return &Book{path: path, now: now} }

type bookFile struct {
	Version int              `json:"version"`
	Fleets  map[string]Fleet `json:"fleets"`
}

// List returns all logins, by name.
func (b *Book) List() ([]Fleet, error) {
	f, err := b.read()
	if err != nil {
		return nil, err
	}
	list := make([]Fleet, 0, len(f.Fleets))
	for name, one := range f.Fleets {
		one.Name = name
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Fleet) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Find returns the login with this name, or at this URL.
func (b *Book) Find(word string) (Fleet, error) {
	list, err := b.List()
	if err != nil {
		return Fleet{}, err
	}
	for _, f := range list {
		if f.Name == word {
			return f, nil
		}
	}
	if at, err := FleetURL(word); err == nil {
		for _, f := range list {
			if f.URL == at {
				return f, nil
			}
		}
	}
	return Fleet{}, ErrNoLogin
}

// Keep stores a login, replacing an earlier one with the same name.
func (b *Book) Keep(ctx context.Context, f Fleet) error {
	if f.Name == "" || len(f.Name) > MaxFleetName || !isName(f.Name) || strings.ContainsAny(f.Name, "/ ") {
		return errors.New("keep the login: a name has 1 to 100 characters, without blanks and slashes")
	}
	return b.change(ctx, func(all map[string]Fleet) error {
		all[f.Name] = f
		if len(all) > maxFleets {
			return fmt.Errorf("keep the login: there are %d already; log out somewhere first", maxFleets)
		}
		return nil
	})
}

// Drop deletes the login with a name.
func (b *Book) Drop(ctx context.Context, name string) error {
	return b.change(ctx, func(all map[string]Fleet) error {
		delete(all, name)
		return nil
	})
}

func (b *Book) read() (*bookFile, error) {
	f := &bookFile{Version: 1}
	data, err := wholefile.ReadOwn(b.path, maxBook)
	switch _, shown := errors.AsType[*wholefile.ShownError](err); {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case shown:
		return nil, fmt.Errorf("read the logins: %w: remove it, and log in anew", err)
	case err != nil:
		return nil, fmt.Errorf("read the logins: %w", err)
	}
	if err := json.Unmarshal(data, f); err != nil || f.Version != 1 {
		return nil, fmt.Errorf("read the logins: %s cannot be read: remove it, and log in anew", b.path)
	}
	for name, one := range f.Fleets {
		if !one.whole() {
			return nil, fmt.Errorf("read the logins: %q in %s is damaged: remove the file, and log in anew", name, b.path)
		}
		one.Login.dial = b.dial
		f.Fleets[name] = one
	}
	return f, nil
}

// change changes the file under a lock between processes.
func (b *Book) change(ctx context.Context, with func(map[string]Fleet) error) error {
	return wholefile.Change(ctx, b.path, "the logins", bookWait, func() ([]byte, error) {
		f, err := b.read()
		if err != nil {
			return nil, err
		}
		if f.Fleets == nil {
			f.Fleets = map[string]Fleet{}
		}
		if err := with(f.Fleets); err != nil {
			return nil, err
		}
		data, err := json.MarshalIndent(f, "", " ")
		if err != nil || len(data) > maxBook {
			return nil, errors.New("write the logins: they are too large")
		}
		return append(data, '\n'), nil
	})
}
