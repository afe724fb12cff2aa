package signedrules

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// An installed holds the files of this installation. They were looked up in the turn, or later.
type installed struct {
	file *catalog.File
	turn uint64
}

func (b *Book) here() (at installed, err error) {
	b.mu.RLock()
	at.turn = b.turn // read before the files are looked up
	b.mu.RUnlock()
	at.file, err = b.opts.Own()
	return at, err
}

// Compile compiles a tenant's policy as it would be in force here. The error says what is wrong,
// and where.
func (b *Book) Compile(tenant string, text []byte) (config.Rules, error) {
	at, err := b.here()
	if err != nil {
		return config.Rules{}, err
	}
	return b.compile(tenant, text, at)
}

// compile compiles a policy of a tenant. It compiles the same text only once in a turn, and only
// one policy of a tenant at a time.
func (b *Book) compile(tenant string, text []byte, at installed) (config.Rules, error) {
	id, dryRun := floodmark.DigestOf(string(text)), b.opts.Settings(tenant).DryRun
	if r, ok := b.known(id, dryRun); ok {
		return r, nil
	}
	if one := b.compiling[tenant]; one != nil {
		one.Lock()
		defer one.Unlock()
		if r, ok := b.known(id, dryRun); ok { // another caller may have compiled it while we waited
			return r, nil
		}
	}
	r, err := b.read("policy.yaml", text, dryRun, at.file)
	if err != nil {
		return config.Rules{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if at.turn != b.turn {
		return r, nil // the files have changed, so the result is not cached
	}
	if b.size += len(text) + compiledBytes; b.size > maxCompiled {
		clear(b.compiled)
		b.size = len(text) + compiledBytes
	}
	b.compiled[id] = r
	return r, nil
}

// known returns a policy from the cache.
func (b *Book) known(id floodmark.Digest, dryRun bool) (config.Rules, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	r, ok := b.compiled[id]
	return r, ok && (dryRun || r.Policy.Settings("").Enforce)
}

// maxCompiled bounds the cached policies, by the bytes of their texts plus compiledBytes for each.
// A compiled policy takes about fifty times as much memory.
const (
	maxCompiled   = 4 << 20
	compiledBytes = 1 << 10
)
