package mirrorfetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/box/boxhole"
	"github.com/floodmark/floodmark/internal/box/mirror"
	"github.com/floodmark/floodmark/internal/text/address"
)

// A web sends requests to registries. A request contains no header and no body from the box.
type web struct {
	client *http.Client
	hosts  []string // the hosts that may be asked
}

// The limits of one request.
const (
	maxRedirects = 4
	maxHeader    = 64 << 10
	headTime     = 20 * time.Second
	maxIndex     = 64 << 20
	bodyTime     = 5 * time.Minute
)

var errElsewhere = errors.New("the registry sends to a host that is not configured")

func (f *Fetcher) newWeb() *web {
	w := &web{hosts: slices.Clone(f.From.Hosts)}
	for _, base := range []string{f.From.Go, f.From.Npm, f.From.PyPI} {
		if u, err := url.Parse(base); err == nil {
			w.hosts = append(w.hosts, u.Host)
		}
	}
	dial := f.Dial
	if dial == nil {
		dial = outward
	}
	w.client = &http.Client{
		Transport: &http.Transport{
			DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: f.Roots, MinVersion: tls.VersionTLS12}, DisableCompression: true,
			MaxResponseHeaderBytes: maxHeader, ResponseHeaderTimeout: headTime, TLSHandshakeTimeout: headTime,
			MaxConnsPerHost: atOnce, IdleConnTimeout: headTime,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errors.New("the registry redirects without end")
			}
			r.Header.Del("Referer")
			return w.check(r.URL)
		},
	}
	return w
}

// outward dials a host name at a public address. The dot it appends keeps the resolver from trying
// search domains.
func outward(ctx context.Context, network, place string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(place)
	if err != nil {
		return nil, err
	}
	return boxhole.Outward().DialContext(ctx, network, net.JoinHostPort(host+".", port))
}

// check refuses an address unless it is https to a configured host.
func (w *web) check(u *url.URL) error {
	if u.Scheme != "https" || u.User != nil || !slices.Contains(w.hosts, u.Host) {
		return errElsewhere
	}
	return nil
}

// Check refuses settings with an invalid registry or host.
func (r Registries) Check() error {
	for name, base := range map[string]string{"go": r.Go, "npm": r.Npm, "pypi": r.PyPI} {
		u, err := url.Parse(base)
		if err != nil || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !host(u.Host) {
			return fmt.Errorf("%s: %.100q is no address of a registry (write https://registry.example)", name, base)
		}
	}
	for _, h := range r.Hosts {
		if !host(h) {
			return fmt.Errorf("hosts: %.100q is no host (write files.example)", h)
		}
	}
	return nil
}

// host reports whether h is a public host name, with or without a port.
func host(h string) bool {
	if !strings.Contains(h, ":") {
		h += ":443"
	}
	_, ok := address.Place(h)
	return ok
}

// get requests an address and passes the body of the answer to take.
func (w *web) get(ctx context.Context, at, accept string, take func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, bodyTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return errors.New("its address cannot be written")
	}
	if err := w.check(r.URL); err != nil {
		return err
	}
	r.Header.Set("User-Agent", "floodmark")
	r.Header.Set("Accept", accept)
	answer, err := w.client.Do(r)
	if err != nil {
		return reason(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the registry answers %d", answer.StatusCode)
	}
	return take(answer.Body)
}

// reason returns an error without any text from a registry.
func reason(err error) error {
	switch {
	case errors.Is(err, errElsewhere):
		return errElsewhere
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return errors.New("the registry takes too long")
	}
	return errors.New("the registry cannot be reached")
}

// text requests an address and returns the answer, which may have at most that many bytes.
func (w *web) text(ctx context.Context, at, accept string, most int64) (data []byte, err error) {
	err = w.get(ctx, at, accept, func(body io.Reader) error {
		if data, err = io.ReadAll(io.LimitReader(body, most+1)); err != nil {
			return errors.New("the registry's answer breaks off")
		}
		if int64(len(data)) > most {
			return errors.New("the registry's answer is too long")
		}
		return nil
	})
	return data, err
}

// file downloads a file, and stores it in the mirror if verify accepts it.
func (f *Fetcher) file(ctx context.Context, from, at, kind string, verify func(file *os.File, sum string) error) (mirror.Item, error) {
	to, err := f.Store.Create()
	if err != nil {
		return mirror.Item{}, err
	}
	defer func() { _ = os.Remove(to.Name()) }() // on success, the file has another name by then
	defer to.Close()
	i := mirror.Item{Path: at, Kind: kind}
	err = f.web.get(ctx, from, "*/*", func(body io.Reader) error {
		i.SHA256, i.Size, err = mirror.Fill(to, body)
		return err
	})
	if err != nil {
		return mirror.Item{}, err
	}
	if _, err := to.Seek(0, io.SeekStart); err != nil {
		return mirror.Item{}, err
	}
	if err := verify(to, i.SHA256); err != nil {
		return mirror.Item{}, err
	}
	return i, f.Store.Keep(to.Name(), i.SHA256)
}

// errHash means that the content from a registry is not what the lock file pins.
var errHash = errors.New("the registry has something else than what the lock file pins")
