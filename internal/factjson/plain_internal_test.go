package factjson

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
)

// plainFacts returns an empty fact of each kind in described.go.
func plainFacts() []floodmark.Fact {
	return []floodmark.Fact{
		floodmark.ActionDecided{},
		floodmark.ContentSeen{},
		floodmark.ContentArrived{},
		floodmark.ModelAnswered{},
		floodmark.ChildEnded{},
		floodmark.TicketOpened{},
		floodmark.TicketExtended{},
		floodmark.SessionOpened{},
		floodmark.RulesLoaded{},
		floodmark.TurnOpened{},
	}
}

// drawnFact returns a fact of the same kind with random fields, rarely with values that cannot be
// encoded.
func drawnFact(r *rand.Rand, like floodmark.Fact) floodmark.Fact {
	v := reflect.New(reflect.TypeOf(like)).Elem()
	fill(r, v)
	f, _ := reflect.TypeAssert[floodmark.Fact](v)
	return f
}

func fill(r *rand.Rand, v reflect.Value) {
	if r.IntN(4) == 0 {
		return // the field stays empty
	}
	switch v.Kind() {
	case reflect.String:
		texts := []string{"", "a", "send it to anna", "a<b>&c", `q"\`, "é", "\x00\n\t\x7f", "\xff\xfe", "\u2028", "{},[]:", "null", "\ufffd"}
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 7, 1 << 40, -1 << 63, 1<<63 - 1}[r.IntN(7)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(3)))
		if r.IntN(500) == 0 {
			v.SetUint(200)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 4))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).SetUint(uint64(r.IntN(256)))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<34), r.Int64N(3)*1000).UTC()))
			return
		}
		for _, field := range v.Fields() {
			fill(r, field)
		}
	default:
		panic("a fact has a field of kind " + v.Kind().String())
	}
}

// A plain writes the same bytes as encoding/json, and returns an error in the same cases.
func TestPlainIsJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, like := range plainFacts() {
		plainly := 0
		for range 4000 {
			f := drawnFact(r, like)
			want, wrong := json.Marshal(f)
			got, err := Append([]byte("before "), f)
			if (err != nil) != (wrong != nil) || err == nil && string(got) != "before "+string(want) {
				t.Fatalf("%#v\n got %s %v\nwant %s %v", f, got, err, want, wrong)
			}
			if c := (plain{}); c.write(f) {
				plainly++
			}
		}
		if plainly < 1000 {
			t.Errorf("only %d of 4000 facts like %T are plain", plainly, like)
		}
	}
}

// A plain reads the same fact as encoding/json, from written facts and from damaged ones.
func TestPlainReadsAsJSONDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, like := range plainFacts() {
		plainly := 0
		for range 2000 {
			kind, body, err := Encode(drawnFact(r, like))
			if err != nil {
				continue
			}
			if sameReading(t, kind, body) {
				plainly++
			}
			for range 4 {
				sameReading(t, kind, damaged(r, body))
			}
		}
		if plainly < 500 {
			t.Errorf("only %d of 2000 facts like %T are read plainly", plainly, like)
		}
	}
}

// damaged changes a few bytes.
func damaged(r *rand.Rand, body []byte) []byte {
	body = append([]byte(nil), body...)
	at := r.IntN(len(body))
	switch r.IntN(5) {
	case 0:
		return body[:at]
	case 1:
		body[at] = byte(r.IntN(256))
	case 2:
		marks := `{}[]",:\ 0-`
		body[at] = marks[r.IntN(len(marks))]
	case 3:
		return append(body[:at:at], append([]byte{" \n,}\"0"[r.IntN(6)]}, body[at:]...)...)
	default:
		end := at + r.IntN(len(body)-at)
		return append(body[:end:end], body[at:]...) // a part is repeated
	}
	return body
}

// sameReading fails if the plain reader reads a fact and encoding/json does not read the same. It
// reports whether the plain reader read one.
func sameReading(t *testing.T, kind string, body []byte) bool {
	t.Helper()
	got, ok := readPlain(kind, body)
	if !ok {
		return false
	}
	want, err := read(kind, body)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%s %s\n%v\n%s", kind, body, err, cmp.Diff(want, got))
	}
	return true
}

func FuzzPlain(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, like := range plainFacts() {
		for range 3 {
			if kind, body, err := Encode(drawnFact(r, like)); err == nil {
				f.Add(kind, body)
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) { sameReading(t, kind, body) })
}

func BenchmarkFact(b *testing.B) {
	f := floodmark.Fact(floodmark.ActionDecided{
		Action: floodmark.Action{
			Kind: floodmark.CallTool, Call: "c000001", Tool: floodmark.ToolRef{Agent: "openclaw", Name: "read"}, Effects: []floodmark.Effect{floodmark.Observe}, ArgsDigest: floodmark.DigestOf("x"),
			Arguments: []floodmark.Argument{{Path: "path", Role: floodmark.Critical, Shown: "/work/notes.md"}},
		},
		Decision: floodmark.Decision{Verdict: floodmark.Allow, Reasons: []floodmark.Reason{{Code: "rule", Text: "the table says so", Verdict: floodmark.Allow}}},
		Basis:    &floodmark.Basis{Returns: floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Private}, Location: "project", Own: true},
	})
	kind, body, err := Encode(f)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, _ = Encode(f)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = Decode(kind, body)
		}
	})
	b.Run("write with encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = json.Marshal(f)
		}
	})
	b.Run("read with encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = read(kind, body)
		}
	})
}
