package protection

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark/hook"
)

// Verbatim returns policy B: after third-party text was seen, it asks about a call if one of its
// critical arguments appears neither in the user's message nor in a result without third-party
// text. Reading a page is judged like any other call.
func Verbatim(d *Data) Decider {
	return &verbatim{data: d, texts: newCache(d.Texts, func(t Text) *folded { return newFolded(t.Body) })}
}

type verbatim struct {
	data  *Data
	texts *cache[*folded]
}

func (v *verbatim) Name() string { return "B" }

func (v *verbatim) Begin(t *Trace) (Run, error) {
	return &verbatimRun{
		highWaterRun: highWaterRun{cards: v.data.Cards, suite: t.Suite},
		texts:        v.texts,
		believed:     []*folded{v.texts.get(t.User)},
	}, nil
}

type verbatimRun struct {
	highWaterRun
	texts    *cache[*folded]
	believed []*folded
}

func (r *verbatimRun) Ask(c *Call) (bool, error) {
	card := r.cards.Card(r.suite, c.Tool)
	if !r.tainted || !card.Sink {
		return false, nil
	}
	if !r.cards.Known(r.suite, c.Tool) {
		return true, nil
	}
	for _, l := range c.criticalLeaves(card) {
		if !r.found(l, card.Roles[l.Top]) {
			return true, nil
		}
	}
	return false, nil
}

func (r *verbatimRun) Feed(c *Call, _ bool) error {
	if r.cards.Card(r.suite, c.Tool).foreign(c.Result.Body) {
		r.tainted = true
		return nil
	}
	r.believed = append(r.believed, r.texts.get(c.Result))
	return nil
}

// found reports whether a believed text contains the value: a number by its value; the number of
// something only after «id», «number» or «#»; of a time only its day; everything else as whole
// words. The published definition does not say how times are compared; comparing only the day gives
// its figures.
func (r *verbatimRun) found(l hook.Leaf, role string) bool {
	value := bare(l.Value)
	number, isNumber := parseNumber(value)
	match := func(f *folded) bool { return f.has(value) }
	switch {
	case role == "when":
		value, _, _ = strings.Cut(strings.ReplaceAll(value, "t", " "), " ")
	case role == "target" && allDigits(value):
		match = func(f *folded) bool { return f.names(value) }
	case isNumber:
		match = func(f *folded) bool { return f.hasNumber(number) }
	}
	return slices.ContainsFunc(r.believed, match)
}

// parseNumber reads a plain decimal number, without its sign.
func parseNumber(s string) (float64, bool) {
	s = strings.TrimPrefix(s, "-")
	whole, fraction, dotted := strings.Cut(s, ".")
	if !allDigits(whole) || dotted && !allDigits(fraction) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return math.Abs(n), err == nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
