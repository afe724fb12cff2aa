package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/verify"
)

// Server is Telegram's own server, the default.
const Server = "https://api.telegram.org"

// The limits of one call. Telegram's own answers are far smaller: a hundred button presses with
// their messages take less than a megabyte.
const (
	maxAnswerBytes = 64 << 10         // of one answer
	maxUpdateBytes = 4 << 20          // of one batch of updates
	callTime       = 10 * time.Second // for a call, its answer read to the end
	pollTime       = 25 * time.Second // how long Telegram holds a poll open
	maxErrorRunes  = 200              // of Telegram's error message
	maxTokenBytes  = 128              // a real one has 46
)

// A Client calls the Bot API. Its token is part of every address, so its errors never contain an
// address. It is safe for concurrent use.
type Client struct {
	base, token, host string
	web               *http.Client
	time              time.Duration // for one call
}

// ClientOptions configure a client.
type ClientOptions struct {
	// Base is the server; empty means [Server]. Another server may be reached without TLS only on
	// this machine.
	Base string
	// Token is the bot's token.
	Token string
	// Time bounds one call; zero means the usual.
	Time time.Duration
	// Dial connects to the server; nil uses the machine's own network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// NewClient returns a client. It opens no connection yet.
func NewClient(o ClientOptions) (*Client, error) {
	if o.Base == "" {
		o.Base = Server
	}
	if o.Time == 0 {
		o.Time = callTime
	}
	if err := CheckServer(o.Base); err != nil {
		return nil, err
	}
	if err := CheckToken(o.Token); err != nil {
		return nil, err
	}
	u, err := url.Parse(o.Base)
	if err != nil {
		return nil, errors.New("the server's address is not one")
	}
	return &Client{
		base: strings.TrimRight(o.Base, "/"), token: o.Token, host: u.Host, time: o.Time,
		web: outward.Client(outward.Options{
			Here: u.Scheme == "http", DialTime: o.Time, HeaderBytes: maxAnswerBytes, Idle: maxSenders + 2, IdleTime: 2 * pollTime, HTTP2: true, Dial: o.Dial,
		}),
	}, nil
}

// ID returns the bot's number, which is not secret.
func (c *Client) ID() string {
	id, _, _ := strings.Cut(c.token, ":")
	return id
}

// Close closes idle connections.
func (c *Client) Close() { c.web.CloseIdleConnections() }

// CheckServer refuses an address to which a bot's token must not be sent.
func CheckServer(base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("the server's address is not one (write https://host)")
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return errors.New("the server must be https: anybody on the way could answer instead of you (http is for this machine only)")
	}
	return nil
}

// CheckToken refuses a text that cannot be a bot's token. It never repeats the text.
func CheckToken(token string) error {
	if len(token) > maxTokenBytes || !regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`).MatchString(token) {
		return errors.New("the bot token does not look like one (@BotFather gives it: digits, a colon, letters)")
	}
	return nil
}

// An Error is a failed call. It contains no address and no token.
type Error struct {
	// Method is the called method. Status is the HTTP status, or zero if there was no answer.
	Method string
	Status int
	// Text is the message for people.
	Text string
	// RetryAfter is how long Telegram asks us to wait.
	RetryAfter time.Duration
	// Kind classifies the failure.
	Kind verify.FailureKind
}

// Error implements error.
func (e *Error) Error() string { return "telegram " + e.Method + ": " + e.Text }

// final reports whether a retry cannot help.
func (e *Error) final() bool {
	return e.Status >= 400 && e.Status < 500 && e.Status != http.StatusTooManyRequests && e.Status != http.StatusConflict
}

// answer is the envelope of all Telegram's answers.
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	ErrorCode   int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int `json:"retry_after"`
	} `json:"parameters"`
}

// maxRetryAfter bounds how long we wait if Telegram asks us to.
const maxRetryAfter = time.Hour

// call calls one method. The timeout covers the whole answer, so that an answer that arrives byte
// by byte cannot last longer.
func (c *Client) call(ctx context.Context, method string, in, out any, most int64, limit time.Duration) error {
	body, err := json.Marshal(in)
	if err != nil {
		return &Error{Method: method, Kind: verify.Broken, Text: "the request cannot be written"}
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(bounded, http.MethodPost, c.base+"/bot"+c.token+"/"+method, bytes.NewReader(body))
	if err != nil {
		return &Error{Method: method, Kind: verify.Broken, Text: "the request cannot be written"}
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.web.Do(req)
	if err != nil {
		return c.unreached(ctx, bounded, method, err, limit)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return c.unreached(ctx, bounded, method, err, limit)
	}
	if int64(len(data)) > most {
		return &Error{Method: method, Kind: verify.TooLarge, Text: fmt.Sprintf("the answer is larger than %d bytes", most)}
	}
	return c.read(method, resp.StatusCode, data, out)
}

// read decodes an answer.
func (c *Client) read(method string, status int, data []byte, out any) error {
	if status >= 300 && status < 400 {
		return &Error{Method: method, Status: status, Kind: verify.Redirected, Text: fmt.Sprintf("the server points elsewhere (%d), which is not followed", status)}
	}
	var a answer
	wrong := json.Unmarshal(data, &a)
	if wrong == nil && a.OK && status == http.StatusOK {
		if out == nil {
			return nil
		}
		if json.Unmarshal(a.Result, out) == nil {
			return nil
		}
	}
	e := &Error{Method: method, Status: status, Kind: verify.Status}
	switch {
	case status == http.StatusOK && (wrong != nil || a.OK):
		e.Status, e.Kind, e.Text = 0, verify.Malformed, "the answer is not one of Telegram's"
	case status == http.StatusUnauthorized, status == http.StatusNotFound && a.ErrorCode == http.StatusNotFound:
		e.Status, e.Text = http.StatusUnauthorized, "the bot token is not accepted (@BotFather shows it, or makes a new one)"
	case status == http.StatusTooManyRequests:
		// Bounded before multiplying: a huge number would overflow.
		e.RetryAfter = time.Duration(min(max(a.Parameters.RetryAfter, 1), int(maxRetryAfter/time.Second))) * time.Second
		e.Text = fmt.Sprintf("too many messages at once; it wants to be left alone for %s", e.RetryAfter)
	case status >= 500:
		e.Text = fmt.Sprintf("the server is in trouble (%d)", status)
	default:
		e.Text = fmt.Sprintf("refused (%d)", status)
		if said := c.said(a.Description); said != "" {
			e.Text += ": " + said
		}
	}
	return e
}

// said returns Telegram's error message in a form that can be shown: without the token, on one
// line, and not too long.
func (c *Client) said(text string) string {
	text = strings.ReplaceAll(text, c.token, "[secret]")
	return cutRunes(floodmark.Visible(text), maxErrorRunes)
}

// unreached describes why there was no answer. It does not show the library's error, because that
// contains the address, and the address contains the token.
func (c *Client) unreached(ctx, bounded context.Context, method string, err error, limit time.Duration) error {
	if ctx.Err() != nil {
		return &Error{Method: method, Kind: verify.Broken, Text: "given up"}
	}
	if timeout := net.Error(nil); bounded.Err() != nil || errors.As(err, &timeout) && timeout.Timeout() {
		return &Error{Method: method, Kind: verify.TimedOut, Text: fmt.Sprintf("no answer within %s", limit)}
	}
	if text := outward.Distrust(err); text != "" {
		return &Error{Method: method, Kind: verify.Untrusted, Text: "the connection to " + c.host + " cannot be trusted: " + text}
	}
	return &Error{Method: method, Kind: verify.Unreachable, Text: outward.Unreached(err, c.host)}
}
