package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// A mix says which events the sessions have while they are measured.
type mix struct {
	name     string // comes before the name of a figure; empty for the usual mix
	sessions int
	// Session i has had before+i%spread events after its opening when measuring begins.
	before, spread int
	// life is how many of these events the recorded session has. No session has so many.
	life int
	// ready is how many events of a session are prepared for a slice of prebuilt rows. They
	// are enough for 75,000 events a second.
	ready    int
	opening  func(id floodmark.SessionID) []hook.Event
	question func(id floodmark.SessionID, k int) hook.Event
}

// calls returns how many events session i has had after its opening when measuring begins.
func (m *mix) calls(i int) int { return m.before + i%m.spread }

// began returns the number of events that session i of the prebuilt rows has when measuring
// begins. The decider's has as many, because the decider handles one more event in each session
// before it is measured.
func (m *mix) began(i int) int { return len(m.opening("")) + m.calls(i) + 1 }

// mixOf returns a mix by its name on the command line.
func mixOf(name string, seed uint64) (*mix, error) {
	switch name {
	case "usual":
		return usualMix(), nil
	case "real":
		return realMix(seed), nil
	}
	return nil, fmt.Errorf("there is no mix called %q: usual or real", name)
}

// usualMix returns the mix of a node with many small sessions that only have calls.
func usualMix() *mix {
	return &mix{sessions: 10_000, spread: 32, life: 400, ready: 6, opening: opening, question: question}
}

// In the realistic mix three of ten events are results of tools. A session has had about fifty
// results when measuring begins. The sizes of results are distributed log-normally.
const (
	middleBytes = 2_000   // the median of the sizes
	largeBytes  = 200_000 // one result of a hundred is larger
	results     = 100     // how many sizes there are, one for each hundredth of the distribution
	ofTen       = 10
)

// realMix returns the realistic mix. The seed chooses its texts.
func realMix(seed uint64) *mix {
	t := newTexts(seed)
	return &mix{
		name: "realistic mix, ", sessions: 500, before: 160, spread: 64, life: 1000, ready: 120, opening: opening,
		question: func(id floodmark.SessionID, k int) hook.Event { return t.event(id, k) },
	}
}

// texts are what results are made of.
type texts struct {
	sizes []int    // of results, one after the other
	kinds []string // a long text of each kind
}

// corpusBytes is the size of the text of each kind. Results are cut from it at random lines,
// so that no two are the same.
const corpusBytes = 4 << 20

func newTexts(seed uint64) *texts {
	r := rand.New(rand.NewPCG(seed, 2))
	t := &texts{sizes: make([]int, results)}
	sigma := math.Log(largeBytes/middleBytes) / normalQuantile(0.99)
	for i, at := range r.Perm(results) {
		z := normalQuantile((float64(at) + 0.5) / results)
		t.sizes[i] = int(middleBytes * math.Exp(sigma*z))
	}
	words := vocabulary(r)
	for _, line := range []func(*rand.Rand, []string) string{prose, listed, source, logged} {
		var b strings.Builder
		for b.Len() < corpusBytes {
			b.WriteString(line(r, words))
		}
		t.kinds = append(t.kinds, b.String())
	}
	return t
}

// normalQuantile returns the quantile p of the standard normal distribution.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// event returns the k-th event of a session after its opening. Of ten events, five are calls that
// are allowed, three are results of such calls, and two are calls about which a person is asked.
func (t *texts) event(id floodmark.SessionID, k int) hook.Event {
	call := func(k int) hook.Event {
		name := fmt.Sprintf("c%06d", k)
		switch k % ofTen {
		case 2, 6:
			return toolCall(id, name, "read", fmt.Sprintf(`{"path":"/work/%s/list-%06d.md"}`, id, k))
		case 7:
			return toolCall(id, name, "web_fetch", fmt.Sprintf(`{"url":"https://news.example/more/%06d"}`, k))
		case 9:
			return toolCall(id, name, "send_email", fmt.Sprintf(`{"to":"user%d@firm.example","body":"the order %06d is paid"}`, k%16, k))
		}
		return toolCall(id, name, "read", fmt.Sprintf(`{"path":"/work/%s/notes-%06d.md"}`, id, k))
	}
	switch k % ofTen {
	case 1, 3, 5:
		ev := call(k - 1)
		ev.Point, ev.Result = hook.AfterToolCall, hook.Result{Text: t.result(id, k/ofTen*3+k%ofTen/2)}
		return ev
	}
	return call(k)
}

// result returns the n-th result of a session. Each session begins at another place in the list
// of sizes, so that results of all sizes come at any time.
func (t *texts) result(id floodmark.SessionID, n int) string {
	number, _ := strconv.Atoi(strings.TrimPrefix(string(id), "session-"))
	size := t.sizes[(n+number*7)%len(t.sizes)]
	all := t.kinds[n%len(t.kinds)]
	from := int(uint64(number*4099+n) * 0x9e3779b97f4a7c15 >> 32 % uint64(len(all)-size-1))
	from += strings.IndexByte(all[from:], '\n') + 1
	text := all[from:min(from+size, len(all))]
	if n%len(t.kinds) == 1 {
		if end := strings.LastIndex(text, ",\n"); end > 0 {
			return "[" + text[:end] + "]"
		}
	}
	return text
}

// vocabulary returns made-up words. The first words are the shortest, and [word] draws them most.
func vocabulary(r *rand.Rand) []string {
	const consonants, vowels = "bcdfghklmnprstvwz", "aeiou"
	words := make([]string, 20_000)
	for i := range words {
		var b strings.Builder
		for range 1 + r.IntN(2) + int(math.Log10(float64(i+10)))/2 {
			b.WriteByte(consonants[r.IntN(len(consonants))])
			b.WriteByte(vowels[r.IntN(len(vowels))])
			if r.IntN(3) == 0 {
				b.WriteByte(consonants[r.IntN(len(consonants))])
			}
		}
		words[i] = b.String()
	}
	return words
}

// word draws a word. It draws the first words of the list most often.
func word(r *rand.Rand, words []string) string {
	return words[int(math.Pow(float64(len(words)), r.Float64()))-1]
}

func prose(r *rand.Rand, words []string) string {
	var b strings.Builder
	for n := 8 + r.IntN(60); n > 0; n-- {
		switch w := word(r, words); r.IntN(40) {
		case 0:
			fmt.Fprintf(&b, "https://%s.example/%s/%d ", w, word(r, words), r.IntN(10_000))
		case 1:
			fmt.Fprintf(&b, "%s@%s.example ", w, word(r, words))
		case 2:
			fmt.Fprintf(&b, "%d.%02d ", r.IntN(1000), r.IntN(100))
		case 3, 4:
			b.WriteString(strings.ToUpper(w[:1]) + w[1:] + ". ")
		default:
			b.WriteString(w + " ")
		}
	}
	return b.String() + "\n"
}

func listed(r *rand.Rand, words []string) string {
	return fmt.Sprintf(`{"id": %d, "title": "%s %s %s", "author": "%s@firm.example", "done": %v, "price": %d.%02d, "at": "2026-%02d-%02dT10:00:00Z"},`+"\n",
		r.IntN(1e6), word(r, words), word(r, words), word(r, words), word(r, words), r.IntN(2) == 0, r.IntN(1000), r.IntN(100), r.IntN(12)+1, r.IntN(28)+1)
}

func source(r *rand.Rand, words []string) string {
	a, b, c := word(r, words), word(r, words), word(r, words)
	return fmt.Sprintf("func (s *%s) %s(ctx context.Context, at int) (%s, error) {\n\tif at >= len(s.rows) {\n\t\treturn nil, errRange // %s %s\n\t}\n\treturn s.%s[at].%s(%d), nil\n}\n\n",
		a, b, c, word(r, words), word(r, words), word(r, words), word(r, words), r.IntN(100))
}

func logged(r *rand.Rand, words []string) string {
	return fmt.Sprintf("2026-03-%02dT10:%02d:%02dZ INFO %s: request done path=/api/%s/%d status=200 took=%dms id=%08x\n",
		r.IntN(28)+1, r.IntN(60), r.IntN(60), word(r, words), word(r, words), r.IntN(10_000), r.IntN(900), r.Uint32())
}
