package intent

import (
	"math"
	"slices"
	"strconv"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// computed reports whether an amount follows from one in the owner's own records: it is the same, or
// half of it, or a difference or share by the numbers that the owner typed. The record must have a
// recipient of the call or a name that the owner called, see [licence.payees].
func (l *licence) computed(value string) bool {
	amount, err := strconv.ParseFloat(value, 64)
	if err != nil || amount <= 0 || math.IsInf(amount, 0) {
		return false
	}
	about := l.payees()
	if len(about) == 0 {
		return false
	}
	for _, x := range inverses(amount, l.turn.Numbers()) {
		text := strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
		for _, r := range l.s.own(l.tr.Records("amount", text)) {
			if slices.Contains(about, r) {
				return true
			}
		}
	}
	return false
}

// payees returns the owner's records that have a recipient of the call, or a name
// that the owner called. It returns nil if the call has a recipient whom the owner
// neither named nor has paid before.
func (l *licence) payees() []provenance.Record {
	var about []provenance.Record
	for i, leaf := range l.call.Leaves {
		arg := l.call.About[i]
		if arg.Is != catalog.IsDestination || leaf.Value == "" {
			continue
		}
		if leaf.Kind != hook.String || !l.his(i, arg) && !l.paid(leaf.Value) {
			return nil
		}
		for _, field := range [...]string{"sender", "recipient", "from", "to", "account", "iban", "payee"} {
			about = append(about, l.s.own(l.tr.Records(field, leaf.Value))...)
		}
	}
	for _, name := range l.turn.Names() {
		about = append(about, l.s.own(l.tr.RecordsWith(name))...)
	}
	return about
}

// inverses returns the amounts from which the given amount can be computed: the amount itself,
// twice the amount, and those that give it as a difference or a share with the numbers that the
// owner typed.
func inverses(amount float64, typed []float64) []float64 {
	from := []float64{amount, 2 * amount}
	for _, n := range typed {
		from = append(from, amount+n, n-amount, amount+n/2)
		if n > 0 {
			from = append(from, amount*100/n, amount*100/(100+n))
		}
		for _, fee := range typed {
			if n > 0 && fee > 0 && fee != n && amount > fee {
				from = append(from, (amount-fee)*100/n) // a share plus a fee
			}
		}
	}
	return from
}
