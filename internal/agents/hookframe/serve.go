package hookframe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// How long the daemon waits to read a question, and to write its answer. Both ends are on one
// machine.
const (
	readWithin  = 10 * time.Second
	writeWithin = 5 * time.Second
)

// A Handler answers one question. It must answer before ctx ends, because the asker then takes the
// call for denied.
type Handler func(ctx context.Context, req Request) Response

// Ask sends req on conn and returns the answer, before the request's deadline. If a person has to
// answer, the deadline restarts each time the daemon reports that it still waits, until the
// person's time and one more deadline are over. Ask does not close conn, and conn must not be
// closed for writing before the answer: the daemon would take the asker for gone.
func Ask(conn net.Conn, req Request) (Response, error) {
	last := time.Now().Add(req.Person() + req.Wait())
	if err := conn.SetDeadline(time.Now().Add(req.Wait())); err != nil {
		return Response{}, err
	}
	if err := WriteRequest(conn, req); err != nil {
		return Response{}, err
	}
	for {
		data, err := read(conn, MaxResponse)
		if err != nil {
			return Response{}, err
		}
		if req.PersonMS == 0 || !isStill(data) {
			return response(data)
		}
		if err := conn.SetDeadline(earlier(last, time.Now().Add(req.Wait()))); err != nil {
			return Response{}, err
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Serve answers the one question of conn and closes it. The handler's context ends a little before
// the asker's deadline, and when the asker is gone. It returns why no answer was given.
func Serve(ctx context.Context, conn net.Conn, h Handler) error {
	defer conn.Close()
	began := time.Now()
	if err := conn.SetReadDeadline(began.Add(readWithin)); err != nil {
		return err
	}
	claim := budgetOf(ctx).Claim()
	defer claim.Release()
	req, err := ReadRequest(claim.Reader(conn))
	if err != nil {
		return errors.Join(err, answer(conn, unread(req, err)))
	}
	resp := ask(WithClaim(ctx, claim), conn, began.Add(patience(req.Wait())), req, h)
	resp.V = req.V // the version of the request
	return answer(conn, resp)
}

// unread answers an unreadable question.
func unread(req Request, err error) Response {
	switch {
	case errors.Is(err, ErrVersion):
		return Refuse(fmt.Sprintf("this hook program speaks version %d and the daemon version %d. Update the older of the two, and restart the daemon.", req.V, Version))
	case errors.Is(err, ErrFull):
		return Refuse(ErrFull.Error() + ", so nothing is allowed. " + FullHint)
	}
	return Refuse("the question could not be read: " + err.Error())
}

// patience returns how long the handler may take if its answer is to arrive within wait.
func patience(wait time.Duration) time.Duration { return wait - min(wait/10, 250*time.Millisecond) }

// ask runs the handler and cancels it when the asker is gone.
func ask(ctx context.Context, conn net.Conn, until time.Time, req Request, h Handler) Response {
	base, gone := context.WithCancel(ctx)
	defer gone()
	ctx, cancel := context.WithDeadline(base, until)
	defer cancel()
	// The asker has sent everything: any more bytes, or the end, mean that it is gone.
	listen := func() { _, _ = conn.Read(make([]byte, 1)) }
	if req.PersonMS > 0 {
		p := &person{conn: conn, base: base, until: time.Now().Add(req.Person()), each: patience(req.Wait()), v: req.V, shows: req.Shows}
		if ctx = context.WithValue(ctx, personKey{}, p); p.shows {
			listen = p.listen
		}
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return Refuse(err.Error())
	}
	var watch sync.WaitGroup
	watch.Go(func() {
		listen()
		gone()
	})
	resp := h(ctx, req)
	if err := conn.SetReadDeadline(time.Unix(1, 0)); err != nil {
		_ = conn.Close() // unblocks the read, too
	}
	watch.Wait()
	return resp
}

func answer(conn net.Conn, resp Response) error {
	if err := conn.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	err := WriteResponse(conn, resp)
	if errors.Is(err, ErrTooLarge) {
		err = errors.Join(err, WriteResponse(conn, Refuse("the answer was too large.")))
	}
	return err
}

// ServeAll answers on every connection of l until l is closed or ctx ends, and returns after the
// last answer. l must bound the number of connections. handlerOf returns the handler for a peer. If
// failed is not nil, it is called with the error of each question that got no answer.
func ServeAll(ctx context.Context, l net.Listener, handlerOf func(net.Conn) Handler, failed func(error)) error {
	var all sync.WaitGroup
	defer all.Wait()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		conn, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		all.Go(func() {
			if err := Serve(ctx, conn, handlerOf(conn)); err != nil && failed != nil {
				failed(err)
			}
		})
	}
}
