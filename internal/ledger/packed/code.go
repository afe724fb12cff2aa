package packed

import (
	"encoding/binary"

	"github.com/floodmark/floodmark"
)

// The bits of the first byte of a source say which parts it has.
const (
	hasDigest = 1 << iota
	hasInputs
	hasLinks
	hasVia
	hasSecrets
	isWhole
	isOwner
	waits
)

// offsetBytes is the size of the offset of one source in its block.
const offsetBytes = 4

// usualBytes is the size of most sources.
const usualBytes = 128

// A writer packs a block: the offset of each source, then the sources, each with its [Gist] first.
// A repeated text is written as the offset of its first occurrence.
type writer struct {
	out   []byte
	texts map[string]int
}

func pack(list []floodmark.Source) string {
	w := writer{out: make([]byte, offsetBytes*len(list), usualBytes*len(list)), texts: map[string]int{}}
	for i := range list {
		binary.BigEndian.PutUint32(w.out[offsetBytes*i:], uint32(len(w.out)))
		w.source(&list[i])
	}
	return string(w.out)
}

func (w *writer) source(s *floodmark.Source) {
	w.gist(s)
	o := &s.Origin
	for _, text := range []string{
		string(s.Kind), string(o.Kind), o.Name, o.Server, o.Place, o.Sender, o.Group,
		string(s.Call), string(s.Because), s.Said,
	} {
		w.text(text)
	}
	if len(s.Via) > 0 {
		w.number(len(s.Via))
	}
	for _, p := range s.Via {
		w.text(string(p.Artifact.Kind))
		w.text(p.Artifact.Name)
		w.text(string(p.Session))
	}
	if len(s.Secrets) > 0 {
		w.number(len(s.Secrets))
	}
	for _, f := range s.Secrets {
		w.text(f.Rule)
		w.text(f.Print)
		for _, n := range []int{f.Start, f.End, f.Length, f.Quick} {
			w.number(n)
		}
	}
}

func (w *writer) gist(s *floodmark.Source) {
	var has byte
	for _, f := range []struct {
		bit byte
		set bool
	}{
		{hasDigest, !s.Digest.IsZero()},
		{hasInputs, len(s.Inputs) > 0},
		{hasLinks, s.Links != 0},
		{hasVia, len(s.Via) > 0},
		{hasSecrets, len(s.Secrets) > 0},
		{isWhole, s.Whole},
		{isOwner, s.Origin.IsOwner},
		{waits, s.Call != ""},
	} {
		if f.set {
			has |= f.bit
		}
	}
	w.out = append(w.out, has, byte(s.Label.Trust), byte(s.Label.Secrecy))
	if has&hasDigest != 0 {
		w.out = append(w.out, s.Digest[:]...)
	}
	if has&hasLinks != 0 {
		w.number(s.Links)
	}
	if has&hasInputs != 0 {
		w.number(len(s.Inputs))
	}
	for _, in := range s.Inputs {
		w.number(int(in))
	}
}

func (w *writer) number(n int) { w.out = binary.AppendVarint(w.out, int64(n)) }

// text writes the length of a text and the text. For a repeated text it writes the negative of the
// first one's offset instead.
func (w *writer) text(s string) {
	if at, ok := w.texts[s]; ok {
		w.number(-at)
		return
	}
	if s != "" {
		w.texts[s] = len(w.out)
	}
	w.number(len(s))
	w.out = append(w.out, s...)
}

// A reader reads what a writer wrote.
type reader struct {
	in string
	at int
}

// offset returns the offset of the i-th source in a block.
func offset(in string, i int) int {
	b := in[offsetBytes*i:]
	return int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3])
}

// unpack reads the i-th source of a block. The source's texts share memory with the block.
func unpack(in string, i int, n floodmark.NodeID) floodmark.Source {
	r := reader{in: in, at: offset(in, i)}
	g, has := r.gist()
	s := floodmark.Source{Node: n, Label: g.Label, Digest: g.Digest, Inputs: g.Inputs, Links: g.Links, Whole: g.Whole}
	o := &s.Origin
	s.Kind, o.Kind = floodmark.NodeKind(r.text()), floodmark.OriginKind(r.text())
	o.Name, o.Server, o.Place, o.Sender, o.Group = r.text(), r.text(), r.text(), r.text(), r.text()
	o.IsOwner = has&isOwner != 0
	s.Call, s.Because, s.Said = floodmark.CallID(r.text()), floodmark.Code(r.text()), r.text()
	if has&hasVia != 0 {
		s.Via = make([]floodmark.Passage, r.number())
	}
	for i := range s.Via {
		p := &s.Via[i]
		p.Artifact.Kind, p.Artifact.Name, p.Session = floodmark.ArtifactKind(r.text()), r.text(), floodmark.SessionID(r.text())
	}
	if has&hasSecrets != 0 {
		s.Secrets = make([]floodmark.SecretSpan, r.number())
	}
	for i := range s.Secrets {
		f := &s.Secrets[i]
		f.Rule, f.Print = r.text(), r.text()
		f.Start, f.End, f.Length, f.Quick = r.number(), r.number(), r.number(), r.number()
	}
	return s
}

// unpackAll reads all sources of a block, which begins at node at*block.
func unpackAll(in string, at int) []floodmark.Source {
	list := make([]floodmark.Source, block)
	for i := range list {
		list[i] = unpack(in, i, floodmark.NodeID(at*block+i))
	}
	return list
}

func (r *reader) gist() (g Gist, has byte) {
	has = r.in[r.at]
	g.Label = floodmark.Label{Trust: floodmark.Trust(r.in[r.at+1]), Secrecy: floodmark.Secrecy(r.in[r.at+2])}
	r.at += 3
	g.Whole, g.Waits, g.Secret = has&isWhole != 0, has&waits != 0, has&hasSecrets != 0
	if has&hasDigest != 0 {
		r.at += copy(g.Digest[:], r.in[r.at:])
	}
	if has&hasLinks != 0 {
		g.Links = r.number()
	}
	if has&hasInputs != 0 {
		g.Inputs = make([]floodmark.NodeID, r.number())
	}
	for i := range g.Inputs {
		g.Inputs[i] = floodmark.NodeID(r.number())
	}
	return g, has
}

func (r *reader) number() int {
	var n uint64
	for shift := 0; ; shift += 7 {
		b := r.in[r.at]
		r.at++
		if n |= uint64(b&0x7f) << shift; b < 0x80 {
			return int(int64(n>>1) ^ -int64(n&1))
		}
	}
}

func (r *reader) text() string {
	n := r.number()
	if n < 0 {
		there := reader{in: r.in, at: -n}
		return there.text()
	}
	r.at += n
	return r.in[r.at-n : r.at]
}
