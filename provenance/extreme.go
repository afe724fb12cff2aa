package provenance

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/text/language"
)

// An extreme names the one record of a content with the largest, or the smallest, value in a field.
type extreme struct {
	field  string
	most   bool
	record int
}

// maxExtremes bounds the fields that are compared.
const maxExtremes = 32

// extremes compares the records of a content by every field that is a number or a date in all of
// them. A field is left out if two records share its largest or its smallest value.
func extremes(fields []field) []extreme {
	byName := map[string][]field{}
	records := map[int]struct{}{}
	for _, f := range fields {
		records[f.record] = struct{}{}
		byName[f.name] = append(byName[f.name], f)
	}
	var out []extreme
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		list := byName[name]
		if len(list) != len(records) || len(list) < 2 || name == fieldID || len(out) >= 2*maxExtremes {
			continue
		}
		if low, high, ok := ends(list); ok {
			out = append(out, extreme{field: name, record: low}, extreme{field: name, most: true, record: high})
		}
	}
	return out
}

// ends returns the records with the smallest and with the largest value. It returns false if a value
// cannot be compared, or if two records share one of these two values.
func ends(list []field) (low, high int, ok bool) {
	type valued struct {
		key    float64
		record int
	}
	values := make([]valued, 0, len(list))
	for _, f := range list {
		key, ok := orderKey(f.value)
		if !ok {
			return 0, 0, false
		}
		values = append(values, valued{key, f.record})
	}
	slices.SortStableFunc(values, func(a, b valued) int { return cmp.Compare(a.key, b.key) })
	n := len(values)
	if values[0].key == values[1].key || values[n-1].key == values[n-2].key {
		return 0, 0, false
	}
	return values[0].record, values[n-1].record, true
}

// orderKey returns a number by which a value is compared: the number that it is, or the seconds of
// its date.
func orderKey(value string) (float64, bool) {
	if plain, ok := tokens.AsNumber(value); ok {
		n, err := strconv.ParseFloat(plain, 64)
		return n, err == nil
	}
	at, hasDay, _ := tokens.ReadTime(value)
	return float64(at.Unix()), hasDay
}

func (h *hasher) extremeHash(name string, most bool) Hash {
	end := byte(0)
	if most {
		end = 1
	}
	h.in = append(append(h.in[:0], extremeMark, end), name...)
	return h.bytes(h.in)
}

// Extremes returns the records that a superlative of the owner's chooses, such as «largest».
func (t *Tracer) Extremes(l *language.Lexicon, s *language.Stated) []Record {
	if t.Index == nil {
		return nil
	}
	var out []Record
	for _, sup := range l.Superlatives() {
		if !slices.ContainsFunc(sup.Words, s.HasWord) {
			continue
		}
		for _, name := range sup.Fields {
			for _, sp := range t.find(t.keyed().extremeHash(name, sup.Most)) {
				out = append(out, Record{Node: sp.Node, At: sp.Offset})
			}
		}
	}
	return out
}
