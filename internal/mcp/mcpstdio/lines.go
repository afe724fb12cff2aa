// Package mcpstdio speaks MCP over the standard streams of a program, one message a line, and starts
// and ends servers that do.
package mcpstdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/format/strictjson"
)

// ErrTooLong says that a message was over [MaxMessage].
var ErrTooLong = errors.New("a message is too long")

var errUnread = errors.New("it does not read what it is told")

// lastRead is how long we read from a side that accepts no more messages: it may have ended after
// it answered.
const lastRead = time.Second

// The limits on what one side may make us store, or say.
const (
	// MaxMessage bounds one message, as the SDK does.
	MaxMessage = 16 << 20
	// maxBatch bounds the messages in one batch.
	maxBatch = 1024
	// maxSkipped bounds the reason why a line was skipped, in bytes.
	maxSkipped = 300
)

// lines is a connection with one message a line. It skips a line that is no message and goes on, as
// clients and servers in other languages do; the SDK's own connection does not. It splits a batch,
// so that each message in it is checked like a message alone.
type lines struct {
	write func([]byte) (int, error)
	close func() error
	// skipped is called with the reason why a line was skipped.
	skipped func(string)

	in     chan incoming
	queue  []jsonrpc.Message // of a batch; only Read touches it
	closed chan struct{}
	once   sync.Once
	// dead is closed a little after a write failed or was cut. No further message can be written
	// then, but what the other side wrote before it ended is still read.
	dead chan struct{}
	// patience, unless zero, is how long a message may stay unread, if the system can tell.
	patience time.Duration
	until    func(time.Time) error
	err      error      // of close; read after once
	mu       sync.Mutex // one writer at a time, and guards broken
	broken   bool       // something was not written
}

type incoming struct {
	line []byte
	err  error
}

// Lines returns a connection over two streams with one message a line. Closing it calls done once.
// A read that does not return after done keeps a goroutine until the stream ends.
func Lines(r io.Reader, w io.Writer, done func() error, skipped func(string)) mcp.Connection {
	if skipped == nil {
		skipped = func(string) {}
	}
	return newLines(r, w, done, skipped, 0)
}

func newLines(r io.Reader, w io.Writer, done func() error, skipped func(string), patience time.Duration) *lines {
	l := &lines{
		write: w.Write, close: done, skipped: skipped, patience: patience,
		in: make(chan incoming), closed: make(chan struct{}), dead: make(chan struct{}),
	}
	if f, ok := w.(interface{ SetWriteDeadline(at time.Time) error }); ok && patience > 0 {
		l.until = f.SetWriteDeadline
	}
	go l.scan(bufio.NewReaderSize(r, 64<<10))
	return l
}

// scan reads lines until the stream or the connection ends.
func (l *lines) scan(r *bufio.Reader) {
	for {
		line, err := readLine(r, MaxMessage)
		if line = bytes.TrimSpace(line); len(line) > 0 || err != nil {
			select {
			case l.in <- incoming{line, err}:
			case <-l.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads up to a line's end. If the line is over the limit, it returns an error and does not
// look for the next line.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit+1 {
			return nil, ErrTooLong
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return line, nil // the next read says so again
		default:
			return line, err
		}
	}
}

// Read returns the next message.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(l.queue) > 0 {
			m := l.queue[0]
			l.queue = l.queue[1:]
			return m, nil
		}
		select {
		case got := <-l.in:
			if got.err != nil {
				return nil, got.err
			}
			l.take(got.line)
		case <-l.closed:
			return nil, io.EOF
		case <-l.dead:
			return nil, errUnread
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take puts the messages of a line into the queue.
func (l *lines) take(line []byte) {
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		if err := json.Unmarshal(line, &parts); err != nil || len(parts) > maxBatch {
			l.skipped(fmt.Sprintf("a batch was left out: it is no list of at most %d messages", maxBatch))
			return
		}
	}
	for _, part := range parts {
		m, err := decode(part)
		if err != nil {
			l.skipped("a line was left out because it is no message: " + floodmark.OneLine(err.Error(), maxSkipped))
			l.unreadable(part)
			continue
		}
		l.queue = append(l.queue, m)
	}
}

// unreadable turns a response that cannot be read into an error under its id, so that the request
// does not wait for it.
func (l *lines) unreadable(data []byte) {
	if !json.Valid(data) {
		return
	}
	list, err := strictjson.Members(data)
	if err != nil {
		return
	}
	id, ok := IDOf(strictjson.Value(list, "id"))
	if !ok {
		return
	}
	broken := &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "floodmark: the message cannot be read."}}
	if strictjson.Value(list, "method") == nil {
		l.queue = append(l.queue, broken)
		return
	}
	if err := l.Write(context.Background(), broken); err != nil {
		l.skipped("an error was not said: " + floodmark.OneLine(err.Error(), maxSkipped))
	}
}

// decode reads one message. It refuses a message that two readers could read differently.
func decode(data []byte) (jsonrpc.Message, error) {
	if !json.Valid(data) {
		return nil, errors.New("it is not JSON")
	}
	if err := strictjson.Distinct(data, "jsonrpc", "id", "method", "params", "result", "error"); err != nil {
		return nil, err
	}
	list, err := strictjson.Members(data)
	if err != nil {
		return nil, err
	}
	was := strictjson.Value(list, "id")
	id, err := keptID(was)
	switch {
	case err != nil:
		return nil, err
	case string(id) != string(was):
		data = strictjson.Object(strictjson.With(list, "id", id))
	}
	return jsonrpc.DecodeMessage(data)
}

// Write sends one message.
func (l *lines) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := encode(m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
		return mcp.ErrConnectionClosed
	default:
	}
	if l.broken {
		return errUnread
	}
	if l.until != nil {
		_ = l.until(time.Now().Add(l.patience)) // if there is no deadline, we wait
	}
	if _, err = l.write(append(data, '\n')); err != nil {
		l.broken = true
		wait := lastRead
		if errors.Is(err, os.ErrDeadlineExceeded) {
			wait = 0 // the other side had its time
		}
		time.AfterFunc(wait, func() { close(l.dead) })
	}
	return err
}

// Close ends the connection.
func (l *lines) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.err = l.close()
	})
	return l.err
}

// SessionID is empty: a stream is one session.
func (l *lines) SessionID() string { return "" }
