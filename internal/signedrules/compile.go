package signedrules

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/config"
)

// An installed is where this installation lies, as it was in some turn or later.
type installed struct {
	file *catalog.File
	turn uint64
}

func (b *Book) here() (at installed, err error) {
	b.mu.RLock()
	at.turn = b.turn // before it is looked
	b.mu.RUnlock()
	at.file, err = b.opts.Own()
	return at, err
}

// Compile reads a tenant's policy as it would hold here, or says what is wrong and where.
func (b *Book) Compile(tenant string, text []byte) (config.Rules, error) {
	at, err := b.here()
	if err != nil {
		return config.Rules{}, err
	}
	return b.compile(tenant, text, at)
}

// compile reads a policy of a tenant. The same text is compiled once in a turn, and
// of one tenant one at a time.
func (b *Book) compile(tenant string, text []byte, at installed) (config.Rules, error) {
	id, dryRun := floodmark.DigestOf(string(text)), b.opts.Settings(tenant).DryRun
	if r, ok := b.known(id, dryRun); ok {
		return r, nil
	}
	if one := b.compiling[tenant]; one != nil {
		one.Lock()
		defer one.Unlock()
		if r, ok := b.known(id, dryRun); ok { // who was before us may have done it
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
		return r, nil // others must not get it any more
	}
	if b.size += len(text) + compiledBytes; b.size > maxCompiled {
		clear(b.compiled)
		b.size = len(text) + compiledBytes
	}
	b.compiled[id] = r
	return r, nil
}

// known returns a policy that was compiled before.
func (b *Book) known(id floodmark.Digest, dryRun bool) (config.Rules, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	r, ok := b.compiled[id]
	return r, ok && (dryRun || r.Policy.Settings("").Enforce)
}

// maxCompiled bounds the policies that are kept beside those in use, by the bytes
// of their texts and some for each: compiled they take about fifty times as much.
const (
	maxCompiled   = 4 << 20
	compiledBytes = 1 << 10
)
