package monitor

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/provenance"
)

// Artifacts that sessions leave are stored beside the journal and looked up by key when a call
// names one. The result is cached for one judgement only, because another node may write in
// between. A journal with a single writer does its own caching, of misses too.

// A left looks up artifacts of one tenant during one judgement. The rules cannot report a failed
// read, so the error is kept here and checked afterwards.
type left struct {
	ctx    context.Context
	m      *Monitor
	seat   *seat
	tenant string
	keys   keys
	known  map[floodmark.ArtifactRef][]artifact.Kept
	err    error
}

var _ artifact.Store = (*left)(nil)

// Find implements [artifact.Store].
func (l *left) Find(refs []floodmark.ArtifactRef) []artifact.Kept {
	if l.err != nil {
		return nil
	}
	if l.known == nil {
		l.known = make(map[floodmark.ArtifactRef][]artifact.Kept, len(refs))
	}
	var want []floodmark.Digest
	var of []floodmark.ArtifactRef // of[i] is the artifact that want[i] is a key of
	for _, ref := range refs {
		if _, ok := l.known[ref]; ok {
			continue
		}
		for _, k := range l.keys.Keys { // the artifact may be stored under any of these keys
			want, of = append(want, l.m.artifactKey(k.Key, ref)), append(of, ref)
		}
		l.known[ref] = nil
	}
	if len(want) > 0 {
		if l.err = l.read(want, of); l.err != nil {
			return nil
		}
	}
	var found []artifact.Kept
	for _, ref := range refs {
		found = append(found, l.known[ref]...)
	}
	return found
}

func (l *left) read(want []floodmark.Digest, of []floodmark.ArtifactRef) error {
	// What this session itself left is not in the journal before its flush is durable.
	if l.m.seats.leaving(l.seat, want) {
		if err := l.m.seats.drain(l.ctx, l.seat); err != nil {
			return err
		}
		if !l.m.seats.founded(l.seat) {
			return unfounded()
		}
	}
	for some := range slices.Chunk(want, postingsAtOnce) {
		words, err := l.m.cfg.Journal.Artifacts(l.ctx, l.tenant, some)
		if err != nil {
			return fmt.Errorf("read what sessions left behind: %w", err)
		}
		for _, w := range words {
			a, err := openArtifact(l.keys.Ring, w)
			at := slices.Index(want, w.Key)
			if err != nil || at < 0 || a.Ref != of[at] {
				return fmt.Errorf("%w: what session %s left behind was changed, or sealed with a key that is not here", journal.ErrBroken, w.Session)
			}
			l.take(artifact.Kept{Version: floodmark.ArtifactVersion{Session: w.Session, Seq: w.Seq}, Artifact: a})
		}
	}
	for _, ref := range of {
		slices.SortFunc(l.known[ref], func(a, b artifact.Kept) int {
			return slices.Compare([]byte(a.Version.Session), []byte(b.Version.Session))
		})
	}
	return nil
}

// take adds a session's artifact. The artifact may be stored under several keys, and an older
// version may remain under one of them. Only the newest version is used.
func (l *left) take(k artifact.Kept) {
	list := l.known[k.Ref]
	at := slices.IndexFunc(list, func(o artifact.Kept) bool { return o.Version.Session == k.Version.Session })
	switch {
	case at < 0:
		l.known[k.Ref] = append(list, k)
	case list[at].Version.Seq < k.Version.Seq:
		list[at] = k
	}
}

// artifactKey returns the key an artifact is stored under; it cannot be guessed without the
// tenant's key. The key of a file depends on its machine.
func (m *Monitor) artifactKey(key provenance.Key, ref floodmark.ArtifactRef) floodmark.Digest {
	machine := ""
	switch ref.Kind {
	case floodmark.FileArtifact, floodmark.TreeArtifact, floodmark.FolderArtifact:
		machine = m.cfg.Machine
	case floodmark.MemoryArtifact, floodmark.ServerArtifact, floodmark.TextArtifact, floodmark.VouchArtifact:
	}
	var room [512]byte // avoids an allocation for most names; nearly every decision runs this
	text := room[:sha256.BlockSize]
	for _, part := range [...]string{"floodmark artifact", machine, string(ref.Kind), ref.Name} {
		text = binary.BigEndian.AppendUint32(text, uint32(len(part)))
		text = append(text, part...)
	}
	return floodmark.Digest(macOf(key, text))
}

// macOf returns the HMAC-SHA256 of the text after its first block, which it overwrites. Unlike
// crypto/hmac, which allocates five times, it allocates nothing.
func macOf(key provenance.Key, text []byte) [sha256.Size]byte {
	var outer [sha256.BlockSize + sha256.Size]byte
	for i := range sha256.BlockSize {
		k := byte(0)
		if i < len(key) {
			k = key[i]
		}
		text[i], outer[i] = k^0x36, k^0x5c
	}
	inner := sha256.Sum256(text)
	copy(outer[sha256.BlockSize:], inner[:])
	return sha256.Sum256(outer[:])
}

// words returns the artifacts that a session leaves or removes. [sealWords] seals them later, when
// the entry they belong to has its number.
func (m *Monitor) words(s journal.Session, key keys, out *kernel.Output) (list []journal.Artifact, err error) {
	for _, g := range out.Gone {
		for _, k := range key.Keys {
			list = append(list, journal.Artifact{Tenant: s.Tenant, Key: m.artifactKey(k.Key, g.Ref), Session: g.Version.Session, Seq: g.Version.Seq})
		}
	}
	for _, a := range out.Artifacts {
		body, err := json.Marshal(a)
		if err != nil {
			return nil, fmt.Errorf("write %s down: %w", a.Ref.Kind, err)
		}
		for _, k := range key.places(key.seals()) {
			list = append(list, journal.Artifact{Tenant: s.Tenant, Key: m.artifactKey(k.Key, a.Ref), Session: s.ID, Body: body})
		}
	}
	return list, nil
}

// sealWords seals artifacts for the last entry of the batch and adds them to the batch.
func sealWords(b *journal.Batch, sealed provenance.Key, words []journal.Artifact) {
	for _, w := range words {
		if !w.Gone() {
			w.Seq = b.Records[0].Last().Seq
			w.Body = append(w.MAC(sealed[:]), w.Body...)
		}
		b.Artifacts = append(b.Artifacts, w)
	}
}

// openArtifact opens an artifact that was sealed for exactly this place, with any key of the
// tenant.
func openArtifact(ring provenance.Ring, w journal.Artifact) (a floodmark.Artifact, err error) {
	if len(w.Body) < sha256.Size {
		return a, journal.ErrBroken
	}
	mac := w.Body[:sha256.Size]
	w.Body = w.Body[sha256.Size:]
	if !slices.ContainsFunc(ring.Keys, func(k provenance.RingKey) bool { return hmac.Equal(mac, w.MAC(k.Key[:])) }) {
		return a, journal.ErrBroken
	}
	err = json.Unmarshal(w.Body, &a)
	return a, err
}
