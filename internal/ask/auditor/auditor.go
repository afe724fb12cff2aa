// Package auditor asks a model for its opinion on a call: any service with the API of OpenAI's chat
// completions or of Anthropic's messages, remote or on this machine.
//
// It sends only an [audit.Case], so tool results and the agent's text cannot get into a request. It
// follows no redirects, sends unencrypted requests only to this machine, and bounds the time and
// size of answers. If an answer is not clear, the opinion is unsure.
package auditor

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/internal/outward"
)

// A Config names the service to ask, and the limits for asking it.
type Config struct {
	// Endpoint is the address of the service: https, or http on this machine.
	Endpoint string
	Kind     Kind
	Model    string
	// Key returns the key for requests. It is nil, or returns "", if there is none. It is called at
	// every question, and its value is not stored.
	Key func() (string, error)
	// Timeout bounds one case with both of its questions.
	Timeout time.Duration
	// Content allows the service to see the content that a call would write to files.
	Content bool
	Budget  Budget
	// Now is the clock. Transport, if set, replaces the transport to the network; it is for tests.
	Now       func() time.Time
	Transport http.RoundTripper
	// Dial connects to the service; nil uses the machine's own network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// The default timeout and the longest one.
const (
	DefaultTimeout = 5 * time.Second
	MaxTimeout     = 30 * time.Second // the monitor waits no longer
)

// An Auditor asks one service. It is safe for concurrent use.
type Auditor struct {
	cfg     Config
	url     string
	client  *http.Client
	secret  [sha256.Size]byte // the key of this process for the names of cases in the cache
	cache   cache
	budget  ledger
	breaker breaker
	seats   chan struct{}
	health  health
}

// maxAtOnce bounds the cases that are sent to the service at the same time. Further cases wait,
// within their own timeout.
const maxAtOnce = 8

// New returns an auditor. It sends no request yet.
func New(c Config) (*Auditor, error) {
	if c.Model == "" {
		return nil, errors.New("the auditor needs the name of a model")
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Timeout < 0 || c.Timeout > MaxTimeout {
		return nil, fmt.Errorf("the auditor's timeout is %s: want at most %s", c.Timeout, MaxTimeout)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	to, err := address(c.Endpoint, c.Kind)
	if err != nil {
		return nil, err
	}
	client := outward.Client(outward.Options{
		Here: Local(c.Endpoint), DialTime: MaxTimeout, HeaderBytes: maxHeaderBytes, Idle: maxAtOnce, IdleTime: idle, HTTP2: true, Dial: c.Dial,
	})
	if c.Transport != nil {
		client.Transport = c.Transport
	}
	a := &Auditor{cfg: c, url: to, client: client, seats: make(chan struct{}, maxAtOnce)}
	a.budget.limit = c.Budget.orUsual()
	if _, err := rand.Read(a.secret[:]); err != nil {
		return nil, fmt.Errorf("draw a key for the auditor: %w", err)
	}
	return a, nil
}

// Audit gives an opinion on a case. It returns a cached clear answer to exactly the same case
// without asking again; such answers also use up the budget.
func (a *Auditor) Audit(ctx context.Context, from audit.Asker, c audit.Case) (audit.Opinion, error) {
	if !c.Fits() {
		return a.note(audit.Opinion{Says: audit.Unsure, Reason: "it was not asked: the call is too large to be shown as a whole"}, nil)
	}
	name := a.name(from.Tenant, c)
	if spent := a.budget.take(from); spent != "" {
		return a.note(audit.Opinion{Says: audit.Unsure, Reason: "it was not asked: " + spent}, nil)
	}
	if o, ok := a.cache.get(name, a.cfg.Now()); ok {
		return a.note(o, nil)
	}
	began := a.cfg.Now()
	o, err := a.guarded(ctx, c)
	a.budget.spend(from, a.cfg.Now().Sub(began))
	if err == nil {
		a.cache.put(name, o, a.cfg.Now())
	}
	return a.note(o, err)
}

// name returns a keyed digest of a case: of the prompt, in which every value is quoted byte by
// byte, and of the fields that are not in the prompt. The key is random, so the digest has no
// meaning outside this process.
func (a *Auditor) name(tenant string, c audit.Case) caseName {
	mac := hmac.New(sha256.New, a.secret[:])
	fmt.Fprintf(mac, "%q %q %q", tenant, c.Tool.Agent, c.Prompt().String())
	for _, arg := range c.Arguments {
		fmt.Fprintf(mac, " %d %v", arg.Chars, arg.File)
	}
	return caseName(mac.Sum(nil))
}

// guarded asks the service. It does not if the service has failed too often, or if no request slot
// becomes free in time.
func (a *Auditor) guarded(ctx context.Context, c audit.Case) (o audit.Opinion, err error) {
	v, ok := a.breaker.enter(a.cfg.Now())
	if !ok {
		return audit.Opinion{}, &audit.Failure{Words: fmt.Sprintf("failed %d times in a row and is left alone for another %s", maxFailures, v.wait.Round(time.Second))}
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	result := failed // the result if something panics
	defer func() { a.breaker.leave(v, a.cfg.Now(), result) }()
	select {
	case a.seats <- struct{}{}:
		defer func() { <-a.seats }()
	case <-ctx.Done():
		result = unknown // other cases take the service's time, so this is no failure of it
		return audit.Opinion{}, &audit.Failure{Words: "has too much to do", Err: ctx.Err()}
	}
	if !a.cfg.Content {
		c = c.WithoutFiles()
	}
	o, err = a.ask(ctx, c.Prompt())
	switch {
	case err == nil:
		result = worked
	case caller.Err() != nil:
		result = unknown // the caller has cancelled
	}
	return o, err
}

// ask sends the question. If the answer is "block" without a reason, it asks for the reason in a
// second request, whose answer is only shown to people.
func (a *Auditor) ask(ctx context.Context, p audit.Prompt) (audit.Opinion, error) {
	text, err := a.complete(ctx, question{Prompt: p, tokens: answerTokens})
	if err != nil {
		return audit.Opinion{}, err
	}
	o, err := audit.ParseOpinion(text)
	if errors.Is(err, audit.ErrNoOpinion) {
		o, err = audit.Opinion{Says: audit.Unsure, Reason: "its answer was none of allow, block and unsure"}, nil
	}
	if err != nil || o.Says != audit.Block || o.Reason != "" {
		return o, err
	}
	if text, err = a.complete(ctx, question{Prompt: p, said: o.Says.String(), tokens: reasonTokens}); err == nil {
		o.Reason = audit.ParseReason(text)
	}
	return o, nil
}
