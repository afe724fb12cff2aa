package fleetlink

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/wire"
)

const (
	// callTime bounds one call.
	callTime = time.Minute
	// maxAnswer bounds one answer of the fleet; the largest is a bundle.
	maxAnswer = 4 << 20
)

// A Caller makes calls to one fleet, with one token, over TLS.
type Caller struct {
	// Web adds the token to each request. It follows no redirect.
	Web *http.Client
	// Base is the fleet's address.
	Base string

	host      string
	fleet     wire.MachineServiceClient
	transport *http.Transport
}

// Dial returns a caller for a fleet. Nothing is sent yet.
func Dial(address, authority, token string) (*Caller, error) {
	if err := CheckURL(address); err != nil {
		return nil, err
	}
	roots, err := Roots(authority)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	t := &http.Transport{
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots}, ForceAttemptHTTP2: true,
		IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 2, TLSHandshakeTimeout: 20 * time.Second,
	}
	// Redirects are not followed, because a token is only for the fleet it was given for.
	web := &http.Client{
		Transport: bearer{t, token}, Timeout: callTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c := &Caller{Web: web, Base: strings.TrimSuffix(address, "/"), host: u.Host, transport: t}
	c.fleet = wire.NewMachineServiceClient(web, c.Base, connect.WithAcceptCompression("gzip", nil, nil), connect.WithReadMaxBytes(maxAnswer))
	return c, nil
}

// Close closes the connections.
func (c *Caller) Close() { c.transport.CloseIdleConnections() }

// bearer adds a token to requests.
type bearer struct {
	next  http.RoundTripper
	token string
}

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// Why returns what went wrong with a call, for people. It contains no secret.
func (c *Caller) Why(err error) string {
	var said *connect.Error
	var refused *BundleError
	switch {
	case err == nil:
		return ""
	case Ended(err):
		return "the fleet says that " + machines.WhyEnded
	case errors.Is(err, errOwn):
		return "this laptop's own journal cannot be read; «floodmark journal verify» says more"
	case errors.As(err, &said) && connect.IsWireError(err):
		return "the fleet says: " + shorten(said.Message())
	case errors.As(err, &refused):
		return refused.Error()
	case outward.Distrust(err) != "":
		return outward.Distrust(err)
	case errors.Is(err, context.DeadlineExceeded):
		return c.host + " does not answer"
	}
	return outward.Unreached(err, c.host)
}

// Ended reports whether the fleet no longer knows this machine.
func Ended(err error) bool {
	return connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeUnauthenticated
}

// maxSaid bounds a message of the fleet that is repeated.
const maxSaid = 200

func shorten(text string) string {
	if runes := []rune(text); len(runes) > maxSaid {
		return string(runes[:maxSaid]) + "…"
	}
	return text
}

// whyNot returns why a laptop did not join, and what to do, for people.
func (c *Caller) whyNot(err error, named bool) string {
	const need = "it takes a token that «floodmark fleet token create NAME --kind enrol» made there, or a login with the role laptop"
	switch {
	case Ended(err) && unknownPerson(err) != "":
		return "the fleet says: " + unknownPerson(err) + "; " + need
	case Ended(err):
		return "the fleet does not know what you showed: it is no token of its own, or was revoked, or has ended; " + need
	case connect.IsWireError(err) && connect.CodeOf(err) == connect.CodePermissionDenied:
		return "what you showed may not enrol laptops; " + need
	case outward.Distrust(err) == outward.SignedByNobody && named:
		return c.Base + " was not asked: " + outward.SignedByOthers + "; name the file with the right authority with --ca"
	case outward.Distrust(err) == outward.SignedByNobody:
		return c.Base + " was not asked: " + outward.SignedByNobody + "; name the file with its certificate authority with --ca"
	}
	return c.Why(err)
}

// unknownPerson returns why a fleet does not know a person, if it says so.
func unknownPerson(err error) string {
	var said *connect.Error
	if !errors.As(err, &said) {
		return ""
	}
	why, is := strings.CutPrefix(said.Message(), "nobody known: ")
	if !is || strings.HasPrefix(why, "send ") { // that text is for programs
		return ""
	}
	return shorten(why)
}

// Enrol makes this laptop a machine of the fleet. credential belongs to the person or the program
// that sets laptops up; it is not stored.
func Enrol(ctx context.Context, address, authority, credential string, r *wire.EnrolRequest, now time.Time) (Membership, error) {
	c, err := Dial(address, authority, credential)
	if err != nil {
		return Membership{}, err
	}
	defer c.Close()
	got, err := c.fleet.Enrol(ctx, r)
	if err != nil {
		return Membership{}, errors.New(c.whyNot(err, authority != ""))
	}
	m := Membership{
		URL: c.Base, Authority: authority, Tenant: got.GetTenant(), Machine: got.GetMachine(), Token: got.GetToken(), Keys: got.GetBundleKeys(), Joined: now.UTC(),
	}
	return m, m.check()
}

// Leave tells the fleet that this machine has left.
func Leave(ctx context.Context, m Membership) error {
	c, err := Dial(m.URL, m.Authority, m.Token)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.fleet.LeaveFleet(ctx, &wire.LeaveFleetRequest{}); err != nil && !Ended(err) {
		return errors.New(c.Why(err))
	}
	return nil
}
