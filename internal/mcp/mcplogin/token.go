package mcplogin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A key is a secret text that formatted output hides.
type key string

// String hides the text.
func (key) String() string { return "[secret]" }

// GoString hides the text.
func (key) GoString() string { return "[secret]" }

// fits reports whether a text can be a token, which must fit into a header.
func (k key) fits() bool {
	return len(k) <= MaxToken && !strings.ContainsFunc(string(k), func(r rune) bool { return r <= ' ' || r > '~' })
}

// given are the tokens of an issuer's answer.
type given struct {
	access, refresh key
	until           time.Time // zero: not stated
	scopes          []string
}

// errRefused means that an issuer refused; a retry would be refused, too.
var errRefused = errors.New("the issuer said no")

// exchange asks an issuer's token endpoint for tokens. Its answer is never shown: errors contain
// only standard error codes.
func exchange(ctx context.Context, c *http.Client, now time.Time, by login, form url.Values) (given, error) {
	form.Set("resource", by.Resource)
	if by.Secret == "" || by.Auth == authPost {
		form.Set("client_id", by.ClientID)
	}
	if by.Secret != "" && by.Auth == authPost {
		form.Set("client_secret", string(by.Secret))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, by.TokenEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return given{}, errors.New("the issuer's token endpoint is no address")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if by.Secret != "" && by.Auth != authPost {
		req.SetBasicAuth(url.QueryEscape(by.ClientID), url.QueryEscape(string(by.Secret)))
	}
	res, err := c.Do(req)
	if err != nil {
		return given{}, errors.New(unreached(err, by.TokenEndpoint))
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return given{}, fmt.Errorf("%s did not answer to its end", shown(by.TokenEndpoint))
	}
	return readGiven(res.StatusCode, data, now)
}

// readGiven reads the answer of a token endpoint.
func readGiven(status int, data []byte, now time.Time) (given, error) {
	var said struct {
		Access  key         `json:"access_token"`
		Kind    string      `json:"token_type"`
		Expires json.Number `json:"expires_in"`
		Refresh key         `json:"refresh_token"`
		Scope   string      `json:"scope"`
		Error   string      `json:"error"`
	}
	err := json.Unmarshal(data, &said)
	if status >= 400 && status < 500 || status == http.StatusOK && said.Error != "" {
		return given{}, fmt.Errorf("%w: %s", errRefused, code(said.Error))
	}
	switch {
	case status != http.StatusOK:
		return given{}, fmt.Errorf("the issuer answers %d", status)
	case err != nil || said.Access == "":
		return given{}, errors.New("the issuer's answer cannot be read")
	case !strings.EqualFold(said.Kind, "Bearer"):
		return given{}, errors.New("the issuer gives tokens of a kind that is not known here (want Bearer)")
	case !said.Access.fits() || !said.Refresh.fits():
		return given{}, errors.New("the issuer's token is too long, or holds what no token does")
	}
	got := given{access: said.Access, refresh: said.Refresh, scopes: scopes(said.Scope)}
	const longest = 10 * 365 * 24 * 3600
	if seconds, err := said.Expires.Float64(); err == nil && seconds > 0 {
		got.until = now.Add(time.Duration(min(seconds, longest)) * time.Second)
	}
	return got, nil
}
