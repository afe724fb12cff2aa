package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/keyring"
	"github.com/floodmark/floodmark/internal/fleet/nodes"
	"github.com/floodmark/floodmark/internal/store/fleetbooks"
)

// A nodeBook is where the nodes of a fleet publish digests of what they run with: their rules, keys
// and settings.
type nodeBook interface {
	Announce(ctx context.Context, id string, says []byte) ([]fleetbooks.Node, error)
	Withdraw(ctx context.Context, id string) error
}

const (
	// nodesEvery is how often a node publishes; it is several times shorter than [nodes.AliveFor].
	nodesEvery = 20 * time.Second
	// nodesEnd bounds how long a node may take to publish that it ends.
	nodesEnd = 3 * time.Second
)

// otherNodes compares what this node runs with to what other nodes run with. It is nil on a single
// node.
type otherNodes struct {
	book    nodeBook
	id      string
	runs    func() (map[string]string, error) // digests of what this node runs with
	now     func() time.Time
	every   time.Duration
	unequal func(string) // called with each new warning
	failed  func(error)  // called when a comparison fails and the one before did not

	telling sync.Mutex // guards self, also while it is published
	self    nodes.Node

	mu   sync.Mutex // guards what is below
	seen nodes.Difference
}

// openNodes prepares the comparison with other nodes.
func (d *Daemon) openNodes(book nodeBook) {
	name, _ := os.Hostname() // empty without one
	d.nodes = &otherNodes{
		book: book, id: rand.Text(), self: nodes.New(name, d.opts.Version, d.started),
		runs: d.runsBy, now: d.opts.Now, every: orElse(d.opts.NodesEvery, nodesEvery),
		unequal: func(line string) { d.opts.Log.Warn("nodes differ", "text", line) },
		failed:  func(err error) { d.opts.Log.Warn("this node is not compared with others", "error", err) },
	}
}

// runsBy returns digests of what the nodes of a fleet should have in common. They are keyed with a
// key that all nodes have, so that a reader of a digest cannot guess what it is of. They leave out
// secrets and the place of this installation, which may differ.
func (d *Daemon) runsBy() (map[string]string, error) {
	shipped, err := d.reader.Shipped()
	if err != nil {
		return nil, err
	}
	tokens, err := os.ReadFile(cmp.Or(d.opts.Service.Tokens, d.opts.Paths.Tokens))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	s := d.opts.Service
	keys := map[string][]string{}
	for tenant, own := range d.keys.Tenants {
		for _, k := range own {
			sum := keyring.PrintOf(k.Key)
			keys[tenant] = append(keys[tenant], hex.EncodeToString(sum[:])+" "+string(k.Use))
		}
	}
	all := map[string]string{}
	for what, value := range map[string]any{
		nodes.Policy: d.live.Current().Rules.Text, nodes.Catalog: shipped.Hash(), nodes.Tokens: tokens, nodes.Keys: keys,
		nodes.Keep: s.Journal.Keep, nodes.Tenants: s.Tenants, nodes.Bundles: s.Bundles, nodes.People: s.People,
		nodes.Answers: s.Answers, nodes.Gates: s.Verifier, nodes.Agents: s.Agents, nodes.Auditor: s.Auditor,
	} {
		all[what] = nodes.Digest(d.keys.Index[:], what, value)
	}
	return all, nil
}

// lookAtNodes compares this node with others until ctx ends. Meanwhile it also tells watchers here
// of the questions that other nodes ask.
func (d *Daemon) lookAtNodes(ctx context.Context) error {
	var watch sync.WaitGroup
	watch.Go(func() { d.ownerDesk().LookOut(ctx, lookOutEvery) })
	defer watch.Wait()
	return d.nodes.run(ctx)
}

// run publishes what this node runs with until ctx ends, and then that the node ends.
func (o *otherNodes) run(ctx context.Context) error {
	if o == nil {
		return nil
	}
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	for well := true; ; {
		err := o.look(ctx)
		if err != nil && well && ctx.Err() == nil {
			o.failed(err)
		}
		well = err == nil
		select {
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), nodesEnd)
			defer cancel()
			_ = o.book.Withdraw(end, o.id) // the entry expires by itself
			return nil
		case <-tick.C:
		}
	}
}

// look publishes once, and compares.
func (o *otherNodes) look(ctx context.Context) error {
	runs, err := o.runs()
	if err != nil {
		return err
	}
	o.telling.Lock()
	defer o.telling.Unlock()
	now := o.now()
	for what, digest := range runs {
		if had, ok := o.self.Runs[what]; !ok || had.Digest != digest {
			since := now.Unix()
			if !ok {
				since = o.self.Started
			}
			o.self.Runs[what] = nodes.Setting{Digest: digest, Since: since}
		}
	}
	says, err := o.self.Write()
	if err != nil {
		return err
	}
	list, err := o.book.Announce(ctx, o.id, says)
	if err != nil {
		return err
	}
	var all []nodes.Heard
	for _, n := range list {
		if node, err := nodes.Read(n.Says); err == nil { // others may write anything
			all = append(all, nodes.Heard{ID: n.ID, Node: node, Ago: n.Ago})
		}
	}
	o.take(nodes.Compare(all, now))
	return nil
}

// take keeps the comparison, and reports what is new.
func (o *otherNodes) take(d nodes.Difference) {
	o.mu.Lock()
	before := o.seen.Warnings
	o.seen = d
	o.mu.Unlock()
	for _, line := range d.Warnings {
		if !slices.Contains(before, line) {
			o.unequal(line)
		}
	}
}

// difference returns the last comparison.
func (o *otherNodes) difference() nodes.Difference {
	if o == nil {
		return nodes.Difference{}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen
}
