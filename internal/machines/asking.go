package machines

import (
	"context"
	"slices"
	"time"
)

// The limits of what laptops ask.
const (
	// MaxQuestions is how many questions of one machine are shown.
	MaxQuestions = 64
	// MaxAskedBytes bounds them together, MaxAnswerBytes one answer.
	MaxAskedBytes  = 256 << 10
	MaxAnswerBytes = 8 << 10
	// AskedFor is how long questions are shown after the machine was last heard of:
	// one that is gone fetches no answer.
	AskedFor = time.Minute
	// AnswersFor is how long an answer is brought. No question waits so long.
	AnswersFor = 30 * time.Minute
)

// An Asked is what one machine asks now. The keeper does not read the questions.
type Asked struct {
	Machine ID
	Name    string
	At      time.Time
	Open    []byte
}

// Asking keeps the questions of machines, and people's answers to them. It is a
// part of [Book].
type Asking interface {
	// Ask keeps what a machine asks, in place of what it asked before.
	Ask(ctx context.Context, tenant string, id ID, at time.Time, open []byte) error
	// Asked returns what the machines of a tenant ask that are joined and were heard
	// of since then, in no order.
	Asked(ctx context.Context, tenant string, since time.Time) ([]Asked, error)
	// Answer keeps an answer to a question of a machine, in a place that [Slot] names.
	// The first one there counts: it returns false, and keeps nothing, if there is one.
	Answer(ctx context.Context, tenant string, id ID, slot string, at time.Time, answer []byte) (bool, error)
	// Answers returns the answers to questions of a tenant's machines since then, in no order. A
	// machine of another tenant has none. However many machines are asked about, each database is
	// queried once.
	Answers(ctx context.Context, tenant string, ids []ID, since time.Time) (map[ID][][]byte, error)
}

// A slip is an answer in memory.
type slip struct {
	at     time.Time
	answer []byte
}

type slipKey struct {
	id   ID
	name string
}

// Ask implements [Asking].
func (b *Memory) Ask(_ context.Context, tenant string, id ID, at time.Time, open []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	m, err := b.of(tenant, id)
	if err == nil {
		b.asked[id] = Asked{Machine: id, Name: m.Name, At: at, Open: slices.Clone(open)}
	}
	return err
}

// Asked implements [Asking].
func (b *Memory) Asked(_ context.Context, tenant string, since time.Time) ([]Asked, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Asked
	for id, a := range b.asked {
		if m, err := b.of(tenant, id); err == nil && m.State == Joined && !a.At.Before(since) {
			list = append(list, a)
		}
	}
	return list, nil
}

// Answer implements [Asking].
func (b *Memory) Answer(_ context.Context, tenant string, id ID, name string, at time.Time, answer []byte) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.of(tenant, id); err != nil {
		return false, err
	}
	k := slipKey{id, name}
	if _, is := b.slips[k]; is {
		return false, nil
	}
	b.slips[k] = slip{at, slices.Clone(answer)}
	return true, nil
}

// Answers implements [Asking].
func (b *Memory) Answers(_ context.Context, tenant string, ids []ID, since time.Time) (map[ID][][]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[ID][][]byte{}
	for k, s := range b.slips {
		if _, err := b.of(tenant, k.id); err == nil && slices.Contains(ids, k.id) && !s.at.Before(since) {
			all[k.id] = append(all[k.id], slices.Clone(s.answer))
		}
	}
	return all, nil
}
