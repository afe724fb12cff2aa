// Package bottest provides a Bot API server for tests. It keeps messages, returns button presses as
// Telegram does, refuses what Telegram refuses, and fails on demand. It shares no code with the
// client, and opens no connections.
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

// Token is the only token that the server accepts.
const Token = "123456:an-example_not-a-token"

// A Server serves one bot. Its methods are safe for concurrent use.
type Server struct {
	// URL is the server's address.
	URL  string
	http *httptest.Server
	net  *nettest.Net // nil if the server listens on this machine

	mu       sync.Mutex // guards what is below
	messages []*Message
	updates  []update
	nextID   int64
	presses  map[string]bool // the presses that were not answered yet
	replies  []Reply
	calls    map[string]int
	last     map[string]json.RawMessage
	kinds    []string
	webhook  string
	fault    func(method string, n int) *Fault
	poll     context.CancelCauseFunc // the waiting request
	news     chan struct{}
	sent     chan struct{}
}

// A Message is a message in its current form.
type Message struct {
	Chat, ID int64
	Text     string
	Entities []Entity
	// Labels and Data are the texts and data of the buttons, row by row. They are empty once the
	// buttons were removed.
	Labels, Data []string
	Edits        int
	At           time.Time
	// Body is the request as received.
	Body string
}

// An Entity marks a part of a message.
type Entity struct {
	Type           string
	Offset, Length int
}

// A Reply is the answer to a press.
type Reply struct {
	Press, Text string
	Alert       bool
}

type update struct {
	id   int64
	body string
}

// A Fault is how one call fails. The zero Fault ends the connection.
type Fault struct {
	// Status and Body are the answer, if Status is set.
	Status int
	Body   string
	// Location, if set, is the Location header of the answer, for a redirect.
	Location string
	// Delay is the pause before the answer. Drip is the pause after each byte of Body.
	Delay, Drip time.Duration
	// After is set if the call takes effect nevertheless.
	After bool
}

// TooMany returns the fault of Telegram's rate limit.
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

// NewTLS starts a server with an untrusted certificate.
func NewTLS() *Server {
	s := unstarted()
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.ErrorLog = quiet()
	s.http.StartTLS()
	s.URL = s.http.URL
	return s
}

// InMemory starts a server that is only reached by its own Dial. It can be used with its bot in a
// bubble of testing/synctest.
func InMemory() *Server {
	s := unstarted()
	s.net = nettest.New()
	s.http = s.net.Server(http.HandlerFunc(s.serve))
	s.http.Start()
	s.URL = s.http.URL
	return s
}

// InMemoryTLS is InMemory with an untrusted certificate.
func InMemoryTLS() *Server {
	s := unstarted()
	s.net = nettest.New()
	s.http = s.net.Server(http.HandlerFunc(s.serve))
	s.http.StartTLS()
	s.URL = s.http.URL
	return s
}

// Dial connects to a server in memory. It connects to nothing else, and fails once the server is
// closed.
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

// Close stops the server and ends all waiting requests.
func (s *Server) Close() {
	s.mu.Lock()
	if s.poll != nil {
		s.poll(errClosed)
	}
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Break sets the faults from now on. The function gets the method and how often it was called so
// far, and returns nil for a call without a fault.
func (s *Server) Break(fault func(method string, n int) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// SetWebhook makes the server deliver updates to a webhook, so that they cannot be fetched.
func (s *Server) SetWebhook(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = url
}

// Press presses the button with a label below the newest message that has it, and returns the
// press's id.
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

// PressData presses a button as a modified app could: with any data, on any message.
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
	body, _ := json.Marshal(map[string]any{ // these values always encode
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
	body, _ := json.Marshal(map[string]any{ // these values always encode
		"update_id": s.nextID,
		"message": map[string]any{
			"message_id": s.nextID, "date": 1, "text": text, "from": map[string]any{"id": user, "first_name": "Someone"},
			"chat": map[string]any{"id": chat, "type": "private"}, "reply_to_message": map[string]any{"message_id": message, "date": 1, "chat": map[string]any{"id": chat}},
		},
	})
	s.push(update{s.nextID, string(body)})
}

// Push adds an update unchanged. It can be one that was added before, or one with an older number.
func (s *Server) Push(id int64, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.push(update{id, body})
}

// Repeat adds an update once more, with a new number.
func (s *Server) Repeat(body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	s.push(update{s.nextID, strings.Replace(body, `"update_id":`, fmt.Sprintf(`"update_id":%d,"was":`, s.nextID), 1)})
}

// Pending returns the unconfirmed updates.
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

// Messages returns all messages.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Message
	for _, m := range s.messages {
		list = append(list, *m)
	}
	return list
}

// Replies returns the answers to presses.
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

// Wait waits until so returns true. It calls so when a request arrives, after each answer, and
// whenever an update is added or confirmed.
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

// ring makes all calls of Wait check again. Its caller holds the lock.
func (s *Server) ring() {
	close(s.sent)
	s.sent = make(chan struct{})
}

// play carries out the fault.
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

// length is the length of a text as Telegram counts it.
func length(text string) int { return len(utf16.Encode([]rune(text))) }
