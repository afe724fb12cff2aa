package auditor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/internal/outward"
)

// The limits of one request. An answer is a word or a line, to which a service adds a few kilobytes
// of its own.
const (
	MaxAnswerBytes = 64 << 10
	maxHeaderBytes = 16 << 10
	idle           = 90 * time.Second
	maxExcerpt     = 200 // bytes of a service's error text that the operator sees
)

// Local reports whether an endpoint's host is localhost or a loopback address.
func Local(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Check returns an error if an endpoint or kind is invalid.
func Check(endpoint string, k Kind) error {
	_, err := address(endpoint, k)
	return err
}

// address returns the address for requests. An endpoint is the service's base address, as its
// documentation gives it, or the whole address.
func address(endpoint string, k Kind) (string, error) {
	u, err := url.Parse(endpoint)
	switch {
	case k != OpenAI && k != Anthropic:
		return "", fmt.Errorf("the auditor's kind is %q: want %s or %s", k, OpenAI, Anthropic)
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", errors.New("the auditor's endpoint is no address (write https://…, or http://127.0.0.1:11434/v1 for a model on this machine)")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("the auditor's endpoint must not hold a password, a query or a fragment (a key belongs under key)")
	case u.Scheme == "http" && !Local(endpoint):
		return "", errors.New("the auditor's endpoint must be https: otherwise another host on the way could answer instead (http is for this machine only)")
	}
	base := strings.TrimRight(u.Path, "/")
	tail := "/chat/completions"
	if k == Anthropic {
		if tail = "/messages"; !strings.HasSuffix(base, "/v1") && !strings.HasSuffix(base, tail) {
			tail = "/v1/messages"
		}
	}
	if !strings.HasSuffix(base, tail) {
		base += tail
	}
	u.Path, u.RawPath = base, ""
	return u.String(), nil
}

// Close closes idle connections.
func (a *Auditor) Close() error {
	a.client.CloseIdleConnections()
	return nil
}

// complete sends one question and returns what the model said.
func (a *Auditor) complete(ctx context.Context, q question) (string, error) {
	body, err := q.body(a.cfg.Kind, a.cfg.Model)
	if err != nil {
		return "", &audit.Failure{Words: "could not be shown the call", Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		return "", &audit.Failure{Words: "has no usable address", Err: err}
	}
	key := ""
	if a.cfg.Key != nil {
		if key, err = a.cfg.Key(); err != nil {
			return "", &audit.Failure{Words: "has no key", Err: err}
		}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "floodmark")
	a.cfg.Kind.sign(req.Header, key)
	res, err := a.client.Do(req)
	if err != nil {
		return "", a.unreached(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, MaxAnswerBytes+1))
	switch {
	case res.StatusCode != http.StatusOK:
		return "", refused(res.StatusCode, data, key)
	case err != nil:
		return "", a.unreached(err)
	case len(data) > MaxAnswerBytes:
		return "", &audit.Failure{Words: fmt.Sprintf("answered with more than %d KB", MaxAnswerBytes>>10)}
	}
	text, err := a.cfg.Kind.text(data)
	if err != nil {
		return "", &audit.Failure{Words: "answered with something that cannot be read", Err: err}
	}
	return text, nil
}

// unreached describes why there was no answer, or only a part of it.
func (a *Auditor) unreached(err error) error {
	f := &audit.Failure{Words: "cannot be reached", Err: err}
	var (
		network net.Error
		dial    *net.OpError
	)
	switch {
	case errors.Is(err, context.Canceled):
		f.Words = "was not waited for"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		f.Words = fmt.Sprintf("did not answer within %s", a.cfg.Timeout)
	case outward.Distrust(err) != "":
		f.Words = "could not prove who it is: no trusted connection"
	case errors.As(err, &dial) && dial.Op == "dial":
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		f.Words = "broke off before its answer was complete"
	}
	return f
}

// refused describes a status other than 200. Its Err has the beginning of the service's own text,
// for the operator; the key is removed from it.
func refused(status int, data []byte, key string) error {
	f := &audit.Failure{}
	switch {
	case status >= 300 && status < 400:
		f.Words = fmt.Sprintf("sent us to another address, which is not followed (HTTP %d)", status)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		f.Words = fmt.Sprintf("does not accept the key (HTTP %d)", status)
	case status == http.StatusNotFound:
		f.Words = fmt.Sprintf("knows no such address or model (HTTP %d)", status)
	case status == http.StatusTooManyRequests:
		f.Words = fmt.Sprintf("was asked too often (HTTP %d)", status)
	case status >= 400 && status < 500:
		f.Words = fmt.Sprintf("did not take the question (HTTP %d)", status)
	case status >= 500:
		f.Words = fmt.Sprintf("is out of order (HTTP %d)", status)
	default:
		f.Words = fmt.Sprintf("answered with an unexpected status (HTTP %d)", status)
	}
	text := string(data)
	if key != "" {
		text = strings.ReplaceAll(text, key, "[secret]")
	}
	text = audit.ParseReason(text)
	if len(text) > maxExcerpt {
		text = strings.ToValidUTF8(text[:maxExcerpt], "") + "…"
	}
	if text != "" {
		f.Err = errors.New(text)
	}
	return f
}
