package mcplogin

import (
	"strings"
	"testing"
	"time"
)

// Errors contain no text of an issuer's answer, and a stored token fits into a header.
func FuzzReadGiven(f *testing.F) {
	f.Add(200, []byte(`{"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":"r","scope":"a b"}`))
	f.Add(200, []byte(`{"access_token":"a","token_type":"Bearer","expires_in":1e400}`))
	f.Add(200, []byte(`{"access_token":"a\r\nX: y","token_type":"Bearer"}`))
	f.Add(400, []byte(`{"error":"WORDS","error_description":"WORDS"}`))
	f.Add(200, []byte(`{"error":"WORDS"}`))
	now := time.Unix(1e9, 0)
	f.Fuzz(func(t *testing.T, status int, data []byte) {
		got, err := readGiven(status, data, now)
		if err != nil {
			if strings.Contains(err.Error(), "WORDS") {
				t.Error(err)
			}
			return
		}
		if got.access == "" || strings.ContainsAny(string(got.access+got.refresh), " \r\n\t") || len(got.access) > MaxToken || !got.until.IsZero() && got.until.Before(now) {
			t.Errorf("%d, %d, %v", len(got.access), len(got.refresh), got.until)
		}
	})
}

// The limit, and one beyond.
func TestTokenLimit(t *testing.T) {
	for n, want := range map[int]bool{MaxToken: true, MaxToken + 1: false} {
		_, err := readGiven(200, []byte(`{"token_type":"Bearer","access_token":"`+strings.Repeat("a", n)+`"}`), time.Unix(1e9, 0))
		if (err == nil) != want {
			t.Errorf("%d: %v", n, err)
		}
	}
}
