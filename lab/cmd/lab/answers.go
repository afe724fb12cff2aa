package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/internal/ask/auditor"
)

// An answerBook stores a model's answers, so that an interrupted run can go on. Its file has one
// JSON object per line, with the digest of a case and the answer.
type answerBook struct {
	of    string // names the model and the wording of the prompt
	known map[string]audit.Answer
	file  *os.File // nil: nothing is stored
}

type keptAnswer struct {
	Case string `json:"case"`
	Says string `json:"says"`
}

// maxAnswerLine bounds a line of the file.
const maxAnswerLine = 4096

// openAnswers reads the answers of earlier runs. of names the model and the wording of the prompt.
// If path is empty, nothing is stored.
func openAnswers(path, of string) (*answerBook, error) {
	b := &answerBook{of: of, known: map[string]audit.Answer{}}
	if path == "" {
		return b, nil
	}
	old, err := os.Open(path)
	if err == nil {
		lines := bufio.NewScanner(old)
		lines.Buffer(nil, maxAnswerLine)
		for lines.Scan() {
			var k keptAnswer
			if json.Unmarshal(lines.Bytes(), &k) != nil {
				continue // an incomplete line of a run that was killed
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
		return nil, err
	}
	if b.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	return b, nil
}

// close closes the file.
func (b *answerBook) close() {
	if b.file != nil {
		_ = b.file.Close() // ask has reported every error of a write
	}
}

// errGaveUp means that the model fails for a while.
var errGaveUp = errors.New("the model does not answer")

// ask returns the stored answer to a case, or asks the auditor and stores the answer. If the model
// has failed for a while, it returns errGaveUp, because figures from a few answers would mean
// nothing.
func (b *answerBook) ask(ctx context.Context, mu *sync.Mutex, a *auditor.Auditor, i int, one audit.Case) (audit.Answer, error) {
	sum := sha256.Sum256([]byte(b.of + "\x00" + one.Prompt().String()))
	name := hex.EncodeToString(sum[:])
	mu.Lock()
	says, ok := b.known[name]
	mu.Unlock()
	if ok {
		return says, nil
	}
	// Each case gets a session of its own, so that the budget of a session does not end the run.
	o, err := a.Audit(ctx, audit.Asker{Session: floodmark.SessionID(strconv.Itoa(i))}, one)
	if err != nil {
		if a.Health().Resting {
			return audit.Silent, fmt.Errorf("%w: %w", errGaveUp, err)
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
		return audit.Silent, fmt.Errorf("keep an answer: %w", err)
	}
	return o.Says, nil
}
