package redact

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/provenance"
)

// A secret is recognised by its letters and digits alone, so that spaces, hyphens or invisible
// characters between them do not hide it. Its print is a keyed hash of them, which is found in any
// text by a sliding window.

// leastPrint is how many letters and digits a secret needs to get a print. Shorter secrets may
// occur in any text by chance.
const leastPrint = 8

// A Printer makes the prints of one session.
type Printer struct {
	key    provenance.Key
	name   string     // the name of the key
	base   uint64     // the base of the rolling hash; 0 until needed
	others []*Printer // printers for the other keys of the tenant
}

// NewPrinter returns a printer that uses a session's own key and also recognises prints made with
// the tenant's other keys.
func NewPrinter(own provenance.RingKey, others []provenance.RingKey) Printer {
	p := Printer{key: own.Key, name: own.Name}
	for _, k := range others {
		p.others = append(p.others, &Printer{key: k.Key, name: k.Name})
	}
	return p
}

// Span returns a secret as recorded in facts: its position, its rule, and a print of its letters
// and digits. If there are too few of these, it has no print.
func (p *Printer) Span(s Span, secret string) floodmark.SecretSpan {
	kept := floodmark.SecretSpan{Rule: s.Rule, Start: s.Start, End: s.End}
	if bare := Squeezed(secret); len(bare) >= leastPrint {
		kept.Length, kept.Print, kept.Quick = len(bare), p.print(bare), quick(p.roll(bare))
	}
	return kept
}

func (p *Printer) print(bare string) string {
	sum := fmt.Sprintf("%016x", uint64(p.key.Hash("\x00secret\x00"+bare)))
	if p.name == "" {
		return sum
	}
	return p.name + printSign + sum
}

// printSign separates the name of a key from the print.
const printSign = ":"

// PrintedUnder returns the name of the key with which the print of a secret was made.
func PrintedUnder(s floodmark.SecretSpan) string {
	name, _, ok := strings.Cut(s.Print, printSign)
	if !ok {
		return ""
	}
	return name
}

// roll returns the rolling hash of a text.
func (p *Printer) roll(bare string) uint64 {
	if p.base == 0 {
		p.base = uint64(p.key.Hash("\x00base of secrets")) | 1
	}
	h := uint64(0)
	for i := range len(bare) {
		h = h*p.base + uint64(bare[i]) + 1
	}
	return h
}

// quick returns the part of the rolling hash that is recorded. It is enough to skip nearly every
// position of a text, and too little to reveal anything about the secret.
func quick(h uint64) int { return int(h >> 48) }

// Holds returns the indexes of the secrets that occur in a text of letters and digits, whatever key
// their prints were made with. They are in order, because a decision names them and must not depend
// on changes of the tenant's key.
func (p *Printer) Holds(bare string, secrets []floodmark.SecretSpan) []int {
	list := p.printed(bare, secrets)
	for _, o := range p.others {
		list = append(list, o.printed(bare, secrets)...)
	}
	slices.Sort(list)
	return list
}

// printed does the same as Holds for prints made with this key.
func (p *Printer) printed(bare string, secrets []floodmark.SecretSpan) []int {
	var list []int
	p.each(bare, secrets, func(i, _ int) {
		if !slices.Contains(list, i) {
			list = append(list, i)
		}
	})
	return list
}

// Stand returns at most so many of the secrets that occur unencoded in a text, each with its
// position in the text.
func (p *Printer) Stand(text string, secrets []floodmark.SecretSpan, most int) []floodmark.SecretSpan {
	var list []floodmark.SecretSpan
	if len(secrets) == 0 {
		return nil
	}
	bare := Squeezed(text)
	var places []int // the position of each letter or digit in the text
	p.each(bare, secrets, func(i, at int) {
		if len(list) == most {
			return
		}
		if places == nil {
			places = make([]int, 0, len(bare))
			for at := range len(text) {
				if isBare(text[at]) {
					places = append(places, at)
				}
			}
		}
		s := secrets[i]
		s.Start, s.End = places[at], places[at+s.Length-1]+1
		list = append(list, s)
	})
	return list
}

// each calls found for every place in a text of letters and digits at which a secret occurs whose
// print was made with this key.
func (p *Printer) each(bare string, secrets []floodmark.SecretSpan, found func(secret, at int)) {
	byLength := map[int][]int{}
	for i, s := range secrets {
		if s.Length >= leastPrint && s.Length <= len(bare) && PrintedUnder(s) == p.name {
			byLength[s.Length] = append(byLength[s.Length], i)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(byLength)) {
		var maybe [1 << 16 / 64]uint64 // the quick values in use
		for _, i := range byLength[n] {
			maybe[secrets[i].Quick>>6&(len(maybe)-1)] |= 1 << (secrets[i].Quick & 63)
		}
		h, top := p.roll(bare[:n]), uint64(1)
		for range n {
			top *= p.base
		}
		for at := 0; ; at++ {
			if q := quick(h); maybe[q>>6]>>(q&63)&1 != 0 {
				one := p.print(bare[at : at+n])
				for _, i := range byLength[n] {
					if secrets[i].Print == one {
						found(i, at)
					}
				}
			}
			if at+n == len(bare) {
				break
			}
			h = h*p.base + uint64(bare[at+n]) + 1 - top*(uint64(bare[at])+1)
		}
	}
}

// Squeezed returns the letters and digits of a text.
func Squeezed(text string) string {
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		if isBare(text[i]) {
			b = append(b, text[i])
		}
	}
	return string(b)
}

func isBare(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// maxNested is how many nested encodings are decoded.
const maxNested = 2

// Readings returns the letters and digits of a text and of its possible decodings (percent signs,
// hex, base64, base32), each forwards and backwards.
func Readings(text string) []string {
	var list []string
	todo := []string{text}
	for depth := 0; ; depth++ {
		var inner []string
		for _, t := range todo {
			bare := Squeezed(t)
			list = append(list, bare, backwards(bare))
			if depth == maxNested {
				continue
			}
			if plain, err := url.PathUnescape(t); err == nil && plain != t {
				inner = append(inner, plain)
			}
			inner = append(inner, undone(t)...)
			if hexes := runs(bare, isHex); len(hexes) > 0 {
				inner = append(inner, unhex(hexes)...)
			}
		}
		if todo = inner; len(todo) == 0 || depth == maxNested {
			return list
		}
	}
}

func backwards(text string) string {
	b := []byte(text)
	slices.Reverse(b)
	return string(b)
}

// undone decodes the runs of a text that may be base64 or base32. A run may contain line breaks,
// and may begin with up to three characters that are not part of the encoding.
func undone(text string) []string {
	var list []string
	add := func(b []byte) {
		if len(b) >= leastPrint {
			list = append(list, string(b))
		}
	}
	text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
	whole := strings.NewReplacer("\r", "", "\n", "").Replace(text)
	list64 := runs(whole, isBase64)
	if whole != text {
		list64 = append(list64, runs(text, isBase64)...)
	}
	for _, run := range list64 {
		for skip := range 4 {
			part := run[min(skip, len(run)):]
			b, _ := base64.RawStdEncoding.DecodeString(part[:len(part)/4*4])
			if tail := part[len(part)/4*4:]; len(tail) > 1 {
				end, _ := base64.RawStdEncoding.DecodeString(tail)
				b = append(b, end...)
			}
			add(b)
		}
		if upper := strings.ToUpper(run); strings.Trim(upper, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == "" {
			b, _ := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(upper)
			add(b)
		}
	}
	return list
}

func unhex(hexes []string) []string {
	var list []string
	for _, run := range hexes {
		for skip := range 2 {
			part := run[skip:]
			if b, err := hex.DecodeString(part[:len(part)/2*2]); err == nil {
				list = append(list, string(b))
			}
		}
	}
	return list
}

func isBase64(c byte) bool { return isBare(c) || c == '+' || c == '/' }

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// runs returns the parts of a text that are long enough to encode a secret.
func runs(text string, in func(byte) bool) []string {
	var list []string
	from := 0
	for at := 0; at <= len(text); at++ {
		if at < len(text) && in(text[at]) {
			continue
		}
		if at-from >= leastPrint {
			list = append(list, text[from:at])
		}
		from = at + 1
	}
	return list
}
