// Package embedded is a whole monitor inside one's own process: the rules, and
// a journal in one SQLite file. It listens nowhere and starts no program.
//
// It protects an agent from what it reads, not the process from itself: a tool
// that runs foreign code in this process can do what the process can. Where
// agents run code, let a daemon judge instead (package client).
package embedded

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/guard"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/sqlitejournal"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// A Guard judges what the agents of this process do. It is safe for concurrent
// use.
type Guard struct {
	monitor  *monitor.Monitor
	store    *sqlitejournal.Journal
	warnings floodmark.Problems
}

var _ guard.Waiter = (*Guard)(nil)

// An Option changes how a guard is opened.
type Option func(*monitor.Config)

// AskBy says how a question reaches the owner. The ticket holds the code the owner answers with, so
// it must go where only the owner reads: never into the conversation. ask runs beside the agent and
// may itself call [Guard.Approve] or [Guard.Deny]. Without AskBy there are no questions, and a call
// that needs approval is refused.
func AskBy(ask func(context.Context, approval.Ticket) error) Option {
	return func(c *monitor.Config) { c.Approvers = append(c.Approvers, approver(ask)) }
}

// AuditBy gives the guard an auditor; the policy says where one is asked.
func AuditBy(a audit.Auditor) Option {
	return func(c *monitor.Config) { c.Auditor = a }
}

type approver func(context.Context, approval.Ticket) error

func (a approver) Ask(ctx context.Context, t approval.Ticket) error { return a(ctx, t) }

// Open opens a guard that keeps everything below dir, under a policy: the text of a policy's YAML,
// or nothing for the shipped profile «assistant». Only one process at a time may use a folder.
// «floodmark serve --dir» reads the same folder, once the guard is closed.
func Open(dir, policyText string, options ...Option) (*Guard, error) {
	if dir == "" {
		return nil, errors.New("open a guard: it needs a folder of its own")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open a guard: %w", err)
	}
	paths := config.DirPaths(dir)
	reader := config.NewReader()
	own, err := reader.Guarded(paths) // no tool may write to the guard's own files unasked
	if err != nil {
		return nil, fmt.Errorf("open a guard: %w", err)
	}
	rules, warnings, err := load(reader, policyText, own)
	if err != nil {
		return nil, fmt.Errorf("open a guard: the policy is wrong: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(paths.Journal), 0o700); err != nil {
		return nil, fmt.Errorf("open a guard: %w", err)
	}
	// The store's lock comes first: two processes must not make keys at once.
	store, err := sqlitejournal.OpenWhole(context.Background(), paths.Journal, sqlitejournal.Options{})
	if err != nil {
		return nil, fmt.Errorf("open a guard: %w", err)
	}
	g := &Guard{store: store, warnings: warnings}
	if g.monitor, err = watch(store, paths, rules, options); err != nil {
		return nil, errors.Join(fmt.Errorf("open a guard: %w", err), store.Close())
	}
	return g, nil
}

func load(r *config.Reader, text string, own *catalog.File) (kernel.Rules, floodmark.Problems, error) {
	shipped, err := r.Shipped()
	if err != nil {
		return kernel.Rules{}, nil, err
	}
	var layers []policy.Layer
	if text != "" {
		layers = append(layers, policy.Layer{Name: "policy", Data: []byte(text)})
	}
	p, problems := policy.Load(layers...)
	if p == nil || problems.Failed() {
		return kernel.Rules{}, nil, problems
	}
	return kernel.NewRules(p, catalog.New(append(p.Tools(), own), shipped)), problems, nil
}

func watch(store journal.Journal, paths config.Paths, rules kernel.Rules, options []Option) (*monitor.Monitor, error) {
	keys, err := config.LoadKeys(paths.Keys, "floodmark/journal")
	if err != nil {
		return nil, err
	}
	c := monitor.Config{
		Journal: store,
		Rules:   func() kernel.Rules { return rules },
		Key:     func(string) (provenance.Key, error) { return keys.Index, nil },
		Erased: func(t journal.Tombstone) error {
			return journal.CheckTombstone(keys.Signing.Verifiers(), t)
		},
		Now: time.Now, NewCode: newCode, NewTicket: newTicket, SpillDir: paths.Spill(),
	}
	for _, o := range options {
		o(&c)
	}
	return monitor.New(c)
}

// newCode draws what an owner types to answer.
func newCode() string {
	var b [approval.CodeLength / 2]byte
	rand.Read(b[:]) // it never fails: the program ends instead
	return hex.EncodeToString(b[:])
}

func newTicket() floodmark.TicketID {
	return floodmark.TicketID("t-" + uuid.NewString())
}

// Warnings are what the policy's reader remarked upon.
func (g *Guard) Warnings() floodmark.Problems { return g.warnings }

// Close finishes what was begun and lets the folder go. A closed guard refuses
// everything.
func (g *Guard) Close() error { return errors.Join(g.monitor.Close(), g.store.Close()) }

// Start begins a conversation.
func (g *Guard) Start(ctx context.Context, o guard.Options) (*guard.Session, error) {
	return guard.Start(ctx, g, o)
}

// Handle implements [guard.Judge]: everything the reply follows from is durable
// when it returns. With an error the reply restricts, and its line says why.
func (g *Guard) Handle(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	ev.Boxes = false // nothing here makes one
	r, err := g.monitor.Handle(ctx, "", ev)
	if err == nil {
		err = r.Elsewhere()
	}
	if err == nil {
		return r, nil
	}
	said := "refused because this was not judged."
	if errors.Is(err, hook.ErrNoBox) || errors.Is(err, hook.ErrOtherCommand) {
		said = "refused because " + err.Error() + "."
	}
	if known, ok := errors.AsType[*monitor.Refusal](err); ok {
		said = "refused because " + known.Reason + ". " + known.Hint
	}
	return hook.Reply{Line: said}, err
}
