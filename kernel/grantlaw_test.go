package kernel_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
)

// full runs the long form of a law: go test ./kernel -run Law -full.
var full = flag.Bool("full", false, "run the long forms of laws")

// A grant of any width never lets a call through that differs by one byte in an argument that
// matters, and no grant is left when the mark sinks. Every kind of offer is tried.
func TestLawAGrantIsForWhatWasShown(t *testing.T) {
	cases := 3000
	if *full {
		cases = 100_000
	} else if testing.Short() {
		cases = 1000
	}
	r := rand.New(rand.NewPCG(6, 1))
	rules := map[bool]kernel.Rules{false: lawRules(t, false), true: lawRules(t, true)}
	tried, sunk := map[string]int{}, 0
	for n := range cases {
		wide := n%20 == 19
		d := lawDesk(t, rules[wide])
		c := grantCases[r.IntN(len(grantCases))](r)
		grant, ok := d.approves(r, c)
		if !ok {
			continue
		}
		tried[offerKind(c.kind, grant)]++
		other := c.other(r, grant.Scope == floodmark.GrantTool)
		again := d.call(other.tool, other.json())
		same := decided(t, again).Action.ArgsDigest == grant.Shown.ArgsDigest && other.tool == c.tool
		if again.Reply.Decision.Verdict == floodmark.Allow && !same && !(grant.Scope == floodmark.GrantPattern && c.within(other)) {
			t.Fatalf("case %d: %s %s was approved as %+v, and %s %s was let through", n, c.tool, c.json(), grant, other.tool, other.json())
		}
		if n%10 == 9 { // something from outside comes in
			sunk++
			d.sinks(r, n, c)
		}
	}
	for _, k := range offerKinds() {
		if tried[k] < cases/200 {
			t.Errorf("the offer %q was tried %d times in %d cases", k, tried[k], cases)
		}
	}
	if len(tried) != len(offerKinds()) || sunk < cases/50 {
		t.Errorf("tried %v, the mark sank %d times", tried, sunk)
	}
	t.Logf("%d cases, approvals by kind %v, %d times the mark sank", cases, tried, sunk)
}

// sinks takes in something from outside: no grant is left, and what was approved is
// asked about again.
func (d *desk) sinks(r *rand.Rand, n int, c grantCase) {
	d.t.Helper()
	d.apply(floodmark.ContentSeen{Source: floodmark.Source{
		Node: floodmark.NodeID(d.state.Ledger.Len()), Kind: floodmark.NodeToolResult, Digest: floodmark.DigestOf(fmt.Sprint(n)),
		Label: floodmark.Label{Trust: floodmark.Trust(r.IntN(int(floodmark.Local))), Secrecy: floodmark.Internal},
	}})
	if len(d.state.Book.Grants) != 0 {
		d.t.Fatalf("case %d: the mark sank to %s, and %+v still hold", n, d.state.Mark(), d.state.Book.Grants)
	}
	if v := d.call(c.tool, c.json()).Reply.Decision.Verdict; v == floodmark.Allow {
		d.t.Fatalf("case %d: the mark sank, and %s is let through", n, c.json())
	}
}
