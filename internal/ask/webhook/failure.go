package webhook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/verify"
)

// failure describes a transport error, and reports whether a retry may help. The text contains
// nothing that the server sent.
func (h *Hook) failure(ctx context.Context, err error) (_ *verify.Failure, again bool) {
	if ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return &verify.Failure{Kind: verify.TimedOut, Text: "it did not answer within " + seconds(h.limit)}, false
	}
	if text := outward.Distrust(err); text != "" {
		if text == outward.SignedByNobody {
			text += " (name who signs it in «ca:» if it is your own)"
		}
		return &verify.Failure{Kind: verify.Untrusted, Text: "the connection to " + h.url.Host + " cannot be trusted: " + text}, false
	}
	switch {
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return &verify.Failure{Kind: verify.TooLarge, Text: "the headers of its answer are longer than 16 KB"}, false
	case strings.Contains(err.Error(), "malformed HTTP"):
		return &verify.Failure{Kind: verify.Malformed, Text: "its answer was not understood: it is not HTTP"}, false
	}
	return &verify.Failure{Kind: verify.Unreachable, Text: outward.Unreached(err, h.url.Host)}, !errors.Is(err, outward.ErrNotHere)
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}

// Hint says what to do about a missing answer.
func Hint(k verify.FailureKind) string {
	switch k {
	case verify.Unreachable:
		return "start the receiver, or mend «url:»"
	case verify.Untrusted:
		return "give the receiver a certificate for its host; one of your own maker needs «ca:»"
	case verify.Redirected:
		return "write the address it points to into «url:»"
	case verify.Status:
		return "look into the receiver's log: is the path right, and does it accept the signature and the headers?"
	case verify.Malformed, verify.TooLarge:
		return `answer {"decision":"allow"} or {"decision":"deny","reason":"…"} and nothing else`
	case verify.TimedOut:
		return "make the receiver faster, or raise «timeout:»"
	default:
		return "try again"
	}
}

// Test is a request about a tool that does not exist, so that nothing can run after any answer.
func Test(id string, now time.Time) verify.Request {
	return verify.Request{
		ID: id, At: now, Session: "floodmark/doctor", Agent: "floodmark", Tool: "floodmark_test", Reach: floodmark.Free,
		Params: []byte(`{"note":"a test by «floodmark doctor webhook»: nothing runs"}`),
	}
}
