package mcphttp

import (
	"context"
	"errors"
	"net/http"
)

// A Credential provides the token for a server. The token may change between two requests. Errors
// never contain it.
type Credential interface {
	// Show returns the token, or "" if there is none.
	Show(ctx context.Context) (string, error)
	// Refused returns another token after the server refused the shown one, or an error if there is
	// none.
	Refused(ctx context.Context, shown string) (string, error)
}

// shown sends a request with the credential, and once more with another one if the server refuses
// it. It ignores what the server says about logging in, because only the owner begins a login.
func (d *door) shown(req *http.Request) (*http.Response, error) {
	if d.credential == nil {
		return d.next.RoundTrip(req)
	}
	if req.URL.Scheme != d.at.Scheme || req.URL.Host != d.at.Host {
		return nil, errors.New("this is not the server that the credential is for")
	}
	token, err := d.credential.Show(req.Context())
	if err != nil {
		return nil, err
	}
	res, err := d.next.RoundTrip(bearing(req, token))
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		return res, err
	}
	_ = res.Body.Close() // the server's reason is not read
	if token, err = d.credential.Refused(req.Context(), token); err != nil {
		return nil, err
	}
	again := bearing(req, token)
	if req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return nil, errors.New("it cannot be sent again")
		}
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return d.next.RoundTrip(again)
}

func bearing(req *http.Request, token string) *http.Request {
	if token == "" {
		return req
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	return req
}
