package bottest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Telegram's limits.
const (
	maxText   = 4096
	maxData   = 64
	maxAlert  = 200
	maxLimit  = 100
	Conflict  = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
	hookInUse = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)

var (
	errClosed = errors.New("closed")
	errOther  = errors.New("another poller")

	errNotInMemory = errors.New("the server listens on this machine: dial its URL")
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	write(w, map[string]any{"ok": false, "error_code": status, "description": text})
}

func grant(w http.ResponseWriter, result any) {
	w.Header().Set("Content-Type", "application/json")
	write(w, map[string]any{"ok": true, "result": result})
}

func write(w io.Writer, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a bug of this package
	}
	fmt.Fprint(w, string(data))
}

type request struct {
	Chat     int64            `json:"chat_id"`
	Message  int64            `json:"message_id"`
	Text     string           `json:"text"`
	Parse    string           `json:"parse_mode"`
	Entities []map[string]any `json:"entities"`
	Markup   *struct {
		Rows [][]struct {
			Text string `json:"text"`
			Data string `json:"callback_data"`
		} `json:"inline_keyboard"`
	} `json:"reply_markup"`
	Press   string   `json:"callback_query_id"`
	Alert   bool     `json:"show_alert"`
	Offset  int64    `json:"offset"`
	Limit   int      `json:"limit"`
	Timeout int      `json:"timeout"`
	Kinds   []string `json:"allowed_updates"`
}

func (s *Server) answer(ctx context.Context, w http.ResponseWriter, method string, body []byte) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		refuse(w, http.StatusBadRequest, "Bad Request: "+err.Error())
		return
	}
	switch method {
	case "getMe":
		grant(w, map[string]any{"id": 110201543, "is_bot": true, "first_name": "Floodmark", "username": "floodmark_test_bot"})
	case "getWebhookInfo":
		s.mu.Lock()
		defer s.mu.Unlock()
		grant(w, map[string]any{"url": s.webhook, "pending_update_count": len(s.updates)})
	case "deleteWebhook":
		s.SetWebhook("")
		grant(w, true)
	case "getChat":
		kind := "private"
		if r.Chat < 0 {
			kind = "supergroup"
		}
		grant(w, map[string]any{"id": r.Chat, "type": kind})
	case "sendMessage":
		s.sendMessage(w, r, body)
	case "editMessageText", "editMessageReplyMarkup":
		s.editMessage(w, r, method == "editMessageText")
	case "answerCallbackQuery":
		s.answerPress(w, r)
	case "getUpdates":
		s.getUpdates(ctx, w, r)
	default:
		refuse(w, http.StatusNotFound, "Not Found")
	}
}

// check returns the error of Telegram for an invalid text or button, or "".
func (r request) check() string {
	switch {
	case r.Chat == 0:
		return "Bad Request: chat_id is empty"
	case strings.TrimSpace(r.Text) == "":
		return "Bad Request: message text is empty"
	case !utf8.ValidString(r.Text):
		return "Bad Request: strings must be encoded in UTF-8"
	case length(r.Text) > maxText:
		return "Bad Request: message is too long"
	case r.Parse != "":
		return "Bad Request: this test wants no parse_mode"
	}
	for _, e := range r.entities() {
		if e.Length <= 0 || e.Offset < 0 || e.Offset+e.Length > length(r.Text) {
			return "Bad Request: entity out of the text"
		}
	}
	if r.Markup == nil {
		return ""
	}
	for _, row := range r.Markup.Rows {
		for _, b := range row {
			if b.Text == "" || b.Data == "" || len(b.Data) > maxData {
				return "Bad Request: BUTTON_DATA_INVALID"
			}
		}
	}
	return ""
}

func (r request) entities() []Entity {
	var list []Entity
	for _, e := range r.Entities {
		kind, _ := e["type"].(string)
		offset, _ := e["offset"].(float64)
		long, _ := e["length"].(float64)
		list = append(list, Entity{Type: kind, Offset: int(offset), Length: int(long)})
	}
	return list
}

func (s *Server) sendMessage(w http.ResponseWriter, r request, body []byte) {
	if wrong := r.check(); wrong != "" {
		refuse(w, http.StatusBadRequest, wrong)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	m := &Message{Chat: r.Chat, ID: s.nextID, Text: r.Text, Entities: r.entities(), At: time.Now(), Body: string(body)}
	if r.Markup != nil {
		for _, row := range r.Markup.Rows {
			for _, b := range row {
				m.Labels, m.Data = append(m.Labels, b.Text), append(m.Data, b.Data)
			}
		}
	}
	s.messages = append(s.messages, m)
	grant(w, map[string]any{"message_id": m.ID, "date": 1, "chat": map[string]any{"id": m.Chat, "type": "private"}, "text": m.Text})
}

func (s *Server) editMessage(w http.ResponseWriter, r request, text bool) {
	if wrong := r.check(); text && wrong != "" {
		refuse(w, http.StatusBadRequest, wrong)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.messages, func(m *Message) bool { return m.Chat == r.Chat && m.ID == r.Message })
	switch {
	case i < 0:
		refuse(w, http.StatusBadRequest, "Bad Request: message to edit not found")
		return
	case len(s.messages[i].Labels) == 0 && (!text || s.messages[i].Text == r.Text):
		refuse(w, http.StatusBadRequest, "Bad Request: message is not modified")
		return
	}
	m := s.messages[i]
	m.Labels, m.Data, m.Edits = nil, nil, m.Edits+1
	if text {
		m.Text, m.Entities = r.Text, r.entities()
	}
	grant(w, map[string]any{"message_id": m.ID, "date": 1, "chat": map[string]any{"id": m.Chat, "type": "private"}})
}

func (s *Server) answerPress(w http.ResponseWriter, r request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.presses[r.Press] {
		refuse(w, http.StatusBadRequest, "Bad Request: query is too old and response timeout expired or query ID is invalid")
		return
	}
	if len([]rune(r.Text)) > maxAlert {
		refuse(w, http.StatusBadRequest, "Bad Request: MESSAGE_TOO_LONG")
		return
	}
	delete(s.presses, r.Press)
	s.replies = append(s.replies, Reply{Press: r.Press, Text: r.Text, Alert: r.Alert})
	grant(w, true)
}

// getUpdates returns updates. A new request ends a waiting one.
func (s *Server) getUpdates(ctx context.Context, w http.ResponseWriter, r request) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.mu.Lock()
	if s.webhook != "" {
		s.mu.Unlock()
		refuse(w, http.StatusConflict, hookInUse)
		return
	}
	if s.poll != nil {
		s.poll(errOther)
	}
	s.poll = cancel
	if r.Offset > 0 {
		s.updates = slices.DeleteFunc(s.updates, func(u update) bool { return u.id < r.Offset })
	}
	s.kinds = r.Kinds
	s.ring()
	s.mu.Unlock()
	timer := time.NewTimer(time.Duration(r.Timeout) * time.Second)
	defer timer.Stop()
	for {
		list, news := s.batch(r.Limit)
		if len(list) > 0 || r.Timeout == 0 {
			grant(w, list)
			return
		}
		select {
		case <-news:
		case <-timer.C:
			grant(w, list)
			return
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errOther) {
				refuse(w, http.StatusConflict, Conflict)
			}
			return
		}
	}
}

func (s *Server) batch(limit int) ([]json.RawMessage, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []json.RawMessage{}
	if limit <= 0 || limit > maxLimit {
		limit = maxLimit
	}
	for _, u := range s.updates[:min(len(s.updates), limit)] {
		list = append(list, json.RawMessage(u.body))
	}
	return list, s.news
}
