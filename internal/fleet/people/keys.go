package people

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/time/rate"
)

// How long keys are trusted. A key that the provider has withdrawn is accepted for at most KeysFor.
// While the provider does not answer, its last keys are accepted for KeysWithout more.
const (
	KeysFor     = 5 * time.Minute
	KeysWithout = time.Hour
)

// The rate limit of requests for a provider's keys, so that tokens with invented keys do not make
// us flood the provider.
const (
	keysPace   = rate.Limit(1)
	keysAtOnce = 5
)

// keys are a provider's keys, fetched anew from time to time. The library only fetches keys when it
// finds an unknown one, so it would trust a withdrawn key for ever.
type keys struct {
	ctx context.Context // contains the HTTP client
	url string
	now func() time.Time

	mu    sync.Mutex // guards what is below
	set   *oidc.RemoteKeySet
	since time.Time
	old   *oidc.RemoteKeySet // the previous keys; nil once the provider has sent keys again
	until time.Time          // until when old is accepted
}

// An outcome carries an error out of the library, which keeps only its text.
type outcome struct{ err error }

type outcomeKey struct{}

func newKeys(web *http.Client, url string, now func() time.Time) *keys {
	k := &keys{url: url, now: now}
	paced := *web
	paced.Transport = &pacing{next: web.Transport, pace: rate.NewLimiter(keysPace, keysAtOnce), now: now, shown: k.shown}
	k.ctx = oidc.ClientContext(context.Background(), &paced)
	return k
}

// VerifySignature implements [oidc.KeySet].
func (k *keys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	set, old := k.current()
	payload, err := set.VerifySignature(ctx, token)
	if errors.Is(err, ErrUnreached) && old != nil && k.silent() {
		payload, err = old.VerifySignature(ctx, token)
	}
	if errors.Is(err, ErrUnreached) {
		if seen, ok := ctx.Value(outcomeKey{}).(*outcome); ok {
			seen.err = ErrUnreached
		}
	}
	return payload, err
}

// current returns the keys to try, and the previous ones as long as they are accepted.
func (k *keys) current() (set, old *oidc.RemoteKeySet) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if age := now.Sub(k.since); k.set == nil || age >= KeysFor || age < 0 {
		if k.old == nil && k.set != nil {
			k.old, k.until = k.set, now.Add(KeysWithout)
		}
		k.set, k.since = oidc.NewRemoteKeySet(k.ctx, k.url), now
	}
	if k.old != nil && !now.Before(k.until) {
		k.old = nil
	}
	return k.set, k.old
}

// shown drops the previous keys, because the provider has sent keys again. An error of our rate
// limit then no longer brings the previous keys back.
func (k *keys) shown() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.old = nil
}

// silent reports whether the previous keys are still accepted.
func (k *keys) silent() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.old != nil
}

// pacing limits the rate of requests.
type pacing struct {
	next http.RoundTripper
	pace *rate.Limiter
	now  func() time.Time
	// shown is called when the provider has sent keys.
	shown func()
}

func (p *pacing) RoundTrip(r *http.Request) (*http.Response, error) {
	if !p.pace.AllowN(p.now(), 1) {
		return nil, fmt.Errorf("%w: it was asked for its keys too often", ErrUnreached)
	}
	resp, err := p.next.RoundTrip(r)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.Join(fmt.Errorf("%w: status %d", ErrUnreached, resp.StatusCode), resp.Body.Close())
		resp = nil
	} else if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnreached, err)
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(resp.Body) // bounded has limited it
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreached, err)
	}
	var said struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(data, &said) == nil && len(said.Keys) > 0 {
		p.shown()
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return resp, nil
}

// bounded limits the size and time of whole answers, and requires https for all addresses if the
// provider itself is reached by https. The OIDC libraries have no timeout and do not close all
// bodies.
type bounded struct {
	next   http.RoundTripper
	secure bool
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.secure && r.URL.Scheme != "https" {
		return nil, errors.New("the provider names an address without https")
	}
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	resp, err := b.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err = errors.Join(err, resp.Body.Close()); err == nil && len(data) > maxAnswer {
		err = fmt.Errorf("the provider says more than %d bytes", maxAnswer)
	}
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return resp, nil
}

// CloseIdleConnections passes the call of [http.Client] on.
func (b bounded) CloseIdleConnections() {
	if c, ok := b.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
