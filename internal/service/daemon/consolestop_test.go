package daemon

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// A monitor that is stopped ends the stream of a page without an error. By that the page knows that
// the monitor was stopped and did not only become unreachable.
func TestAStoppedMonitorEndsItsPages(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.base+"/floodmark.v1.OwnerService/Watch", bytes.NewReader([]byte("\x00\x00\x00\x00\x02{}")))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Content-Type", "application/connect+json")
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := new(http.Client).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 5)); err != nil { // the stream stands
		t.Fatal(err)
	}
	if err := c.stop(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.HasSuffix(rest, []byte("\x02\x00\x00\x00\x02{}")) {
		t.Errorf("%q, %v", rest, err)
	}
}
