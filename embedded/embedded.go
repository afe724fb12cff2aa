// Package embedded provides a whole monitor inside your own process: the rules, and a journal in
// one SQLite file. It opens no network ports and starts no programs.
//
// It protects an agent from the content that the agent reads. It does not protect against code in
// the same process: a tool that runs foreign code there can do everything that the process can. If
// your agents run code, use a daemon instead (package client).
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
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
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

// AskBy sets the function that sends questions to the owner. The ticket contains the code that the
// owner answers with, so send it only where nobody but the owner can read it, and never into the
// conversation. ask is called concurrently with the agent, and may itself call [Guard.Approve] or
// [Guard.Deny]. Without AskBy there are no questions, and a call that needs approval is refused.
func AskBy(ask func(context.Context, approval.Ticket) error) Option {
	return func(c *monitor.Config) { c.Approvers = append(c.Approvers, approver(ask)) }
}

// AuditBy sets the guard's auditor. The policy says which calls it is asked about.
func AuditBy(a audit.Auditor) Option {
	return func(c *monitor.Config) { c.Auditor = a }
}

type approver func(context.Context, approval.Ticket) error

func (a approver) Ask(ctx context.Context, t approval.Ticket) error { return a(ctx, t) }

// Open opens a guard that stores everything below dir. policyText is a policy in YAML; if it is
// empty, the shipped profile "assistant" is used. Only one process at a time can use a folder. When
// the guard is closed, "floodmark serve --dir" can use the same folder.
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
	own, err := reader.Guarded(paths) // writing to the guard's own files needs approval
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
	// The journal is opened first, because its lock keeps two processes from creating keys at the
	// same time.
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

// newCode returns a new random code, which the owner types to answer.
func newCode() string {
	var b [approval.CodeLength / 2]byte
	rand.Read(b[:]) // never returns an error: the program ends instead
	return hex.EncodeToString(b[:])
}

func newTicket() floodmark.TicketID {
	return floodmark.TicketID("t-" + uuid.NewString())
}

// Warnings returns the warnings about the policy.
func (g *Guard) Warnings() floodmark.Problems { return g.warnings }

// Close waits for calls in progress and releases the folder. A closed guard refuses everything.
func (g *Guard) Close() error { return errors.Join(g.monitor.Close(), g.store.Close()) }

// Start begins a conversation.
func (g *Guard) Start(ctx context.Context, o guard.Options) (*guard.Session, error) {
	return guard.Start(ctx, g, o)
}

// Handle implements [guard.Judge]: it returns when all facts that led to the reply are durable. If
// it returns an error, the reply restricts, and its line says why.
func (g *Guard) Handle(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	ev.Boxes = false // there are no boxes here
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
