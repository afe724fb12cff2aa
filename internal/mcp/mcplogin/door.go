package mcplogin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/floodmark/floodmark/approval"
)

// LoginTime bounds a login, in which the owner has to fill in a page.
const LoginTime = 5 * time.Minute

// A door is the HTTP server on this machine that the issuer sends the owner's browser back to. It
// accepts one answer, which must have the state of this login. Every other request is refused and
// changes nothing.
type door struct {
	address string
	path    string
	web     *http.Server
	came    chan answer
	served  sync.WaitGroup

	mu    sync.Mutex // guards state
	state string     // empty: no answer is awaited
}

// An answer holds the issuer's parameters in the address that the browser came back with.
type answer struct {
	code, iss, failed string
}

// openDoor listens on a port. If own is set, we register with the issuer at this login, and the
// path is random: no other login has it, so an answer that was meant for another login is refused.
func openDoor(ctx context.Context, port int, own bool) (*door, error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen on this machine for the browser: port %d is not free", port)
	}
	d := &door{path: "/callback", came: make(chan answer, 1)}
	if own {
		d.path += "/" + rand.Text()
	}
	d.address = "http://" + l.Addr().String() + d.path
	d.web = &http.Server{Handler: d, ReadHeaderTimeout: dialTime, ReadTimeout: dialTime, WriteTimeout: dialTime, MaxHeaderBytes: maxHead}
	d.served.Go(func() { _ = d.web.Serve(l) }) // its error says that it was closed
	return d, nil
}

func (d *door) close() {
	last, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if d.web.Shutdown(last) != nil {
		_ = d.web.Close() // closes connections that still read the last page
	}
	d.served.Wait()
}

// ServeHTTP takes the answer.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
	} {
		w.Header().Set(name, value)
	}
	q := r.URL.Query()
	if r.Method != http.MethodGet || r.URL.Path != d.path || "http://"+r.Host+d.path != d.address || !d.awaited(q.Get("state")) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte("No login waits for this address. If you are logging in, use the one that the terminal shows.\n")) // for a person
		return
	}
	_, _ = w.Write([]byte("You can close this page. The terminal says whether you are logged in.\n")) // for a person
	d.came <- answer{code: q.Get("code"), iss: q.Get("iss"), failed: q.Get("error")}
}

// awaited reports whether state is the expected one. It is true at most once.
func (d *door) awaited(state string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state == "" || !approval.SameDigest(sha256.Sum256([]byte(d.state)), sha256.Sum256([]byte(state))) {
		return false
	}
	d.state = ""
	return true
}

// expect accepts an answer with this state from now on.
func (d *door) expect(state string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state = state
}

// wait waits for the answer.
func (d *door) wait(ctx context.Context) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, LoginTime)
	defer cancel()
	select {
	case got := <-d.came:
		return got, nil
	case <-ctx.Done():
		return answer{}, errors.New("the browser did not come back from the login page")
	}
}

// from checks that the answer came from the issuer that was asked, so that one issuer's code is
// never sent to another.
func (a answer) from(meta *oauthex.AuthServerMeta) error {
	switch {
	case a.iss != "" && a.iss != meta.Issuer:
		return fmt.Errorf("the answer is %s's, and %s was asked: nothing was accepted", shown(a.iss), shown(meta.Issuer))
	case a.iss == "" && meta.AuthorizationResponseIssParameterSupported:
		return fmt.Errorf("the answer does not say whose it is, as %s promised: nothing was accepted", shown(meta.Issuer))
	case a.failed != "":
		return fmt.Errorf("%w: %s", errRefused, code(a.failed))
	case a.code == "" || len(a.code) > MaxToken:
		return errors.New("the answer holds no code")
	}
	return nil
}
