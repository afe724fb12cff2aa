package language

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark/hook"
)

func TestStatedNumbersAndTheirNeighbours(t *testing.T) {
	for _, tt := range []struct {
		text, value, role string
		want              bool
	}{
		{"refund invoice is of the 7", "7", "invoice_id", true},
		{"refund invoice number is of the 7", "7", "invoice_id", false}, // a word too many
		{"refund id 7", "7", "invoice_id", false},
		{"refund invoice 7", "7", "InvoiceId", true},
		{"refund invoice = 7", "7", "invoice_id", true},
		{"refund invoice, 7", "7", "invoice_id", false},
		{"refund invoice (7)", "7", "invoice_id", false},
		{`refund "my invoice" 7`, "7", "invoice_id", false},
		{"refund invoice /7", "7", "invoice_id", false},
		{"refund invoice x7", "7", "invoice_id", false},
		{"refund invoice #", "7", "invoice_id", false},
		{"wait 7 seconds", "7", "second", true},
		{"wait 7, seconds", "7", "second", false},
		{"give him 50 dollars", "50", "amount", true},
		{"give him $50 now", "50", "amount", true},
		{"give him 50 now", "50", "amount", false},
		{"give him USD 50", "50", "amount", true},
		{"invoice 50 EUR", "50", "invoice_id", false},
		{"pay 12345678 EUR", "12345678", "amount", true},
		{"show 12345678 items", "12345678", "count", true},
		{"pay $50", "50x", "amount", false},
		{"pay $50", "x50", "amount", false},
		{"what happened in 2024", "2024", "year", true},
		{"what happened in 1999", "1999", "year", true},
		{"what happened in 1850", "1850", "year", false},
		{"what happened in 2124", "2124", "year", false},
		{"what happened in 20245", "20245", "year", false},
		{"what happened in 2024", "2024", "invoice", false},
		{"what happened then", "2024", "year", false},
		{"show the last 5", "5", "limit", true},
		{"show 5 items", "5", "count", true},
		{"my account is 12345678", "12345678", "quantity", false},
		{"title it '50'", "50", "count", false},
	} {
		if got := stated(tt.text).Has(tt.value, hook.String, tt.role); got != tt.want {
			t.Errorf("%q states %s as %s: %v", tt.text, tt.value, tt.role, got)
		}
	}
	if s := stated("call +1.555.010.9999 or +49 (30) 901-820"); len(s.numbers[""]) > 0 {
		t.Errorf("a telephone number is an amount: %v", s.numbers)
	}
}

func TestSingular(t *testing.T) {
	for word, want := range map[string]string{
		"": "", "s": "s", "bus": "bus", "cats": "cat", "class": "class", "ties": "tie", "flies": "fly", "copies": "copy", "invoice": "invoice",
	} {
		if got := singular(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestRoleWords(t *testing.T) {
	for role, want := range map[string][]string{
		"": nil, "id": {"id"}, "invoice_id": {"invoice"}, "invoiceId": {"invoice"}, "InvoiceID": {"invoice"}, "max-results": {"max", "result"},
		"number of items": {"item"}, "the_value": {"the", "value"}, "ISBN": {"isbn"}, "x1y": {"x", "y"},
	} {
		if got := roleWords(role); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", role, got, want)
		}
	}
}
