package people

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/floodmark/floodmark"
)

// claims are the claims of a token, without duplicates.
type claims map[string]json.RawMessage

// person returns the person of a token with a valid signature, issuer, audience and expiry.
func (p *Provider) person(t *oidc.IDToken) (Person, error) {
	var all claims
	if err := t.Claims(&all); err != nil {
		return Person{}, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	who := Person{Tenant: p.opts.Tenant, Ends: t.Expiry}
	now := p.opts.Now()
	switch age := now.Sub(t.IssuedAt); {
	case t.IssuedAt.IsZero() || all["iat"] == nil:
		return Person{}, fmt.Errorf("%w: it does not say when it was issued", ErrNobody)
	case age < -Skew:
		return Person{}, fmt.Errorf("%w: it is from the future: a clock is wrong", ErrNobody)
	case age > p.opts.MaxAge:
		return Person{}, fmt.Errorf("%w: it is older than %s; log in again", ErrNobody, p.opts.MaxAge)
	}
	if !now.Before(t.Expiry) { // the library accepts a token at the exact moment of expiry
		return Person{}, fmt.Errorf("%w: it has ended; log in again", ErrNobody)
	}
	who.Ends = earlier(who.Ends, t.IssuedAt.Add(p.opts.MaxAge))
	if err := p.meant(all, t, now); err != nil {
		return Person{}, err
	}
	var err error
	if who.Name, err = all.text(p.opts.NameClaim); err != nil {
		return Person{}, err
	}
	if p.opts.NameClaim == "email" && string(all["email_verified"]) != "true" {
		return Person{}, fmt.Errorf("%w: nobody has verified its email", ErrNobody)
	}
	if p.opts.TenantClaim != "" {
		if who.Tenant, err = all.text(p.opts.TenantClaim); err != nil {
			return Person{}, err
		}
	}
	// People and the journal tell names apart by what can be seen of them.
	if floodmark.Visible(who.Name) != who.Name || floodmark.Visible(who.Tenant) != who.Tenant {
		return Person{}, fmt.Errorf("%w: its name or tenant has characters that cannot be seen", ErrNobody)
	}
	if who.Groups, err = all.list(p.opts.GroupsClaim); err != nil {
		return Person{}, err
	}
	return who, nil
}

// meant refuses tokens that the same provider has issued for another purpose, to another client, or
// for later.
func (p *Provider) meant(all claims, t *oidc.IDToken, now time.Time) error {
	if _, logout := all["events"]; logout {
		return fmt.Errorf("%w: it tells of a logout and is no proof of a person", ErrNobody)
	}
	if _, ok := all["azp"]; ok || len(t.Audience) > 1 && p.opts.Audience == p.opts.ClientID {
		if party, err := all.text("azp"); err != nil || party != p.opts.ClientID {
			return fmt.Errorf("%w: it was issued to another client", ErrNobody)
		}
	}
	if raw, ok := all["nbf"]; ok {
		var from float64
		if err := json.Unmarshal(raw, &from); err != nil || now.Add(Skew).Before(time.Unix(int64(from), 0)) {
			return fmt.Errorf("%w: it does not count yet", ErrNobody)
		}
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// UnmarshalJSON reads an object and refuses duplicate claims, even in other case, because parsers
// differ in which one they use.
func (c *claims) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("it is no object")
	}
	*c = claims{}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return errors.New("it cannot be read")
		}
		if seen[strings.ToLower(name)] {
			return errors.New("it has a claim twice")
		}
		seen[strings.ToLower(name)] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return errors.New("it cannot be read")
		}
		(*c)[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return errors.New("it cannot be read")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("it has more than one object")
	}
	return nil
}

// text returns a claim that must be one plain text.
func (c claims) text(name string) (string, error) {
	var text *string
	if err := json.Unmarshal(c[name], &text); c[name] == nil || err != nil || text == nil || !isName(*text) {
		return "", fmt.Errorf("%w: its claim %q is missing, or is not one name of at most %d bytes", ErrNobody, name, MaxClaimBytes)
	}
	return *text, nil
}

// list returns a claim that must be a list of texts. A single text is a list of one element; it is
// not split into words, so "a b" is one group. A missing claim is an empty list.
func (c claims) list(name string) ([]string, error) {
	raw, ok := c[name]
	if !ok {
		return nil, nil
	}
	wrong := fmt.Errorf("%w: its claim %q is no list of at most %d groups", ErrNobody, name, MaxGroups)
	if one, err := c.text(name); err == nil {
		return []string{one}, nil
	}
	var list []*string
	if err := json.Unmarshal(raw, &list); err != nil || list == nil || len(list) > MaxGroups {
		return nil, wrong
	}
	groups := make([]string, 0, len(list))
	for _, g := range list {
		if g == nil || !isName(*g) {
			return nil, wrong
		}
		groups = append(groups, *g)
	}
	return groups, nil
}

// isName reports whether a text can be a name that is shown to people and written to the journal.
func isName(s string) bool {
	odd := func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }
	return s != "" && len(s) <= MaxClaimBytes && utf8.ValidString(s) && !strings.ContainsFunc(s, odd) && strings.TrimSpace(s) == s
}
