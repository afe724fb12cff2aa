package webhook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/verify"
)

// failure words what went wrong on the way, and whether it may pass. Nothing the
// other side sent is in the words.
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
