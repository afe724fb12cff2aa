package bundle

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"time"
)

// A sealed bundle is the magic, the public key, the signature, and the body. The signature covers
// the domain and the body, so that a signature made for anything else is not valid here. Numbers
// have a fixed size, big endian, and each text follows its length, so that a bundle has exactly one
// encoding.
const (
	magic  = "floodmark bundle 1\n"
	domain = "floodmark bundle 1: the rules of a tenant\x00"
	prefix = len(magic) + ed25519.PublicKeySize + ed25519.SignatureSize
	// MaxSealedBytes bounds a sealed bundle.
	MaxSealedBytes = prefix + 2 + maxNameBytes + 4*8 + 2 + MaxNoteBytes + 4 + MaxPolicyBytes
	maxNameBytes   = 1 << 10 // Check allows less
)

// Seal returns the bundle's encoding, signed.
func (b Bundle) Seal(key ed25519.PrivateKey) ([]byte, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	if len(key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("seal a bundle: the key has %d bytes, want %d", len(key), ed25519.PrivateKeySize)
	}
	body := b.body()
	out := make([]byte, 0, prefix+len(body))
	out = append(out, magic...)
	out = append(out, key[ed25519.SeedSize:]...)
	out = append(out, ed25519.Sign(key, signed(body))...)
	return append(out, body...), nil
}

// Open returns a bundle that one of the keys signed. Without keys it always fails.
func Open(sealed []byte, keys []ed25519.PublicKey) (Bundle, error) {
	b, body, err := claims(sealed)
	if err != nil {
		return Bundle{}, err
	}
	signer := Signer(sealed)
	known := false
	for _, k := range keys {
		known = known || len(k) == ed25519.PublicKeySize && bytes.Equal(k, signer)
	}
	if !known {
		return Bundle{}, fmt.Errorf("%w: %s", ErrUnknownKey, FormatKey(signer))
	}
	if !ed25519.Verify(signer, signed(body), sealed[len(magic)+ed25519.PublicKeySize:prefix]) {
		return Bundle{}, ErrSignature
	}
	return b, nil
}

// Claims reads what a sealed bundle says of itself, without verifying its signature. It is for
// storing bundles, never for using them.
func Claims(sealed []byte) (Bundle, error) {
	b, _, err := claims(sealed)
	return b, err
}

// Signer returns the key that a sealed bundle names as its signer; nil for other bytes.
func Signer(sealed []byte) ed25519.PublicKey {
	if len(sealed) < prefix || len(sealed) > MaxSealedBytes || string(sealed[:len(magic)]) != magic {
		return nil
	}
	return bytes.Clone(sealed[len(magic) : len(magic)+ed25519.PublicKeySize])
}

func claims(sealed []byte) (b Bundle, body []byte, err error) {
	if Signer(sealed) == nil {
		return Bundle{}, nil, fmt.Errorf("%w: it does not begin like one, or is larger than %d bytes", ErrMalformed, MaxSealedBytes)
	}
	body = sealed[prefix:]
	r := &cursor{rest: body}
	b.Tenant = string(r.text(r.number(2)))
	b.Version, b.Floor = r.number(8), r.number(8)
	b.Made, b.ValidUntil = r.time(), r.time()
	b.Note = string(r.text(r.number(2)))
	b.Policy = bytes.Clone(r.text(r.number(4)))
	if r.short || len(r.rest) > 0 {
		return Bundle{}, nil, fmt.Errorf("%w: it is cut off, or something follows it", ErrMalformed)
	}
	if err := b.Check(); err != nil {
		return Bundle{}, nil, err
	}
	return b, body, nil
}

func signed(body []byte) []byte { return append([]byte(domain), body...) }

func (b Bundle) body() []byte {
	var out []byte
	out = binary.BigEndian.AppendUint16(out, uint16(len(b.Tenant)))
	out = append(out, b.Tenant...)
	for _, n := range []uint64{b.Version, b.Floor, uint64(b.Made.Unix()), uint64(b.ValidUntil.Unix())} {
		out = binary.BigEndian.AppendUint64(out, n)
	}
	out = binary.BigEndian.AppendUint16(out, uint16(len(b.Note)))
	out = append(out, b.Note...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(b.Policy)))
	return append(out, b.Policy...)
}

// A cursor reads untrusted bytes. Missing bytes are read as zero and set short.
type cursor struct {
	rest  []byte
	short bool
}

func (c *cursor) text(n uint64) []byte {
	if c.short || n > uint64(len(c.rest)) {
		c.short = true
		return nil
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cursor) number(size uint64) uint64 {
	var n uint64
	for _, b := range c.text(size) {
		n = n<<8 | uint64(b)
	}
	return n
}

// maxTime is the last second of the year 9999. Later years need five digits.
const maxTime = 253402300799

func (c *cursor) time() time.Time {
	n := c.number(8)
	if n > maxTime {
		c.short = true
		return time.Time{}
	}
	return time.Unix(int64(n), 0).UTC()
}
