package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark"
)

// A relay connects one client and one server while both run. Each side has a reader that never waits
// for the monitor: what needs the monitor's answer runs in another goroutine.
type relay struct {
	client, server mcp.Connection
	o              Options
	known          known
	window         window
	work           sync.WaitGroup
	gone           chan struct{} // closed when the relay ends
	learning       sync.Mutex    // one request for the tools at a time

	mu sync.Mutex // guards what is below
	// asked are the client's requests that are not answered yet; wanted are the server's.
	asked, wanted map[jsonrpc.ID]*request
	// said is closed when the server's last announcement has been passed on; nil if none had to be
	// taken in first.
	said    chan struct{}
	own     int  // requests of ours to the server so far
	busy    int  // the client's requests whose answer has not left yet
	leaving bool // nothing new is begun
	idle    chan struct{}
	// relisting says that a goroutine is checking which tools are hidden, relistAgain that it has
	// to check once more.
	relisting, relistAgain bool
	// looking says that tools were not shown because the monitor did not answer.
	looking bool
}

// A request is a request that is not answered yet.
type request struct {
	method string
	params json.RawMessage
	// judged is true until a request of the client was forwarded.
	judged bool
	cancel context.CancelFunc
	call   *call
	// withdrawn says that the server accepts no answer any more.
	withdrawn bool
	// answer gets the server's response to a request of ours.
	answer chan *jsonrpc.Response
	// changes is how often the server's tools had changed when it answered.
	changes int
}

func newRelay(client, server mcp.Connection, o Options) *relay {
	return &relay{
		client: client, server: server, o: o, known: newKnown(), gone: make(chan struct{}),
		asked: map[jsonrpc.ID]*request{}, wanted: map[jsonrpc.ID]*request{},
	}
}

// errServer marks the end of the server, and errUntold that it accepts no more messages.
var (
	errServer = errors.New("the server ended")
	errUntold = errors.New("it can be told nothing any more")
)

// toServer forwards a message of the client, in the client's own order.
func (r *relay) toServer(ctx context.Context, m jsonrpc.Message) error {
	if err := r.server.Write(ctx, m); err != nil {
		return fmt.Errorf("%w: %w: %w", errServer, errUntold, err)
	}
	return nil
}

func (r *relay) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := r.o.Session.watch(func() { r.relist(ctx) })
	defer stop()
	ended := make(chan error, 2)
	var pumps sync.WaitGroup
	pumps.Go(func() { ended <- r.pump(ctx, r.client, r.fromClient) })
	pumps.Go(func() {
		err := r.pump(ctx, r.server, r.fromServer)
		if err == nil {
			err = io.EOF
		}
		ended <- fmt.Errorf("%w: %w", errServer, err)
	})
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	switch {
	case err == nil:
		r.lastAnswers(ended)
	case errors.Is(err, errUntold):
		err = r.lastSaid(ended, err)
	}
	r.leave(ctx, err)
	r.settle()
	cancel()
	closed := errors.Join(r.client.Close(), r.server.Close())
	pumps.Wait()
	r.work.Wait()
	if err != nil {
		return err
	}
	return closed
}

// lastAnswers waits, for a little while, until all that the client asked before it left is
// answered.
func (r *relay) lastAnswers(ended <-chan error) {
	r.mu.Lock()
	r.idle = make(chan struct{})
	if r.busy == 0 {
		close(r.idle)
	}
	idle := r.idle
	r.mu.Unlock()
	timer := time.NewTimer(r.o.grace)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	case <-ended:
	}
}

// lastSaid waits, for a little while, until all that the server said before it ended is read, and
// returns the error it ended with.
func (r *relay) lastSaid(ended <-chan error, err error) error {
	timer := time.NewTimer(r.o.grace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case by := <-ended:
		err = by
	}
	return err
}

// settle waits, for a little while, for work under way. A client may not read what it is sent.
func (r *relay) settle() {
	done := make(chan struct{})
	go func() {
		r.work.Wait()
		close(done)
	}()
	timer := time.NewTimer(r.o.grace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// leave answers the requests that will get no other answer.
func (r *relay) leave(ctx context.Context, why error) {
	r.mu.Lock()
	r.leaving = true
	close(r.gone)
	open := make(map[jsonrpc.ID]request, len(r.asked))
	for id, q := range r.asked {
		open[id] = *q // a copy, because the goroutine that judges it may still write to it
		delete(r.asked, id)
	}
	r.mu.Unlock()
	line := r.goneLine()
	for id, q := range open {
		if q.answer != nil {
			close(q.answer)
			continue
		}
		if q.cancel != nil {
			q.cancel()
		}
		if q.call != nil && !q.judged {
			r.lost(ctx, q.call, "the server ended before it answered")
		}
		if errors.Is(why, errServer) {
			_ = r.client.Write(ctx, &jsonrpc.Response{ID: id, Error: rpcError(codeGone, line)}) // it may be gone too
		}
	}
}

// pump passes on what one side says until it ends.
func (r *relay) pump(ctx context.Context, from mcp.Connection, to func(context.Context, jsonrpc.Message) error) error {
	for {
		m, err := from.Read(ctx)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, mcp.ErrConnectionClosed):
			return nil
		case err != nil:
			return err
		}
		if err := to(ctx, m); err != nil {
			return err
		}
	}
}

// begin starts work that the reader must not wait for, and reports whether it did.
func (r *relay) begin(work func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaving {
		return false
	}
	r.work.Go(work)
	return true
}

// fromClient forwards, or begins to judge, what the client says.
func (r *relay) fromClient(ctx context.Context, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		if r.window.answered(m) {
			return nil // no request of the server is open: dropped
		}
		q := r.take(r.wanted, m.ID)
		if q == nil || q.withdrawn {
			r.o.Note("the client answered a question that was not asked; it was left out")
			return nil
		}
		return r.answered(ctx, q, m)
	case *jsonrpc.Request:
		if !m.IsCall() {
			return r.told(ctx, m)
		}
		q := &request{method: m.Method, params: m.Params, judged: true, cancel: func() {}}
		judging := ctx
		if !passes(m) {
			judging, q.cancel = context.WithCancel(ctx)
		}
		if why := r.open(r.asked, m.ID, q); why != "" {
			q.cancel()
			return r.client.Write(ctx, &jsonrpc.Response{ID: m.ID, Error: rpcError(jsonrpc.CodeInvalidRequest, why)})
		}
		r.mu.Lock()
		r.busy++
		r.mu.Unlock()
		return r.request(judging, m, q)
	}
	return nil
}

const usedID = "floodmark: a request with this id is not answered yet; use another."

// open records a request, or returns why it cannot.
func (r *relay) open(list map[jsonrpc.ID]*request, id jsonrpc.ID, q *request) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.leaving:
		return "floodmark: the connection is being closed."
	case len(list) >= MaxOpen:
		return fmt.Sprintf("floodmark: more than %d requests are not answered yet; wait for some of them.", MaxOpen)
	case list[id] != nil:
		return usedID
	}
	list[id] = q
	return ""
}

// take ends a request; nil if there is none.
func (r *relay) take(list map[jsonrpc.ID]*request, id jsonrpc.ID) *request {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := list[id]
	delete(list, id)
	return q
}

// reply answers a request of the client, once.
func (r *relay) reply(ctx context.Context, m *jsonrpc.Response) {
	if r.take(r.asked, m.ID) != nil {
		r.deliver(ctx, m)
	}
}

// deliver gives an answer to the client, also if the client has closed its side by then.
func (r *relay) deliver(ctx context.Context, m *jsonrpc.Response) {
	if err := r.client.Write(context.WithoutCancel(ctx), m); err != nil {
		r.o.Note("an answer did not reach the client: " + floodmark.OneLine(err.Error(), maxNote))
	}
	r.done()
}

// done notes that one request of the client needs no answer any more.
func (r *relay) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy--; r.busy == 0 && r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
}

// forward sends a request of the client on, unless it was cancelled.
func (r *relay) forward(ctx context.Context, m *jsonrpc.Request) error {
	r.mu.Lock()
	q := r.asked[m.ID]
	if q != nil {
		q.judged = false
	}
	r.mu.Unlock()
	if q == nil || ctx.Err() != nil {
		return context.Canceled
	}
	return r.toServer(ctx, &jsonrpc.Request{ID: m.ID, Method: m.Method, Params: m.Params})
}

// fromServer forwards, or takes in first, what the server says.
func (r *relay) fromServer(ctx context.Context, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		r.mu.Lock()
		q := r.asked[m.ID]
		if q != nil && q.judged {
			q = nil // it was never sent
		}
		if q != nil {
			delete(r.asked, m.ID)
			q.changes = r.known.soFar()
		}
		r.mu.Unlock()
		switch {
		case q == nil:
			r.o.Note("the server answered a question that was not asked; it was left out")
		case q.answer != nil:
			q.answer <- m
		default:
			return r.result(ctx, q, m)
		}
	case *jsonrpc.Request:
		if !m.IsCall() {
			return r.announced(ctx, m)
		}
		q := &request{method: m.Method, params: m.Params}
		why := r.open(r.wanted, m.ID, q)
		if why == "" && r.window.has(m.ID) {
			r.take(r.wanted, m.ID)
			why = usedID
		}
		if why != "" {
			_ = r.server.Write(ctx, &jsonrpc.Response{ID: m.ID, Error: rpcError(jsonrpc.CodeInvalidRequest, why)}) // a write error is found by the reader
			return nil
		}
		return r.wants(ctx, m, q)
	}
	return nil
}
