package wire_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// twins returns the Go structs with the messages that mirror them.
func twins() map[reflect.Type]proto.Message {
	return map[reflect.Type]proto.Message{
		reflect.TypeFor[hook.Event]():         (*wire.Event)(nil),
		reflect.TypeFor[hook.Reply]():         (*wire.Reply)(nil),
		reflect.TypeFor[hook.Content]():       (*wire.Content)(nil),
		reflect.TypeFor[hook.Tool]():          (*wire.Tool)(nil),
		reflect.TypeFor[hook.Hints]():         (*wire.Hints)(nil),
		reflect.TypeFor[hook.Process]():       (*wire.Process)(nil),
		reflect.TypeFor[hook.Call]():          (*wire.Call)(nil),
		reflect.TypeFor[hook.Result]():        (*wire.Result)(nil),
		reflect.TypeFor[hook.Window]():        (*wire.Window)(nil),
		reflect.TypeFor[hook.Ask]():           (*wire.Ask)(nil),
		reflect.TypeFor[floodmark.Origin]():   (*wire.Origin)(nil),
		reflect.TypeFor[floodmark.Decision](): (*wire.Decision)(nil),
		reflect.TypeFor[floodmark.Reason]():   (*wire.Reason)(nil),
		reflect.TypeFor[floodmark.Remedy]():   (*wire.Remedy)(nil),
		reflect.TypeFor[floodmark.Label]():    (*wire.Label)(nil),
		reflect.TypeFor[floodmark.ToolRef]():  (*wire.ToolRef)(nil),
		reflect.TypeFor[floodmark.Source]():   (*wire.Source)(nil),
		reflect.TypeFor[floodmark.Action]():   (*wire.Action)(nil),
		reflect.TypeFor[floodmark.Argument](): (*wire.Argument)(nil),
		reflect.TypeFor[floodmark.Span]():     (*wire.Span)(nil),
		reflect.TypeFor[floodmark.Problem]():  (*wire.Problem)(nil),
	}
}

// kept returns the fields that are not sent. The hashes of secrets are of no use elsewhere. The way
// a source came, and why its label is low, are sent in words. That a hook can box a call is set by
// the daemon only. What the box may reach is not sent.
func kept() map[reflect.Type][]string {
	return map[reflect.Type][]string{
		reflect.TypeFor[floodmark.Source](): {"secrets", "links", "via", "because", "said"},
		reflect.TypeFor[hook.Event]():       {"-"},
		reflect.TypeFor[hook.Reply]():       {"-"},
	}
}

// A field that is added to one side without its twin fails here.
func TestEveryFieldHasItsTwin(t *testing.T) {
	for typ, msg := range twins() {
		var ours, theirs []string
		for _, f := range reflect.VisibleFields(typ) {
			if f.Anonymous { // its fields are checked separately
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !slices.Contains(kept()[typ], name) {
				ours = append(ours, name)
			}
		}
		fields := msg.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			theirs = append(theirs, fields.Get(i).JSONName())
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		if diff := cmp.Diff(ours, theirs); diff != "" {
			t.Errorf("%s and its message have different fields (-Go +proto):\n%s", typ, diff)
		}
	}
}

// fill sets every field below v to a different value, so that a mix-up of two fields is noticed.
func fill(t *testing.T, v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes([]byte(`{"n": 12345678901234567890.` + strconv.Itoa(*n) + `}`))
		return
	case floodmark.Verdict:
		v.SetUint(uint64(1 + *n%3))
		return
	case floodmark.Reach: // the one that is written, in Go too
		v.SetUint(uint64(floodmark.Boxed))
		return
	case floodmark.Digest:
		v.Set(reflect.ValueOf(floodmark.DigestOf(strconv.Itoa(*n))))
		return
	case floodmark.Trust, floodmark.Secrecy, floodmark.Role, floodmark.Whence, floodmark.Effect:
		v.SetUint(2)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text «" + strconv.Itoa(*n) + "»")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Struct:
		for _, f := range v.Fields() {
			fill(t, f, n)
		}
	default:
		t.Fatalf("do not know how to fill a %s", v.Type())
	}
}

func full[T any](t *testing.T) (v T) {
	t.Helper()
	n := 0
	fill(t, reflect.ValueOf(&v).Elem(), &n)
	return v
}

// An event with all fields set arrives unchanged.
func TestEventRoundTrip(t *testing.T) {
	for name, want := range map[string]hook.Event{"full": full[hook.Event](t), "zero": {}} {
		data, err := proto.Marshal(wire.FromEvent(want))
		if err != nil {
			t.Fatal(err)
		}
		var got wire.Event
		if err := proto.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		ev, err := got.Hook()
		if err != nil {
			t.Fatal(err)
		}
		want.Boxes, want.Box, want.Holes, want.Granted, want.Push, want.Locks, want.Repository, want.Patience, want.Remote = false, nil, false, nil, nil, nil, floodmark.Digest{}, 0, hook.Remote{} // not read off the wire
		if diff := cmp.Diff(want, ev); diff != "" {
			t.Errorf("%s event (-sent +arrived):\n%s", name, diff)
		}
	}
}

// A monitor with boxes always sends the reach, also the zero value. A monitor from before boxes
// sends none, and its answers keep their meaning.
func TestAMissingReachIsThatOfAMonitorWithoutBoxes(t *testing.T) {
	for sent, word := range map[floodmark.Reach]string{floodmark.Free: "free", floodmark.Boxed: "boxed"} {
		d := floodmark.Decision{Verdict: floodmark.Allow, Reach: sent}
		on := wire.FromReply(hook.Reply{Decision: d, Calls: []floodmark.Decision{d}})
		if on.GetDecision().GetReach() != word || on.GetCalls()[0].GetReach() != word {
			t.Errorf("%v is written as %q", sent, on.GetDecision().GetReach())
		}
		if r, err := on.Hook(); err != nil || r.Decision.Reach != sent || r.Calls[0].Reach != sent {
			t.Errorf("%v arrives as %v, %v", sent, r.Decision.Reach, err)
		}
	}
	old := &wire.Decision{Verdict: "allow"}
	r, err := (&wire.Reply{Decision: old, Calls: []*wire.Decision{old}}).Hook()
	if err != nil || r.Decision.Reach != floodmark.Free || r.Calls[0].Reach != floodmark.Free || !r.Allows() {
		t.Errorf("the yes of an older monitor arrives as %+v, %v", r, err)
	}
	if r, err := (&wire.Reply{}).Hook(); err != nil || r.Decision.Reach != floodmark.Boxed || r.Allows() {
		t.Errorf("nothing at all arrives as %+v, %v", r, err)
	}
	for _, word := range []string{"wide", "Free", "FREE", " free", "free\x00"} {
		if r, err := (&wire.Reply{Decision: &wire.Decision{Verdict: "allow", Reach: word}}).Hook(); err == nil || r.Allows() {
			t.Errorf("the reach %q arrives as %v", word, r.Decision.Reach)
		}
	}
}

// A reply with all fields set arrives unchanged, and its JSON is that of the Go struct.
func TestReplyRoundTrip(t *testing.T) {
	for name, want := range map[string]hook.Reply{"full": full[hook.Reply](t), "zero": {}} {
		w := wire.FromReply(want)
		want.Hosts, want.Mirror, want.Tried, want.Shown = nil, false, false, floodmark.Digest{} // the daemon does not send these
		data, err := protojson.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		var plain hook.Reply
		if err := json.Unmarshal(data, &plain); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, plain); diff != "" {
			t.Errorf("%s reply read as JSON (-sent +arrived):\n%s", name, diff)
		}
		if data, err = proto.Marshal(w); err != nil {
			t.Fatal(err)
		}
		var got wire.Reply
		if err := proto.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		r, err := got.Hook()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("%s reply (-sent +arrived):\n%s", name, diff)
		}
	}
}

// Only the word allow allows. A missing word restricts, and an unknown word is an error together
// with the zero reply.
func TestOnlyAllowAllows(t *testing.T) {
	for word, want := range map[string]floodmark.Verdict{"": 0, "restrict": 0, "confirm": 1, "audit": 2, "allow": 3} {
		r, err := (&wire.Reply{Decision: &wire.Decision{Verdict: word}}).Hook()
		if err != nil || r.Decision.Verdict != want {
			t.Errorf("%q: %v, %v", word, r.Decision.Verdict, err)
		}
	}
	if r, err := (*wire.Reply)(nil).Hook(); err != nil || !reflect.DeepEqual(r, hook.Reply{}) {
		t.Errorf("no reply: %+v, %v", r, err)
	}
	allow := &wire.Decision{Verdict: "allow"}
	for _, wrong := range []*wire.Reply{
		{Line: "x", Decision: &wire.Decision{Verdict: "Allow"}},
		{Decision: allow, Calls: []*wire.Decision{allow, {Verdict: "yes"}}},
		{Decision: &wire.Decision{Verdict: "allow", Reasons: []*wire.Reason{{Verdict: "3"}}}},
	} {
		if r, err := wrong.Hook(); err == nil || !reflect.DeepEqual(r, hook.Reply{}) {
			t.Errorf("%v: %+v, %v; want the zero reply beside an error", wrong, r, err)
		}
	}
}

func TestEventRefusesBadDigests(t *testing.T) {
	bad := []*wire.Content{{}, {Digest: "abc"}}
	for want, w := range map[string]*wire.Event{
		"parts[1]":    {Parts: bad},
		"sources[1]":  {Sources: bad},
		"messages[1]": {Messages: bad},
		"result":      {Result: &wire.Result{Digest: strings.Repeat("x", 64)}},
	} {
		if ev, err := w.Hook(); err == nil || !strings.Contains(err.Error(), want) || !reflect.DeepEqual(ev, hook.Event{}) {
			t.Errorf("%+v, %v; want an error about %s", ev, err, want)
		}
	}
}

// Output of tools need not be UTF-8. That must not stop an event.
func TestTextBecomesUTF8(t *testing.T) {
	w := wire.FromEvent(hook.Event{Text: "a\xff\xfeb", Iteration: math.MaxInt})
	if _, err := proto.Marshal(w); err != nil || w.GetText() != "a\uFFFD\uFFFDb" || w.GetIteration() != math.MaxInt32 {
		t.Errorf("%v, %v", w, err)
	}
}

// The messages to the owner have every field, too.
func TestStateCarriesEverything(t *testing.T) {
	stone := journal.Tombstone{
		Session: journal.Session{ID: "s"}, Link: journal.Link{Seq: 3, Hash: journal.Hash{1}}, At: 5, Why: "owner", Note: []byte("note"),
	}
	entry := journal.Entry{Seq: 2, At: 7, Prev: journal.Hash{1}, Hash: journal.Hash{2}, Kind: "turn-opened", Body: []byte(`{"turn":1}`)}
	for _, m := range []proto.Message{
		wire.FromAction(full[floodmark.Action](t)), wire.FromSource(full[floodmark.Source](t)), wire.FromProblem(full[floodmark.Problem](t)),
		wire.FromEntry(stone.Session, entry), wire.FromTombstone(stone),
	} {
		fields := m.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			if !m.ProtoReflect().Has(fields.Get(i)) {
				t.Errorf("%s is empty", fields.Get(i).FullName())
			}
		}
	}
}

// A method without a declared permission could not be called by anyone.
func TestEveryMethodSaysWhatItNeeds(t *testing.T) {
	methods := 0
	protoregistry.GlobalFiles.RangeFilesByPackage("floodmark.v1", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			ms := f.Services().Get(i).Methods()
			for j := range ms.Len() {
				methods++
				needs, _ := proto.GetExtension(ms.Get(j).Options(), wire.E_Needs).(string)
				if !slices.Contains([]string{"events", "view", "approve", "policy", "admin", "enrol", "machine"}, needs) {
					t.Errorf("%s needs %q, which nobody has", ms.Get(j).FullName(), needs)
				}
			}
		}
		return true
	})
	if methods < 17 {
		t.Errorf("%d methods were looked at, want at least 17", methods)
	}
}
