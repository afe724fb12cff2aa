package telegram_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/internal/ask/telegram"
	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
	"github.com/floodmark/floodmark/verify"
)

// failures returns the ways in which a server can fail, each with its message for people.
func failures() map[string]struct {
	fault *bottest.Fault
	kind  verify.FailureKind
	says  string
} {
	type row = struct {
		fault *bottest.Fault
		kind  verify.FailureKind
		says  string
	}
	return map[string]row{
		"timeout":           {&bottest.Fault{Delay: time.Minute, Status: 200}, verify.TimedOut, "no answer within 300ms"},
		"connection lost":   {&bottest.Fault{}, verify.Unreachable, "the connection to 127.0.0.1"},
		"3xx":               {&bottest.Fault{Status: 302, Location: "https://evil.example/"}, verify.Redirected, "points elsewhere (302), which is not followed"},
		"400":               {&bottest.Fault{Status: 400, Body: `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`}, verify.Status, "refused (400): Bad Request: chat not found"},
		"401":               {&bottest.Fault{Status: 401, Body: `{"ok":false,"error_code":401,"description":"Unauthorized"}`}, verify.Status, "the bot token is not accepted"},
		"403":               {&bottest.Fault{Status: 403, Body: `{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}`}, verify.Status, "refused (403): Forbidden: bot was blocked by the user"},
		"404 of a stranger": {&bottest.Fault{Status: 404, Body: "<html>"}, verify.Status, "refused (404)"},
		"429":               {bottest.TooMany(7), verify.Status, "left alone for 7s"},
		"5xx":               {&bottest.Fault{Status: 502, Body: "<html>bad gateway"}, verify.Status, "the server is in trouble (502)"},
		"malformed":         {&bottest.Fault{Status: 200, Body: `{"ok":tru`}, verify.Malformed, "not one of Telegram's"},
		"another type":      {&bottest.Fault{Status: 200, Body: `{"ok":true,"result":"text"}`}, verify.Malformed, "not one of Telegram's"},
		"nothing":           {&bottest.Fault{Status: 200}, verify.Malformed, "not one of Telegram's"},
		"not ok":            {&bottest.Fault{Status: 200, Body: `{"ok":false,"description":"odd"}`}, verify.Status, "refused (200): odd"},
		"too large":         {&bottest.Fault{Status: 200, Body: strings.Repeat(" ", 64<<10+1)}, verify.TooLarge, "larger than 65536 bytes"},
		"slow drip":         {&bottest.Fault{Status: 200, Body: strings.Repeat(" ", 1000), Drip: 20 * time.Millisecond}, verify.TimedOut, "no answer within 300ms"},
	}
}

// callTime is the timeout of a call in these tests.
const callTime = 300 * time.Millisecond

func client(t *testing.T, server *bottest.Server, url string) *telegram.Client {
	t.Helper()
	c, err := telegram.NewClient(telegram.ClientOptions{Base: url, Token: bottest.Token, Time: callTime, Dial: server.Dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// inMemory is a server that is closed when the test ends.
func inMemory(t *testing.T, start func() *bottest.Server) *bottest.Server {
	server := start()
	t.Cleanup(server.Close)
	return server
}

func TestEveryFailureIsReadable(t *testing.T) {
	for name, row := range failures() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := inMemory(t, bottest.InMemory)
				server.Break(func(string, int) *bottest.Fault { return row.fault })
				began := time.Now()
				_, err := client(t, server, server.URL).Me(t.Context())
				checkFailure(t, err, row.kind, "telegram getMe: ", row.says)
				want := time.Duration(0)
				if row.kind == verify.TimedOut {
					want = callTime
				}
				if took := time.Since(began); took != want {
					t.Errorf("it took %s, want %s", took, want)
				}
			})
		})
	}
}

func checkFailure(t *testing.T, err error, kind verify.FailureKind, says ...string) {
	t.Helper()
	said, ok := errors.AsType[*telegram.Error](err)
	if !ok || said.Kind != kind {
		t.Fatalf("got %v (%+v), want kind %s", err, said, kind)
	}
	for _, want := range says {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	for _, form := range []string{"%v", "%+v", "%#v", "%q"} {
		if text := fmt.Sprintf(form, err) + fmt.Sprintf(form, said); strings.Contains(text, "not-a-token") || strings.Contains(text, "evil.example") {
			t.Errorf("the token or a foreign address is in %s", text)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := bottest.InMemory()
		closed.Close()
		_, err := client(t, closed, closed.URL).Me(t.Context())
		checkFailure(t, err, verify.Unreachable, "nothing listens at "+strings.TrimPrefix(closed.URL, "http://"))
		server := inMemory(t, bottest.InMemoryTLS)
		_, err = client(t, server, server.URL).Me(t.Context())
		checkFailure(t, err, verify.Untrusted, "cannot be trusted: its certificate is signed by nobody this machine trusts")
		plain := inMemory(t, bottest.InMemory)
		_, err = client(t, plain, strings.Replace(plain.URL, "http:", "https:", 1)).Me(t.Context())
		checkFailure(t, err, verify.Untrusted, "it does not speak TLS there")
	})
}

// Telegram's answer may contain the address of the request.
func TestTheTokenIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := inMemory(t, bottest.InMemory)
		server.Break(func(string, int) *bottest.Fault {
			return &bottest.Fault{Status: 400, Body: `{"ok":false,"description":"no method /bot` + bottest.Token + `/getMe \u202e` + strings.Repeat("x", 1000) + `"}`}
		})
		_, err := client(t, server, server.URL).Me(t.Context())
		checkFailure(t, err, verify.Status, "/bot[secret]/getMe ⟨U+202E⟩", "…")
		if n := len([]rune(err.Error())); n > 250 {
			t.Errorf("%d characters", n)
		}
	})
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := inMemory(t, bottest.InMemory)
		c := client(t, server, server.URL)
		body := `{"ok":true,"result":{"id":1}}`
		server.Break(func(string, int) *bottest.Fault {
			return &bottest.Fault{Status: 200, Body: body + strings.Repeat(" ", 64<<10-len(body))}
		})
		if _, err := c.Me(t.Context()); err != nil {
			t.Errorf("64 KiB: %v", err)
		}
		for seconds, want := range map[int]time.Duration{-1: time.Second, 0: time.Second, 3600: time.Hour, 3601: time.Hour, 1 << 60: time.Hour} {
			server.Break(func(string, int) *bottest.Fault { return bottest.TooMany(seconds) })
			_, err := c.Me(t.Context())
			if said, ok := errors.AsType[*telegram.Error](err); !ok || said.RetryAfter != want || said.Status != http.StatusTooManyRequests {
				t.Errorf("retry after %d: %+v", seconds, said)
			}
		}
	})
}

func TestCheckServer(t *testing.T) {
	for base, fine := range map[string]bool{
		"https://api.telegram.org": true, "https://bots.firm.example:8081": true, "http://127.0.0.1:8081": true, "http://localhost:8081": true, "http://[::1]:1": true,
		"http://api.telegram.org": false, "http://10.0.0.1": false, "ftp://127.0.0.1": false, "": false, "api.telegram.org": false, "https://": false,
		"https://a:b@host": false, "https://host/?x=1": false, "http://localhost.evil.example": false, "http://127.0.0.1.evil.example": false,
	} {
		if err := telegram.CheckServer(base); (err == nil) != fine {
			t.Errorf("%q: %v", base, err)
		}
	}
	for token, fine := range map[string]bool{
		bottest.Token: true, "1:a": true, "": false, "1:": false, ":a": false, "1:a/b": false, "1:a\n": false, "x1:a": false,
		"1:" + strings.Repeat("a", 126): true, "1:" + strings.Repeat("a", 127): false,
	} {
		err := telegram.CheckToken(token)
		if (err == nil) != fine {
			t.Errorf("%q: %v", token, err)
		}
		if err != nil && len(token) > 4 && strings.Contains(err.Error(), token) {
			t.Errorf("the token is in %v", err)
		}
	}
}
