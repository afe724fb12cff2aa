package telegram

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
)

// A memo records on disk which message shows which question, and the tag of this daemon's buttons.
// For a question it contains what the buttons stand for, which is also in the journal. If the file
// is lost, no question is lost, because open ones are asked again.
type memo struct {
	file string

	mu    sync.Mutex // guards what is below
	out   *os.File
	tag   string
	cards map[string]noted // by kind and ticket
	lines int
}

// A noted is one line of the file: a card that is open or over, or the tag.
type noted struct {
	Tag     string              `json:"tag,omitempty"`
	Kind    string              `json:"kind,omitempty"`
	Ticket  string              `json:"ticket,omitempty"`
	Session floodmark.SessionID `json:"session,omitempty"`
	Tenant  string              `json:"tenant,omitempty"`
	Chat    int64               `json:"chat,omitempty"`
	Message int64               `json:"message,omitempty"`
	Calls   int                 `json:"calls,omitempty"`
	Seen    string              `json:"seen,omitempty"`
	Expires time.Time           `json:"expires,omitzero"`
	// Bound is what each button stands for.
	Bound [][]string `json:"bound,omitempty"`
	Over  bool       `json:"over,omitempty"`
}

// The limits of the file.
const (
	maxMemoBytes = 32 << 20
	maxMemoLine  = 256 << 10
	maxMemoLines = 16 << 10 // after that many the file is rewritten
	maxMemoCards = 4096
)

// openMemo reads the file, or creates it. If file is empty, nothing is stored.
func openMemo(file string) (*memo, error) {
	m := &memo{file: file, cards: map[string]noted{}}
	if file != "" {
		if err := m.read(); err != nil {
			return nil, err
		}
	}
	if len(m.tag) != tagBytes {
		m.tag = rand.Text()[:tagBytes]
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m, m.rewrite()
}

// read reads the file. It skips malformed lines, which a power failure during a write can leave.
func (m *memo) read() error {
	data, err := os.ReadFile(m.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the notes of sent cards: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data[:min(len(data), maxMemoBytes)]))
	lines.Buffer(nil, maxMemoLine)
	for lines.Scan() {
		var n noted
		if json.Unmarshal(lines.Bytes(), &n) != nil {
			continue
		}
		if n.Tag != "" {
			m.tag = n.Tag
		}
		m.take(n)
	}
	return nil
}

func (m *memo) take(n noted) {
	if n.Ticket == "" {
		return
	}
	if n.Over || len(m.cards) >= maxMemoCards {
		delete(m.cards, n.Kind+n.Ticket)
		return
	}
	m.cards[n.Kind+n.Ticket] = n
}

// note applies a line and writes it. After an error, the note is only lost at the next restart.
func (m *memo) note(n noted) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.put(n)
}

// put applies a line and writes it. Its caller holds the lock.
func (m *memo) put(n noted) error {
	m.take(n)
	if m.file == "" {
		return nil
	}
	if m.lines >= maxMemoLines {
		return m.rewrite()
	}
	return m.write(m.out, n)
}

// end records that a card is over, and reports whether that is new. An error of the write is
// ignored: the card is then edited again after the next start.
func (m *memo) end(kind, ticket string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, open := m.cards[kind+ticket]
	if open {
		_ = m.put(noted{Kind: kind, Ticket: ticket, Over: true})
	}
	return open
}

func (m *memo) write(f *os.File, n noted) error {
	line, err := json.Marshal(n)
	if err != nil {
		return err
	}
	m.lines++
	_, err = f.Write(append(line, '\n'))
	return err
}

// rewrite replaces the file by one with only the current notes.
func (m *memo) rewrite() error {
	if m.file == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(m.file), 0o700); err != nil {
		return fmt.Errorf("keep notes of sent cards: %w", err)
	}
	f, err := os.OpenFile(m.file+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("keep notes of sent cards: %w", err)
	}
	m.lines = 0
	err = m.write(f, noted{Tag: m.tag})
	for _, n := range m.cards {
		err = errors.Join(err, m.write(f, n))
	}
	if err == nil {
		err = os.Rename(m.file+".new", m.file)
	}
	if err != nil {
		return fmt.Errorf("keep notes of sent cards: %w", errors.Join(err, f.Close()))
	}
	old := m.out
	m.out = f
	if old != nil {
		return old.Close()
	}
	return nil
}

// card returns the note of a card.
func (m *memo) card(kind, ticket string) (noted, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.cards[kind+ticket]
	return n, ok
}

// all returns every card that is not over.
func (m *memo) all() []noted {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]noted, 0, len(m.cards))
	for _, n := range m.cards {
		list = append(list, n)
	}
	return list
}

func (m *memo) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.out == nil {
		return nil
	}
	return m.out.Close()
}
