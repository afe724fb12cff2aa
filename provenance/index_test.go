package provenance

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/postings"
)

var (
	_ encoding.BinaryMarshaler   = Postings(nil)
	_ encoding.BinaryUnmarshaler = (*Postings)(nil)
)

func testKey() Key { return Key{1, 2, 3} }

// sampleText returns text as agents read it: prose with some names, links and
// numbers in it.
func sampleText(size int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < size {
		switch rng.IntN(40) {
		case 0:
			fmt.Fprintf(&b, "https://host%d.example.com/path/%d?q=%d ", rng.IntN(500), rng.IntN(5000), rng.IntN(100))
		case 1:
			fmt.Fprintf(&b, "user%d@example.org, ", rng.IntN(3000))
		case 2:
			fmt.Fprintf(&b, "%d.%02d ", rng.IntN(10000), rng.IntN(100))
		case 3:
			b.WriteString("naïve café\n")
		case 4:
			fmt.Fprintf(&b, "src/pkg%d/file%d.go ", rng.IntN(100), rng.IntN(1000))
		default:
			n := rng.IntN(20000)
			n = n * n / 20000 // frequent words are frequent
			for length := 2 + n%7; length > 0; length-- {
				b.WriteByte(byte('a' + (n*length+length)%26))
			}
			b.WriteByte(" . "[rng.IntN(3)])
			b.WriteByte(' ')
		}
	}
	return b.String()[:size]
}

func has(p Postings, token string) bool {
	h := testKey().Hash(token)
	_, ok := slices.BinarySearchFunc(p, h, func(a Posting, h Hash) int {
		switch {
		case a.Hash < h:
			return -1
		case a.Hash > h:
			return 1
		}
		return 0
	})
	return ok
}

func TestPostings(t *testing.T) {
	p := testKey().Postings(`Send $1,250.00 for INV-7 (see https://Files.Evil.com:8080/a/b?x=1#top and docs/Notes.md) to "Bob Jones" at bob@evil.com, #42. Say "the".`)
	for _, token := range []string{
		"$1,250.00", "1250", "inv-7", "https://files.evil.com:8080/a/b?x=1#top", "https://files.evil.com:8080/a/b?x=1",
		"https://files.evil.com:8080/a/b", "files.evil.com", "docs/notes.md", "notes.md", "bob jones", "bob", "jones",
		"bob@evil.com", "#42", "42", "the",
	} {
		if !has(p, token) {
			t.Errorf("%q is not found", token)
		}
	}
	for _, token := range []string{"send", "for", "to", "evil.com", "bob@", "@evil.com", "evil", "notes", ""} {
		if has(p, token) {
			t.Errorf("%q is found", token)
		}
	}
	if !slices.IsSortedFunc(p, func(a, b Posting) int { return int(int64(a.Hash>>1) - int64(b.Hash>>1)) }) {
		t.Error("not in order")
	}
}

func TestPostingsAreOfTheFirstPlace(t *testing.T) {
	p := testKey().Postings("alpha beta alpha alpha")
	at := slices.IndexFunc(p, func(p Posting) bool { return p.Hash == testKey().Hash("alpha") })
	if len(p) != 2 || at < 0 || p[at].Offset != 0 {
		t.Errorf("%v", p)
	}
	if len(testKey().Postings("")) != 0 || len(testKey().Postings("to the and of it")) != 1 {
		t.Error("common words are kept by themselves, or their window is not")
	}
}

// A hash is the beginning of an HMAC-SHA256, for tokens of all lengths, one
// after the other.
func TestHashesAreHMAC(t *testing.T) {
	key := testKey()
	h := newHasher(key)
	for n := range 700 {
		token := strings.Repeat("é", n)[:n]
		mac := hmac.New(sha256.New, key[:])
		mac.Write([]byte(token))
		want := Hash(binary.BigEndian.Uint64(mac.Sum(nil)))
		if got := h.text(token); got != want || key.Hash(token) != want || !slices.Equal(h.sum[:], mac.Sum(nil)) {
			t.Fatalf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

func TestKeysDiffer(t *testing.T) {
	if testKey().Hash("a") == (Key{}).Hash("a") {
		t.Error("two keys, one hash")
	}
	if s := fmt.Sprintf("%v %s %#v", testKey(), testKey(), testKey()); s != "key key provenance.Key{…}" {
		t.Errorf("a key is written as %s", s)
	}
}

func TestPostingsCode(t *testing.T) {
	for _, text := range []string{"", "alpha", sampleText(20000)} {
		p := testKey().Postings(text)
		data, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var back Postings
		if err := back.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back, p) {
			t.Error("it came back different")
		}
		if len(p) > 100 && len(data) > 12*len(p) {
			t.Errorf("%d bytes for %d postings", len(data), len(p))
		}
	}
}

// Hashes on disk must be found again: if the sum changes, the format must change, unless
// all old postings are still the same. (298a971c had no labels.)
func TestPostingsStayAsTheyAre(t *testing.T) {
	data, err := testKey().Postings(`To Alice: alpha beta gamma delta "the" epsilon zeta, $1,250.00 for https://x.com/a?b in src/main.go`).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := floodmark.DigestOf(string(data)).Short(), "65da5bab"; got != want {
		t.Errorf("format %d: %s, want %s", postings.Format, got, want)
	}
}

func FuzzPostings(f *testing.F) {
	data, _ := testKey().Postings("alpha beta https://x.com/y").MarshalBinary()
	f.Add(data)
	f.Add([]byte{postings.Format, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var p Postings
		if p.UnmarshalBinary(data) != nil {
			return
		}
		again, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var back Postings
		if err := back.UnmarshalBinary(again); err != nil || !slices.Equal(back, p) {
			t.Errorf("%v, %v", back, err)
		}
	})
}

func BenchmarkPostings(b *testing.B) {
	for _, size := range []int{10 << 10, 40 << 20} {
		b.Run(fmt.Sprint(size>>10, "KiB"), func(b *testing.B) {
			text := sampleText(size)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				testKey().Postings(text)
			}
		})
	}
}
