package people

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// hidden replaces a printed pass.
const hidden = "(secret)"

// String hides the pass.
func (Pass) String() string { return hidden }

// GoString hides the pass.
func (Pass) GoString() string { return hidden }

// LogValue hides the pass.
func (Pass) LogValue() slog.Value { return slog.StringValue(hidden) }

// Counts reports whether a monitor with this login would accept the token. That can be true for
// several monitors, because a provider without audiences gives all its clients the same tokens. It
// is false for an unreadable token.
func (p Pass) Counts(at Login) bool {
	var said struct {
		Issuer string          `json:"iss"`
		For    json.RawMessage `json:"aud"`
		Party  *string         `json:"azp"`
	}
	parts := strings.Split(p.Token, ".")
	if len(parts) != 3 {
		return false
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(data, &said) != nil || at.Issuer == "" || said.Issuer != at.Issuer || said.Party != nil && *said.Party != at.ClientID {
		return false
	}
	var one string
	var list []string
	if json.Unmarshal(said.For, &one) != nil {
		_ = json.Unmarshal(said.For, &list) // if it is neither a text nor a list, there is no audience
	}
	return one == at.For() && one != "" || slices.Contains(list, at.For())
}

// Who returns the person's name in the token, for display. It does not verify the token; the fleet
// does.
func (p Pass) Who() string {
	var said struct {
		Email string `json:"email"`
		User  string `json:"preferred_username"`
		Sub   string `json:"sub"`
	}
	parts := strings.Split(p.Token, ".")
	if len(parts) != 3 {
		return ""
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(data, &said) != nil {
		return ""
	}
	for _, name := range []string{said.Email, said.User, said.Sub} {
		if name != "" && len(name) <= MaxClaimBytes && isName(name) {
			return name
		}
	}
	return ""
}

// FleetURL returns a fleet's address in its canonical form. It must be https, because the server
// gets the pass.
func FleetURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || !isName(text) || len(text) > MaxClaimBytes || u.Scheme != "https" || u.Host == "" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" {
		return "", errors.New("want an address such as https://floodmark.firm.example:7443; nothing but https is safe")
	}
	if u.Path = strings.TrimRight(u.Path, "/"); strings.Contains(u.Path, "..") || u.RawPath != "" {
		return "", errors.New("want an address such as https://floodmark.firm.example:7443, without dots in its path")
	}
	host := strings.ToLower(u.Host)
	return "https://" + strings.TrimSuffix(host, ":443") + u.Path, nil
}

// ErrOver means that a login has expired, and that the person has to log in again.
var ErrOver = errors.New("your login has ended")

// ErrNotKept means that a login was renewed and could not be saved. The token is valid, but the
// refresh token is lost when the program ends.
var ErrNotKept = errors.New("the renewed login could not be kept")

// ahead is how long before its expiry a token is replaced.
const ahead = time.Minute

// Token returns the token for the fleet with this name: the current one, or a new one if it expires
// soon and the provider issues one. If the error is [ErrNotKept], the token is valid, too.
func (b *Book) Token(ctx context.Context, name string) (string, error) {
	f, _, err := b.newest(name)
	if err != nil {
		return "", err
	}
	if b.lasts(f, ahead) {
		return f.Pass.Token, nil
	}
	if f.Pass.Refresh == "" {
		if b.lasts(f, 0) {
			return f.Pass.Token, nil
		}
		return "", ErrOver
	}
	renewed, err := b.renew(ctx, f)
	if err != nil && renewed == "" && b.lasts(f, 0) {
		return f.Pass.Token, nil // still valid for a moment
	}
	return renewed, err
}

func (b *Book) lasts(f Fleet, spare time.Duration) bool {
	endless := f.Given != nil && f.Pass.Ends.IsZero() // the fleet accepts it until it is revoked
	return f.Pass.Token != "" && (endless || b.now().Before(f.Pass.Ends.Add(-spare)))
}

// renew gets a new token. Only one process renews at a time, because a provider may treat a second
// use of a refresh token as theft.
func (b *Book) renew(ctx context.Context, old Fleet) (token string, err error) {
	wait, cancel := context.WithTimeout(ctx, askTime+bookWait)
	defer cancel()
	free, err := wholefile.Lock(wait, b.path+".renew.lock")
	if err != nil {
		return "", errors.New("others are renewing the login; try again")
	}
	defer func() { _ = free() }() // the system unlocks it when the process ends
	f, kept, err := b.newest(old.Name)
	switch {
	case err != nil:
		return "", err
	case f.Pass.Token != old.Pass.Token && b.lasts(f, 0):
		return f.Pass.Token, nil // another process has renewed it
	}
	roots, err := f.Roots()
	if err != nil {
		return "", err
	}
	if f.Pass, err = f.Login.Renew(ctx, roots, f.Pass.Refresh); err != nil {
		if errors.Is(err, ErrUnreached) {
			return "", err
		}
		return "", fmt.Errorf("%w: %w", ErrOver, err)
	}
	err = b.change(ctx, func(all map[string]Fleet) error {
		if _, still := all[f.Name]; !still {
			return ErrNoLogin // a logout meanwhile takes precedence
		}
		all[f.Name] = f
		return nil
	})
	switch {
	case errors.Is(err, ErrNoLogin):
		return "", err
	case err != nil:
		b.remember(f, kept)
		return f.Pass.Token, fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	return f.Pass.Token, nil
}

// An unkept holds a renewed pass that could not be saved. It is used instead of the pass on disk as
// long as that has this token.
type unkept struct {
	token string
	pass  Pass
}

// newest returns the login with a name as last renewed, even if that could not be saved; kept is
// the token on the disk.
func (b *Book) newest(name string) (f Fleet, kept string, err error) {
	if f, err = b.Find(name); err != nil {
		return Fleet{}, "", err
	}
	kept = f.Pass.Token
	b.mu.Lock()
	defer b.mu.Unlock()
	if u, is := b.unkept[f.Name]; is && u.token == kept {
		f.Pass = u.pass
	}
	return f, kept, nil
}

func (b *Book) remember(f Fleet, kept string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unkept == nil {
		b.unkept = map[string]unkept{}
	}
	b.unkept[f.Name] = unkept{kept, f.Pass}
}
