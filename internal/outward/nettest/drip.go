package nettest

import (
	"net/http"
	"time"
)

// Drip answers a request one byte at a time, with a pause after each, until body is sent or the
// client is gone.
func Drip(w http.ResponseWriter, r *http.Request, body []byte, pause time.Duration) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := range body {
		if _, err := w.Write(body[i : i+1]); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}
