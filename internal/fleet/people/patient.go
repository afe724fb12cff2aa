package people

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/floodmark/floodmark/internal/outward"
)

// patient is the transport of the polls in a device flow. If the provider does not answer, it
// returns "slow_down" in the provider's place, because RFC 8628 requires to continue with longer
// intervals then. It is used by one goroutine at a time.
type patient struct {
	next   http.RoundTripper
	issuer string
	// silent says why the last request had no answer. It is empty if there was one.
	silent string
}

// RoundTrip implements [http.RoundTripper].
func (p *patient) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := p.next.RoundTrip(r)
	p.silent = ""
	switch {
	case r.Context().Err() != nil: // cancelled, or the code has expired
		return resp, err
	case err != nil && (outward.Distrust(err) != "" || errors.Is(err, outward.ErrNotHere)): // a retry would fail the same way
		return nil, err
	case err != nil:
		p.silent = why(err, p.issuer)
	case resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests:
		p.silent = fmt.Sprintf("it answers with status %d", resp.StatusCode)
		_ = resp.Body.Close() // the body was read already
	default:
		return resp, nil
	}
	return &http.Response{
		StatusCode: http.StatusBadRequest, Status: "400 Bad Request", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{"error":"slow_down"}`)), Request: r,
	}, nil
}
