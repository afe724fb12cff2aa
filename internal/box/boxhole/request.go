package boxhole

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/floodmark/floodmark/internal/text/address"
)

func readerOf(b []byte) io.Reader { return bytes.NewReader(b) }

// readHead reads a request up to the empty line behind its head. It returns the head and the bytes
// after it that were read already.
func readHead(r io.Reader) (head, rest []byte, err error) {
	const end = "\r\n\r\n"
	buffer := make([]byte, maxHead)
	n := 0
	for n < len(buffer) {
		got, err := r.Read(buffer[n:])
		n += got
		if at := bytes.Index(buffer[:n], []byte(end)); at >= 0 {
			return buffer[:at], buffer[at+len(end) : n], nil
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, errors.New("the head of the request is too long")
}

// wantsOwn returns the path of a request that names no host. It reads only the first line, and
// drops the query.
func wantsOwn(head []byte) (at string, headOnly, own bool) {
	line, _, _ := strings.Cut(string(head), "\r\n")
	words := strings.Split(line, " ")
	if len(words) != 3 || words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0" || words[0] != "GET" && words[0] != "HEAD" || !strings.HasPrefix(words[1], "/") {
		return "", false, false
	}
	at, _, _ = strings.Cut(words[1], "?")
	at, err := url.PathUnescape(at)
	return at, words[0] == "HEAD", err == nil
}

// target reads what a request wants, from its first line only. place is the host and port of a
// CONNECT, exactly as written, if such a place could be granted. name is what is recorded of the
// request, or empty if that is no plain host name.
func target(head []byte) (place, name string) {
	line, _, _ := strings.Cut(string(head), "\r\n")
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", ""
	}
	words := strings.Split(line, " ")
	if len(words) != 3 || words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0" {
		return "", ""
	}
	if words[0] == "CONNECT" {
		if _, ok := address.Place(words[1]); ok {
			return words[1], words[1]
		}
		lower := strings.ToLower(words[1])
		if _, ok := address.Place(lower); ok {
			return "", lower
		}
		host, _, _ := strings.Cut(lower, ":")
		return "", plain(host)
	}
	// A request that is not encrypted is never passed on, so it has no port.
	if host, ok := address.HostOf(words[1]); ok {
		return "", plain(host)
	}
	return "", ""
}

// plain returns host if it can be shown, or an empty string.
func plain(host string) string {
	if !address.PlainHost(host) {
		return ""
	}
	return host
}
