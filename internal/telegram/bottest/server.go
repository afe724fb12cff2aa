// Package bottest is a server that speaks the Bot API, for tests: it keeps
// messages, hands out button presses as Telegram does, refuses what Telegram
// refuses, and does wrong what it is told to. It shares no code with those it
// tests and talks to nobody.
package bottest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/floodmark/floodmark/internal/outward/nettest"
)

// Token is the only one the server accepts.
const Token = "123456:an-example_not-a-token"

// A Server is one bot's world. Use its methods from any goroutine.
type Server struct {
	// URL is where it answers.
	URL  string
	http *httptest.Server
	net  *nettest.Net // nil for one that listens on this machine

	mu       sync.Mutex // guards what is below
	messages []*Message
	updates  []update
	nextID   int64
	presses  map[string]bool // not answered yet
	replies  []Reply
	calls    map[string]int
	last     map[string]json.RawMessage
	kinds    []string
	webhook  string
	fault    func(method string, n int) *Fault
	poll     context.CancelCauseFunc // the request that waits
	news     chan struct{}
	sent     chan struct{}
}

// A Message is what stands in a chat now.
type Message struct {
	Chat, ID int64
	Text     string
	Entities []Entity
	// Labels and Data are of its buttons, row by row; empty once they are gone.
	Labels, Data []string
	Edits        int
	At           time.Time
	// Body is the request as it came in.
	Body string
}

// An Entity marks a part of a message.
type Entity struct {
	Type           string
	Offset, Length int
}

// A Reply is what somebody who pressed a button was told.
type Reply struct {
	Press, Text string
	Alert       bool
}

type update struct {
	id   int64
	body string
}

// A Fault is what goes wrong with one call. The zero Fault ends the connection.
type Fault struct {
	// Status and Body are answered instead, if Status is set.
	Status int
	Body   string
	// Location makes it a redirect.
	Location string
	// Delay comes before anything else; Drip between any two bytes of Body.
	Delay, Drip time.Duration
	// After says that the call has its effect all the same.
	After bool
}

// TooMany is a fault as Telegram words it.
func TooMany(seconds int) *Fault {
	return &Fault{Status: http.StatusTooManyRequests, Body: fmt.Sprintf(
		`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after %d","parameters":{"retry_after":%d}}`, seconds, seconds)}
}

// New starts a server.
func New() *Server {
	s := unstarted()
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	return s
}

// NewTLS starts a server whose certificate nobody trusts.
func NewTLS() *Server {
	s := unstarted()
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.ErrorLog = quiet()
	s.http.StartTLS()
	s.URL = s.http.URL
	return s
}

// InMemory starts a server that only its own Dial reaches. It can live with its bot
// in a bubble of testing/synctest.
func InMemory() *Server {
	s := unstarted()
	s.net = nettest.New()
	s.http = s.net.Server(http.HandlerFunc(s.serve))
	s.http.Start()
	s.URL = s.http.URL
	return s
}

// InMemoryTLS starts one as InMemory does, whose certificate nobody trusts.
func InMemoryTLS() *Server {
	s := unstarted()
	s.net = nettest.New()
	s.http = s.net.Server(http.HandlerFunc(s.serve))
	s.http.StartTLS()
	s.URL = s.http.URL
	return s
}

// Dial connects to a server in memory. Nothing else is reached by it, nor is the server
// once it is closed.
func (s *Server) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.net == nil {
		return nil, errNotInMemory
	}
	return s.net.Dial(ctx, network, address)
}

func unstarted() *Server {
	return &Server{
		nextID: 1000, presses: map[string]bool{}, calls: map[string]int{}, last: map[string]json.RawMessage{},
		news: make(chan struct{}), sent: make(chan struct{}),
	}
}

// Close ends it and everything that waits.
func (s *Server) Close() {
	s.mu.Lock()
	if s.poll != nil {
		s.poll(errClosed)
	}
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Break sets what goes wrong from now on: it is asked before each call, with
// how often the method was called, and returns nil if nothing is to go wrong.
func (s *Server) Break(fault func(method string, n int) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// SetWebhook makes it deliver updates elsewhere, so that nobody can fetch any.
func (s *Server) SetWebhook(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = url
}

// Press touches the button with a label below the newest message that has it,
// and returns the press's name.
func (s *Server) Press(user int64, label string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Backward(s.messages) {
		if i := slices.Index(m.Labels, label); i >= 0 {
			return s.press(user, m.Chat, m.ID, m.Data[i]), nil
		}
	}
	return "", fmt.Errorf("no message has a button %q", label)
}

// PressData touches as a changed app could: any data, at any message.
func (s *Server) PressData(user, chat, message int64, data string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.press(user, chat, message, data)
}

func (s *Server) press(user, chat, message int64, data string) string {
	s.nextID++
	id := fmt.Sprintf("press-%d", s.nextID)
	s.presses[id] = true
	kind := "private"
	if chat < 0 {
		kind = "supergroup"
	}
	body, _ := json.Marshal(map[string]any{ // it holds nothing that cannot be written
		"update_id": s.nextID,
		"callback_query": map[string]any{
			"id": id, "data": data, "chat_instance": "1",
			"from":    map[string]any{"id": user, "is_bot": false, "first_name": "Someone"},
			"message": map[string]any{"message_id": message, "date": 1, "chat": map[string]any{"id": chat, "type": kind}},
		},
	})
	s.push(update{s.nextID, string(body)})
	return id
}

// Reply writes a reply to a message.
func (s *Server) Reply(user, chat, message int64, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	body, _ := json.Marshal(map[string]any{ // it holds nothing that cannot be written
		"update_id": s.nextID,
		"message": map[string]any{
			"message_id": s.nextID, "date": 1, "text": text, "from": map[string]any{"id": user, "first_name": "Someone"},
			"chat": map[string]any{"id": chat, "type": "private"}, "reply_to_message": map[string]any{"message_id": message, "date": 1, "chat": map[string]any{"id": chat}},
		},
	})
	s.push(update{s.nextID, string(body)})
}

// Push adds an update as it stands. An update may come twice, and late.
func (s *Server) Push(id int64, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.push(update{id, body})
}

// Repeat makes all updates so far come once more, under new numbers.
func (s *Server) Repeat(body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	s.push(update{s.nextID, strings.Replace(body, `"update_id":`, fmt.Sprintf(`"update_id":%d,"was":`, s.nextID), 1)})
}

// Pending returns the updates nobody has confirmed.
func (s *Server) Pending() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, u := range s.updates {
		list = append(list, u.body)
	}
	return list
}

func (s *Server) push(u update) {
	s.updates = append(s.updates, u)
	slices.SortStableFunc(s.updates, func(a, b update) int { return int(a.id - b.id) })
	close(s.news)
	s.news = make(chan struct{})
	s.ring()
}

// Messages returns all that stand there.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Message
	for _, m := range s.messages {
		list = append(list, *m)
	}
	return list
}

// Replies returns what people who pressed were told.
func (s *Server) Replies() []Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.replies)
}

// Calls returns how often a method was called.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// Last returns the newest request to a method.
func (s *Server) Last(method string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.last[method])
}

// Wait waits until something about the server is so: it looks again as each call comes
// in, when it was answered, and at each update that is added or confirmed.
func (s *Server) Wait(ctx context.Context, so func() bool) error {
	for {
		s.mu.Lock()
		changed := s.sent
		s.mu.Unlock()
		if so() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// serve answers one call.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	method, ok := strings.CutPrefix(r.URL.Path, "/bot"+Token+"/")
	if !ok {
		refuse(w, http.StatusUnauthorized, "Unauthorized")
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil || !json.Valid(body) {
		refuse(w, http.StatusBadRequest, "Bad Request: can't parse JSON object")
		return
	}
	s.mu.Lock()
	s.calls[method]++
	s.last[method] = body
	fault, n := s.fault, s.calls[method]
	s.mu.Unlock()
	s.changed()
	defer s.changed()
	if fault != nil {
		if f := fault(method, n); f != nil {
			if f.After {
				s.answer(r.Context(), httptest.NewRecorder(), method, body)
				s.changed()
			}
			f.play(r.Context(), w)
			return
		}
	}
	s.answer(r.Context(), w, method, body)
}

func (s *Server) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring()
}

// ring has those who wait look again. The lock is held.
func (s *Server) ring() {
	close(s.sent)
	s.sent = make(chan struct{})
}

// play does what is wrong.
func (f *Fault) play(ctx context.Context, w http.ResponseWriter) {
	if !pause(ctx, f.Delay) {
		return
	}
	if f.Location != "" {
		w.Header().Set("Location", f.Location)
	}
	if f.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(f.Status)
	if f.Drip == 0 {
		fmt.Fprint(w, f.Body)
		return
	}
	for i := range len(f.Body) {
		if _, err := w.Write([]byte{f.Body[i]}); err != nil || !pause(ctx, f.Drip) {
			return
		}
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// length is how Telegram counts a text.
func length(text string) int { return len(utf16.Encode([]rune(text))) }
