package people

import (
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/oauth2"
)

// A script answers the requests of a device flow in order, the last answer for ever, and records
// their times.
type script struct {
	says  []any // a status with a body, or an error
	now   func() time.Time
	times []time.Time
}

type said struct {
	status int
	body   string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	now := s.says[min(len(s.times), len(s.says)-1)]
	s.times = append(s.times, s.now())
	if err, is := now.(error); is {
		return nil, err
	}
	a, _ := now.(said)
	return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

// wait waits for the approval at a provider with these answers. The code expires after ten minutes.
func (s *script) wait(t *testing.T) (Pass, error) {
	t.Helper()
	return s.waitFor(t, &oauth2.DeviceAuthResponse{DeviceCode: "d", Expiry: s.now().Add(10 * time.Minute), Interval: 5})
}

func (s *script) waitFor(t *testing.T, asked *oauth2.DeviceAuthResponse) (Pass, error) {
	t.Helper()
	f := &Flow{
		login: Login{Issuer: "https://login.example", ClientID: "c"}, web: &http.Client{Transport: s},
		config: oauth2.Config{ClientID: "c", Endpoint: oauth2.Endpoint{TokenURL: "https://login.example/token", AuthStyle: oauth2.AuthStyleInParams}},
		asked:  asked,
	}
	return f.Wait(t.Context())
}

// One request without an answer does not end a login: it is retried less often, until the code
// expires.
func TestALoginOutlastsAGap(t *testing.T) {
	pending := said{http.StatusBadRequest, `{"error":"authorization_pending"}`}
	down, gone := said{http.StatusServiceUnavailable, "down"}, errors.New("connection reset")
	yes := said{http.StatusOK, `{"access_token":"a","token_type":"Bearer","id_token":"e30.e30.c2ln"}`}
	synctest.Test(t, func(t *testing.T) {
		s := &script{says: []any{pending, gone, down, said{http.StatusTooManyRequests, ""}, pending, yes}, now: time.Now}
		began := time.Now()
		pass, err := s.wait(t)
		if err != nil || pass.Token != "e30.e30.c2ln" {
			t.Fatalf("%v", err)
		}
		for i, want := range []int{5, 10, 20, 35, 55, 75} { // each gap makes it five seconds slower
			if got := int(s.times[i].Sub(began).Seconds()); got != want {
				t.Errorf("question %d after %d seconds, want %d", i, got, want)
			}
		}
	})
	for what, c := range map[string]struct {
		last  any
		says  string
		after time.Duration
	}{
		"a provider that is gone": {gone, "the code has ended, and the identity provider did not answer at last: the connection to login.example broke off", 10 * time.Minute},
		"one that is down":        {down, "did not answer at last: it answers with status 503", 10 * time.Minute},
		"nobody says yes":         {pending, "nobody said yes in time", 10 * time.Minute},
		"somebody says no":        {said{http.StatusBadRequest, `{"error":"access_denied"}`}, "you said no there", 20 * time.Second},
		"another's certificate":   {x509.HostnameError{Certificate: &x509.Certificate{}, Host: "login.example"}, "its certificate is for another host", 20 * time.Second},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, err := (&script{says: []any{gone, pending, c.last}, now: time.Now}).wait(t)
				if took := time.Since(began); err == nil || !strings.Contains(err.Error(), c.says) || took > c.after+20*time.Second || took < c.after {
					t.Errorf("%v after %s", err, took)
				}
			})
		})
	}
}

// A code expires, even if its provider sends no expiry, or a day.
func TestACodeEnds(t *testing.T) {
	pending := said{http.StatusBadRequest, `{"error":"authorization_pending"}`}
	for what, c := range map[string]struct {
		says  oauth2.DeviceAuthResponse
		lives time.Duration
		asks  int
	}{
		"no time":           {lives: 15 * time.Minute, asks: 180},
		"too long a time":   {says: oauth2.DeviceAuthResponse{Interval: 5}, lives: time.Hour, asks: 720},
		"seldom":            {says: oauth2.DeviceAuthResponse{Interval: 1 << 62}, lives: 15 * time.Minute, asks: 15},
		"no time it can be": {says: oauth2.DeviceAuthResponse{Interval: -1}, lives: 15 * time.Minute, asks: 180},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{says: []any{pending}, now: time.Now}
				began := time.Now()
				if what == "too long a time" {
					c.says.Expiry = began.Add(24 * time.Hour)
				}
				toEnd(&c.says, began)
				_, err := s.waitFor(t, &c.says)
				if took := time.Since(began); err == nil || err.Error() != "nobody said yes in time" || took != c.lives || len(s.times) < c.asks-1 || len(s.times) > c.asks {
					t.Errorf("%v after %s and %d questions", err, took, len(s.times))
				}
			})
		})
	}
}
