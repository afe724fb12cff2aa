// Package webhook asks another system over HTTP whether a call may proceed: it signs the request,
// sends it to one address and nowhere else, and reads the answer as foreign bytes. It makes no
// decisions: anything but a clear answer is a failure, and the rules say what a failure means.
package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/verify"
)

// Options configure a webhook.
type Options struct {
	// Name is its name in the settings and the journal.
	Name string
	// URL is https, or http to this machine.
	URL string
	// Headers are sent with each request.
	Headers map[string]string
	// Secret signs requests; without it they are unsigned.
	Secret string
	// Timeout bounds one request with all its retries; zero: 30 s.
	Timeout time.Duration
	// Roots are the authorities for its certificate; nil for those the machine trusts.
	Roots *x509.CertPool
	// Version is the program's, for the User-Agent.
	Version string
	Now     func() time.Time
	// Dial connects to it; nil uses the machine's own network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Hook is one webhook. It is safe for concurrent use.
type Hook struct {
	name    string
	url     *url.URL
	headers http.Header
	sign    signer
	limit   time.Duration
	now     func() time.Time
	client  *http.Client
}

var _ verify.Verifier = (*Hook)(nil)

// The limits of one request.
const (
	usualTimeout   = 30 * time.Second
	maxHeaderBytes = 16 << 10
	dialTime       = 10 * time.Second
	maxTries       = 3
	firstPause     = 200 * time.Millisecond // between tries, then four times as long
	idle           = 90 * time.Second
)

// New returns a webhook, or an error about its settings. No error contains a secret.
func New(o Options) (*Hook, error) {
	u, err := CheckURL(o.URL)
	if err != nil {
		return nil, err
	}
	sign, err := newSigner(o.Secret)
	if err != nil {
		return nil, err
	}
	h := &Hook{name: o.Name, url: u, headers: http.Header{}, sign: sign, limit: o.Timeout, now: o.Now}
	if h.limit <= 0 {
		h.limit = usualTimeout
	}
	for name, value := range o.Headers {
		if err := CheckHeader(name); err != nil {
			return nil, err
		}
		h.headers.Set(name, value)
	}
	h.headers.Set("User-Agent", "floodmark/"+o.Version)
	h.client = outward.Client(outward.Options{
		Here: u.Scheme == "http", Roots: o.Roots, DialTime: dialTime, HeaderBytes: maxHeaderBytes, Idle: 8, AtOnce: 64, IdleTime: idle, Dial: o.Dial,
	})
	return h, nil
}

// Name implements [verify.Verifier].
func (h *Hook) Name() string { return h.name }

// Close closes idle connections.
func (h *Hook) Close() error {
	h.client.CloseIdleConnections()
	return nil
}

// Verify implements [verify.Verifier].
func (h *Hook) Verify(ctx context.Context, r verify.Request) (verify.Answer, error) {
	report := h.Try(ctx, r)
	if report.Failure != nil {
		return verify.Answer{}, report.Failure
	}
	return report.Answer, nil
}

// A Report describes one request, for debugging.
type Report struct {
	Answer  verify.Answer
	Failure *verify.Failure
	// Tries is how often the request was sent. Took is the time of all tries together.
	Tries int
	Took  time.Duration
	// Status is the status of the last answer, such as «200 OK»; empty if there was none.
	Status string
	// TLS is the version of the connection; empty without TLS.
	TLS string
}

// Try sends a request and reports the result. Transient failures are retried with the same id and a
// new signature, as long as there is time.
func (h *Hook) Try(ctx context.Context, r verify.Request) (out Report) {
	began := h.now()
	defer func() { out.Took = h.now().Sub(began) }()
	ctx, cancel := context.WithTimeout(ctx, h.limit)
	defer cancel()
	body, err := encode(r)
	if err != nil {
		out.Failure = &verify.Failure{Kind: verify.Unshowable, Text: "the call cannot be written down for it"}
		return out
	}
	for pause := firstPause; ; pause *= 4 {
		out.Tries++
		again := h.once(ctx, r.ID, body, &out)
		if !again || out.Tries == maxTries || !sleep(ctx, pause) {
			return out
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// once sends the request and reports whether a retry may help.
func (h *Hook) once(ctx context.Context, id string, body []byte, out *Report) (again bool) {
	out.Status, out.TLS, out.Failure = "", "", nil
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url.String(), bytes.NewReader(body))
	if err != nil {
		out.Failure = &verify.Failure{Kind: verify.Broken, Text: "the request could not be made"}
		return false
	}
	req.Header = h.headers.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	h.sign.headers(req.Header, id, h.now(), body)
	res, err := h.client.Do(req)
	if err != nil {
		out.Failure, again = h.failure(ctx, err)
		return again
	}
	defer res.Body.Close()
	out.Status = status(res.StatusCode)
	if res.TLS != nil {
		out.TLS = tls.VersionName(res.TLS.Version)
	}
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		out.Failure = &verify.Failure{Kind: verify.Redirected, Text: fmt.Sprintf("it answered %s and pointed elsewhere, which is not followed", out.Status)}
		return false
	case res.StatusCode < 200 || res.StatusCode > 299:
		out.Failure = &verify.Failure{Kind: verify.Status, Text: "it answered " + out.Status}
		return passing(res.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, verify.MaxAnswerBytes+1))
	if err != nil {
		out.Failure, _ = h.failure(ctx, err)
		return false // the receiver may have decided already, so it is not asked again
	}
	out.Answer, out.Failure = read(data, id)
	return false
}

// passing reports whether a status is transient.
func passing(code int) bool {
	switch code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// status returns a status with the standard text, because a server may send any text there.
func status(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("%d %s", code, text)
	}
	return fmt.Sprint(code)
}
