package mcplogin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// maxFile bounds the file, in bytes. waitTime bounds the wait for other processes that write it.
const (
	maxFile  = 8 << 20
	waitTime = 10 * time.Second
)

// The ways to send the client's secret to an issuer.
const (
	authBasic = "basic"
	authPost  = "post"
)

// A login is one server's entry in the file.
//
// Rules for changing it: keys are only added, and leaving a new key out must never allow more.
type login struct {
	// URL is the server that the login was made for. At another address it is not used.
	URL string `json:"url"`
	// Resource is the audience of the tokens. Issuer issued them.
	Resource string `json:"resource"`
	Issuer   string `json:"issuer"`
	// TokenEndpoint and RevokeEndpoint are those of the issuer at the time of the login.
	TokenEndpoint  string `json:"token_endpoint"`
	RevokeEndpoint string `json:"revocation_endpoint,omitempty"`
	ClientID       string `json:"client_id"`
	Secret         key    `json:"client_secret,omitempty"`
	Auth           string `json:"client_auth,omitempty"`

	Access  key       `json:"access_token,omitempty"`
	Refresh key       `json:"refresh_token,omitempty"`
	Until   time.Time `json:"until,omitzero"`
	Scopes  []string  `json:"scopes,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Wanted is set if the server has asked for a new login since.
	Wanted bool `json:"wanted,omitempty"`
}

// holds reports whether l has a token and matches the server's URL, issuer and client id in the
// owner's current settings.
func (l login) holds(s Server) bool {
	return l.URL == s.URL && l.Access != "" && (s.Issuer == "" || sameIssuer(l.Issuer, s.Issuer)) && (s.ClientID == "" || l.ClientID == s.ClientID)
}

type file struct {
	Version int              `json:"version"`
	Logins  map[string]login `json:"logins"`
}

// A Book is the file with all logins. It is safe for concurrent use, also by
// several processes.
type Book struct {
	path string
	now  func() time.Time
}

// Open returns the book at a path. The file need not exist yet.
func Open(path string, now func() time.Time) *Book { return &Book{path: path, now: now} }

// A State describes the login at a server.
type State struct {
	// In reports that there is a login. It was issued by Issuer at Since.
	In     bool
	Issuer string
	Since  time.Time
	// Wanted reports that the owner has to log in.
	Wanted bool
}

// State returns the state of a server.
func (b *Book) State(s Server) (State, error) {
	f, err := b.read()
	if err != nil {
		return State{}, err
	}
	l := f.Logins[s.Name]
	if !l.holds(s) {
		return State{Wanted: !s.Machine && (l.Wanted && l.URL == s.URL || l.Access != "" || s.Expected)}, nil
	}
	return State{In: true, Issuer: shown(l.Issuer), Since: l.Since, Wanted: l.Wanted}, nil
}

func (b *Book) read() (*file, error) {
	f := &file{Version: 1, Logins: map[string]login{}}
	data, err := wholefile.ReadOwn(b.path, maxFile)
	switch _, shown := errors.AsType[*wholefile.ShownError](err); {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case shown:
		return nil, fmt.Errorf("read the logins: %w: run chmod 600 on it, and log in again where that matters", err)
	case err != nil:
		return nil, fmt.Errorf("read the logins: %w", err)
	}
	if err := json.Unmarshal(data, f); err != nil || f.Version != 1 {
		return nil, fmt.Errorf("read the logins: %s cannot be read: move it away, and log in again", b.path)
	}
	if f.Logins == nil {
		f.Logins = map[string]login{}
	}
	return f, nil
}

// of returns the login of a server from the file.
func (b *Book) of(s Server) (l login, ok bool, err error) {
	f, err := b.read()
	if err != nil {
		return login{}, false, err
	}
	l = f.Logins[s.Name]
	return l, l.holds(s), nil
}

// change changes the file under its lock, so that no other process writes at the same time.
func (b *Book) change(ctx context.Context, with func(logins map[string]login)) error {
	return wholefile.Change(ctx, b.path, "the logins", waitTime, func() ([]byte, error) {
		f, err := b.read()
		if err != nil {
			return nil, err
		}
		with(f.Logins)
		data, err := json.MarshalIndent(f, "", " ")
		if err != nil || len(data) > maxFile {
			return nil, errors.New("write the logins: they are too large")
		}
		return append(data, '\n'), nil
	})
}

// wants records that a server asks for a login.
func (b *Book) wants(ctx context.Context, s Server) error {
	f, err := b.read()
	if err != nil || f.Logins[s.Name].Wanted && f.Logins[s.Name].URL == s.URL {
		return err
	}
	return b.change(ctx, func(all map[string]login) {
		l := all[s.Name]
		if l.URL != s.URL {
			l = login{URL: s.URL}
		}
		l.Wanted = true
		all[s.Name] = l
	})
}
