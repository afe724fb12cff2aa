package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/internal/auditor"
	"github.com/floodmark/floodmark/internal/config"
)

// An answerBook keeps what a model said, so that an interrupted run can go on.
// It holds digests of cases and answers, one object a line.
type answerBook struct {
	of    string // which model, in which words, was asked
	known map[string]audit.Answer
	file  *os.File // nil: nothing is kept
}

type keptAnswer struct {
	Case string `json:"case"`
	Says string `json:"says"`
}

// maxAnswerLine bounds a line of the file.
const maxAnswerLine = 4096

func (c *console) openAnswers(name string, set config.Auditor) (*answerBook, error) {
	b := &answerBook{of: set.Endpoint + "\x00" + string(set.Kind) + "\x00" + set.Model, known: map[string]audit.Answer{}}
	if name == "" {
		return b, nil
	}
	path := c.path(name)
	old, err := os.Open(path)
	if err == nil {
		lines := bufio.NewScanner(old)
		lines.Buffer(nil, maxAnswerLine)
		for lines.Scan() {
			var k keptAnswer
			if json.Unmarshal(lines.Bytes(), &k) != nil {
				continue // the last line of a run that was ended by force
			}
			for a := audit.Block; a <= audit.Allow; a++ {
				if a.String() == k.Says {
					b.known[k.Case] = a
				}
			}
		}
		err = errors.Join(lines.Err(), old.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, refuse("name another file with --resume", "read %s: %s", name, reason(err))
	}
	if b.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, refuse("name another file with --resume", "write %s: %s", name, reason(err))
	}
	return b, nil
}

func (b *answerBook) close() {
	if b.file != nil {
		_ = b.file.Close() // each line was written, or it was said
	}
}

// ask asks unless it is known. A model that fails for a while ends the run:
// figures of a few answers would mean nothing.
func (b *answerBook) ask(ctx context.Context, mu *sync.Mutex, a *auditor.Auditor, i int, one audit.Case) (audit.Answer, error) {
	sum := sha256.Sum256([]byte(b.of + "\x00" + one.Prompt().String()))
	name := hex.EncodeToString(sum[:])
	mu.Lock()
	says, ok := b.known[name]
	mu.Unlock()
	if ok {
		return says, nil
	}
	// Each case is a session of its own: what is measured has no budget.
	o, err := a.Audit(ctx, audit.Asker{Session: floodmark.SessionID(strconv.Itoa(i))}, one)
	if err != nil {
		if a.Health().Resting {
			return audit.Silent, refuse("mend the service; with --resume the next run goes on from here", "%s", err)
		}
		return audit.Silent, nil
	}
	if b.file == nil {
		return o.Says, nil
	}
	line, err := json.Marshal(keptAnswer{name, o.Says.String()})
	if err != nil {
		return audit.Silent, err
	}
	mu.Lock()
	defer mu.Unlock()
	if _, err := b.file.Write(append(line, '\n')); err != nil {
		return audit.Silent, refuse("make room, or name another file with --resume", "keep an answer: %s", reason(err))
	}
	return o.Says, nil
}
