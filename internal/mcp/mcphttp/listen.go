package mcphttp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// listenTries bounds the attempts in a row in which no event with an id arrives.
	listenTries = 5
	listenPause = time.Second
)

// listen keeps the stream open on which a server sends notifications and requests. The SDK does
// this only for clients of its own. If a server has no such stream, or closes it again and again,
// listen gives up.
func (r *remote) listen() {
	last := ""
	for tries := 0; tries < listenTries; tries++ {
		before := last
		again, err := r.stream(&last)
		if !again || err != nil && r.ctx.Err() != nil {
			return
		}
		if last != before {
			tries = 0
		}
		select {
		case <-time.After(listenPause << tries):
		case <-r.ctx.Done():
			return
		}
	}
}

// stream reads one stream to its end. It returns whether another try makes sense.
func (r *remote) stream(last *string) (again bool, err error) {
	req, err := http.NewRequestWithContext(r.ctx, http.MethodGet, r.server.URL, http.NoBody)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if id := r.inner.SessionID(); id != "" {
		req.Header.Set(sessionIDHeader, id)
	}
	if *last != "" {
		req.Header.Set("Last-Event-ID", *last)
	}
	res, err := r.client.Do(req)
	if err != nil {
		return true, plain(err)
	}
	defer res.Body.Close()
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); res.StatusCode != http.StatusOK || kind != "text/event-stream" {
		return false, nil
	}
	return true, events(res.Body, r.server.MaxAnswer, func(id string, data []byte) error {
		if id != "" {
			*last = id
		}
		if len(data) == 0 {
			return nil
		}
		msg, err := jsonrpc.DecodeMessage(data)
		if err != nil {
			return err
		}
		if req, ok := msg.(*jsonrpc.Request); ok { // responses come on the stream of their call
			r.give(req)
		}
		return nil
	})
}

// events reads server-sent events and gives each to f.
func events(body io.Reader, most int64, f func(id string, data []byte) error) error {
	in := bufio.NewReader(body)
	var id string
	var data []byte
	size, full := int64(0), false
	for {
		line, err := in.ReadSlice('\n')
		size += int64(len(line))
		if size > most {
			return fmt.Errorf("an event has more than %d bytes", most)
		}
		long := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !long {
			if errors.Is(err, io.EOF) {
				return nil // an incomplete event is dropped
			}
			return err
		}
		if full { // the rest of a long data line
			data = append(data, bytes.TrimRight(line, "\r\n")...)
			full = long
			continue
		}
		line = bytes.TrimRight(line, "\r\n")
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0:
			if err := f(id, data); err != nil {
				return err
			}
			id, data, size = "", nil, 0
		case string(field) == "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
			full = long
		case string(field) == "id":
			id = string(value)
		case long:
			return errors.New("a line of an event is too long")
		}
	}
}
