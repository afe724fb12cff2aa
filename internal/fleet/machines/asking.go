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
	// MaxAskedBytes bounds the questions of one machine together. MaxAnswerBytes bounds one answer.
	MaxAskedBytes  = 256 << 10
	MaxAnswerBytes = 8 << 10
	// AskedFor is how long questions are shown after the machine was last heard of. A machine that
	// is gone would fetch no answer.
	AskedFor = time.Minute
	// AnswersFor is how long an answer is passed on to its machine. No question waits that long.
	AnswersFor = 30 * time.Minute
)

// An Asked holds the open questions of one machine. The book does not read them.
type Asked struct {
	Machine ID
	Name    string
	At      time.Time
	Open    []byte
}

// Asking stores the questions of machines, and people's answers to them. It is a part of [Book].
type Asking interface {
	// Ask stores what a machine asks, in place of what it asked before.
	Ask(ctx context.Context, tenant string, id ID, at time.Time, open []byte) error
	// Asked returns what the joined machines of a tenant ask that were heard of since the given
	// time, in no order.
	Asked(ctx context.Context, tenant string, since time.Time) ([]Asked, error)
	// Answer stores an answer to a question of a machine, under a name that [Slot] returns. If
	// there is an answer under this name already, Answer stores nothing and returns false.
	Answer(ctx context.Context, tenant string, id ID, slot string, at time.Time, answer []byte) (bool, error)
	// Answers returns the answers to questions of a tenant's machines since the given time, in no
	// order. A machine of another tenant has none. It queries each database once for all ids.
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
