package kernel_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// full runs the long form of a law: go test ./kernel -run Law -full.
var full = flag.Bool("full", false, "run the long forms of laws")

// grantCase is a call with arguments that matter, any of them odd.
func grantCase(r *rand.Rand) (tool string, args map[string]any) {
	text := func() string {
		odd := []string{"a@x.example", "#team", "to=b", `q"uote`, "a b", "7", "true", "null", "", "x\\y", "é", "a\u200bb", "http://x.example/a?b=c", "cc=d to=e", "*"}
		s := odd[r.IntN(len(odd))]
		for range r.IntN(3) {
			s += string(rune('a' + r.IntN(26)))
		}
		return s
	}
	switch r.IntN(3) {
	case 0:
		args = map[string]any{"to": text(), "body": text()}
		if r.IntN(2) == 0 {
			args["id"] = text()
		}
		if r.IntN(3) == 0 {
			args["amount"] = r.IntN(1000)
		}
		if r.IntN(3) == 0 {
			args["cc"] = text()
		}
		return "mail", args
	case 1:
		return "shell", map[string]any{"code": text()}
	}
	return "keep", map[string]any{"path": "/w/" + text(), "text": text()}
}

// changed changes one byte of one argument that matters, its sort, or adds one.
func changed(r *rand.Rand, args map[string]any) map[string]any {
	out := map[string]any{}
	var critical []string
	for k, v := range args {
		out[k] = v
		if k != "body" && k != "text" {
			critical = append(critical, k)
		}
	}
	k := critical[r.IntN(len(critical))]
	switch v := out[k].(type) {
	case string:
		switch n := r.IntN(5); {
		case n == 0 && v != "":
			at := r.IntN(len(v))
			out[k] = v[:at] + v[at+1:]
		case n == 1:
			out[k] = v + string(rune('a'+r.IntN(26)))
		case n == 2 && v != "":
			b := []byte(v)
			b[r.IntN(len(b))] ^= 1
			out[k] = string(b)
		case n == 3:
			out[fmt.Sprint("more", r.IntN(9))] = "x"
		default:
			out[k] = v + " " + k + "=x"
		}
	case int:
		out[k] = fmt.Sprint(v)
	}
	return out
}

// A grant of any width never lets a call through that differs by one byte in an
// argument that matters, and none is left when the mark sinks.
func TestLawAGrantIsForWhatWasShown(t *testing.T) {
	cases := 3000
	if *full {
		cases = 100_000
	} else if testing.Short() {
		cases = 500
	}
	r := rand.New(rand.NewPCG(6, 1))
	asked, sunk := 0, 0
	for n := range cases {
		d := newDesk(t, "relax: false\nrules:\n  - {name: ask, when: 'true', action: {verdict: confirm}}\n")
		d.owner("hello")
		tool, args := grantCase(r)
		data, _ := json.Marshal(args)
		out := d.call(tool, string(data))
		if out.Ask == nil {
			continue
		}
		offer := 1 + r.IntN(len(out.Ask.Call.Offers))
		given := d.answer(approval.Command{
			Verb: approval.Approve, Tool: "all", Ticket: out.Ask.ID, Calls: out.Ask.Calls, Offer: offer, Picked: out.Ask.Call.Place(),
		})
		grants := kept[floodmark.GrantGiven](given)
		if len(grants) == 0 {
			continue
		}
		asked++
		other := changed(r, args)
		more, _ := json.Marshal(other)
		again := d.call(tool, string(more))
		same := decided(t, again).Action.ArgsDigest == grants[len(grants)-1].Shown.ArgsDigest
		if v := again.Reply.Decision; v.Verdict == floodmark.Allow && !same {
			t.Fatalf("case %d: %s %s was approved as %+v, and %s was let through", n, tool, data, grants, more)
		}
		if n%10 == 9 { // something from outside comes in
			sunk++
			d.apply(floodmark.ContentSeen{Source: floodmark.Source{
				Node: floodmark.NodeID(d.state.Ledger.Len()), Kind: floodmark.NodeToolResult, Digest: floodmark.DigestOf(fmt.Sprint(n)),
				Label: floodmark.Label{Trust: floodmark.Trust(r.IntN(int(floodmark.Local))), Secrecy: floodmark.Internal},
			}})
			if len(d.state.Book.Grants) != 0 {
				t.Fatalf("case %d: the mark sank to %s, and %+v still hold", n, d.state.Mark(), d.state.Book.Grants)
			}
			if v := d.call(tool, string(data)).Reply.Decision.Verdict; v == floodmark.Allow {
				t.Fatalf("case %d: the mark sank, and %s is let through", n, data)
			}
		}
	}
	if asked < cases/3 || sunk < cases/50 {
		t.Errorf("only %d of %d were approved, %d sank", asked, cases, sunk)
	}
	t.Logf("%d approvals, %d times the mark sank", asked, sunk)
}
