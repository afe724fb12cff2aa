package factjson_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/factjson"
)

// examples has one fact of every kind, with every field set.
func examples() []floodmark.Fact {
	label := floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private}
	digest := floodmark.DigestOf("x")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tool := floodmark.ToolRef{Agent: "a", Server: "s", Name: "n"}
	src := floodmark.Source{
		Node: 3, Kind: floodmark.NodeToolResult, Label: label, Digest: digest, Inputs: []floodmark.NodeID{1, 2}, Whole: true, Call: "c",
		Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "n", Server: "s", Place: "p", Sender: "w", IsOwner: true, Group: "g"},
	}
	shown := fullShown(tool, label, digest)
	endorsed := floodmark.Endorsed{Digest: digest, Trust: floodmark.Local, By: "o", Session: "s"}
	src.Via = []floodmark.Passage{{Artifact: fileRef(), Session: "s"}}
	return append(append(artifactExamples(src, digest), shortExamples(at)...), []floodmark.Fact{
		floodmark.SessionOpened{Agent: "a", Project: "/p", Home: "/h"},
		floodmark.SessionForked{
			Agent: "a", Project: "/p", Home: "/h", Parent: "p", Root: "r", Sources: []floodmark.Source{src},
			Stated: []string{"x"}, Asked: 1, Endorsed: []floodmark.Endorsed{endorsed},
		},
		floodmark.RulesLoaded{Policy: digest, Catalog: digest},
		floodmark.ContextCleared{},
		floodmark.SessionClosed{},
		floodmark.TurnOpened{Turn: 1},
		floodmark.TurnClosed{Turn: 1},
		floodmark.IterationOpened{Iteration: 2},
		floodmark.ContentSeen{Source: src, Text: "hello", Preview: "he"},
		floodmark.ContentArrived{Node: 3, Digest: digest, Label: label, Inputs: []floodmark.NodeID{1}, BoxTicket: "b", BoxEnd: floodmark.BoxEnded, BoxFailed: true, BoxExit: 3, Wanted: []string{"w"}, NotKept: []string{"k"}},
		floodmark.ModelAnswered{Calls: []floodmark.Proposed{{Call: "c", Tool: tool, ArgsDigest: digest}}, Hosted: true},
		floodmark.ActionDecided{
			Action: floodmark.Action{
				Kind: floodmark.CallTool, Call: "c", Tool: tool, Effects: []floodmark.Effect{floodmark.Send}, ArgsDigest: digest,
				Arguments: []floodmark.Argument{{
					Path: "to", Role: floodmark.Critical, Whence: floodmark.Seen, Trust: floodmark.External,
					Spans: []floodmark.Span{{Node: 1, Offset: 7}}, Pieced: true, Shown: "x",
				}},
				Tools: []string{"t"}, Iteration: 3, Audience: "owner", Child: "k",
			},
			Mark: label, Trust: floodmark.Shared,
			Decision: floodmark.Decision{
				Verdict: floodmark.Confirm, Hidden: []string{"h"}, Blame: []floodmark.NodeID{1},
				Reasons:   []floodmark.Reason{{Code: floodmark.TaintEscalation, Rule: "r", Text: "t", Verdict: floodmark.Confirm}},
				Remedy:    floodmark.Remedy{Agent: "a", Person: "p"},
				Verifiers: []string{"v"}, Would: "confirm",
			},
			Basis: fullBasis(),
		},
		floodmark.OpinionGiven{Call: "c", ArgsDigest: digest, Verdict: floodmark.Allow, Text: "t", Says: "allow"},
		floodmark.VerifierAnswered{Verifier: "v", Request: "r", Call: "c", ArgsDigest: digest, Verdict: floodmark.Allow, Failure: "timeout", Text: "t"},
		floodmark.ChildEnded{Child: "k", Sources: []floodmark.Source{src}},
		endorsed,
		floodmark.Withdrawn{Digest: digest, By: "o", Session: "s"},
		floodmark.IncidentSeen{Kind: "k", Call: "c", Tool: tool, Text: "t"},
		floodmark.TicketOpened{Ticket: "t", CodeMAC: digest, Shown: []floodmark.Shown{shown}, Expires: at, Held: at},
		floodmark.TicketExtended{Ticket: "t", Shown: shown, CodeMAC: digest},
		floodmark.TicketRefused{Ticket: "t", Why: "w", Channel: "c", Until: at},
		floodmark.TicketAnswered{Ticket: "t", Verdict: floodmark.Allow, By: "b", Channel: "c"},
		floodmark.GrantGiven{Ticket: "t", Scope: floodmark.GrantTurn, Shown: shown, Turn: 1, Until: at},
		floodmark.GrantUsed{Ticket: "t", Call: "c", Tool: tool},
		floodmark.GrantEnded{Ticket: "t", Why: "w"},
	}...)
}

func fullShown(tool floodmark.ToolRef, label floodmark.Label, digest floodmark.Digest) floodmark.Shown {
	return floodmark.Shown{
		Tool: tool, ArgsDigest: digest, Pattern: "p", Mark: label, Codes: []floodmark.Code{floodmark.FlowSecret}, Node: 4,
		Offers: []floodmark.Offer{{Words: "w", Scope: floodmark.GrantPattern, Pattern: "p", For: time.Hour}}, Others: digest, Pick: digest, PickEnd: digest, Two: true, Boxed: true, Vouch: digest,
	}
}

func fileRef() floodmark.ArtifactRef {
	return floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: "/p/f"}
}

func shortExamples(at time.Time) []floodmark.Fact {
	return []floodmark.Fact{
		floodmark.CallFollowed{Call: "c", Gateway: "g", Tool: floodmark.ToolRef{Agent: "a", Server: "s", Name: "n"}, Shared: "s"},
		floodmark.ChildSpawned{Child: "k"},
		floodmark.TicketCounted{Ticket: "t", Person: "p", By: "b", Channel: "c"},
		floodmark.PauseBegan{Pause: floodmark.Pause{Session: "s", From: at, Until: at, By: "b", Channel: "c"}},
		floodmark.PauseEnded{Session: "s", Why: "w", By: "b", Asked: 1, Refused: 2},
	}
}

func artifactExamples(src floodmark.Source, digest floodmark.Digest) []floodmark.Fact {
	return []floodmark.Fact{
		floodmark.ArtifactRead{Artifact: fileRef(), Sources: []floodmark.Source{src}},
		floodmark.ArtifactWritten{
			Artifact: fileRef(), Call: "c", Digest: digest, Nodes: 3, Whole: true,
			Over: []floodmark.ArtifactVersion{{Session: "s", Seq: 9}},
		},
		floodmark.ArtifactSettled{Artifact: fileRef(), Call: "c"},
	}
}

func fullBasis() *floodmark.Basis {
	return &floodmark.Basis{
		Before: 2, Agent: "a", Unreadable: true, Undescribed: true, Hinted: true, SelfProtected: true, Instructs: true, Network: true, Own: true, SecretPath: true, Boxable: true,
		Returns: floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Internal}, Location: "elsewhere",
		Kinds: []floodmark.ValueKind{floodmark.NumberValue}, Cut: []int{0}, Long: []int{0}, Needs: []floodmark.Need{{Argument: 0, Trust: floodmark.Local}},
		Loads: []floodmark.Load{{
			Artifact: floodmark.ArtifactRef{Kind: floodmark.TreeArtifact, Name: "/p"}, Label: floodmark.Label{Trust: floodmark.Shared},
			Sources: []floodmark.Source{{Kind: floodmark.NodeInput}},
		}},
		Destinations: []int{0}, URLs: []floodmark.Address{{Argument: 0, Host: "news.example", FromHost: true, Named: true}},
		Plants: "collect.attacker.example", SecretInArgs: true, FreeContent: true, ActiveContent: true, PrivateContent: true, Findings: []floodmark.Finding{floodmark.DeletesFolder, "other"}, Licensed: true, Gates: []string{"webhook"},
		Check: &floodmark.Check{Name: "go test", Arguments: []int{0}},
	}
}

// An older journal says what was found in a field for each finding. It is read, and written again byte
// for byte, since the chain holds its bytes; what was found is the same.
func TestFindingsOfOlderJournals(t *testing.T) {
	const head, tail = `{"action":{"kind":"call-tool"},"mark":{"trust":"local","secrecy":"public"},"trust":"local","decision":{"verdict":"confirm"},"basis":`, `}`
	for basis, want := range map[string][]floodmark.Finding{
		`{}`:             nil,
		`{"wipes":true}`: {floodmark.DeletesFolder},
		`{"interactive":true,"strange":true,"wipes":true}`: {floodmark.TakesCommands, floodmark.FetchesPackage, floodmark.DeletesFolder},
		`{"findings":["deletes-folder"]}`:                  {floodmark.DeletesFolder},
		`{"findings":["a","of-tomorrow"]}`:                 {"a", "of-tomorrow"},
	} {
		f, err := factjson.Decode("action-decided", []byte(head+basis+tail))
		d, ok := f.(floodmark.ActionDecided)
		if err != nil || !ok || !slices.Equal(d.Basis.Found(), want) {
			t.Errorf("%s: %v, %v", basis, f, err)
			continue
		}
		if _, body, err := factjson.Encode(f); err != nil || string(body) != head+basis+tail {
			t.Errorf("%s is written again as %s, %v", basis, body, err)
		}
	}
}

// A decision recorded before boxes existed has no reach in it and means Free, whatever the order of
// its fields. Boxed is always written, so that no encoder loses it. Free is never written, so that
// an older monitor can still read the decision.
func TestADecisionFromBeforeBoxesIsFree(t *testing.T) {
	const plain, odd = `{"action":{"kind":"call-tool"},"mark":{"trust":"local","secrecy":"public"},"trust":"local","decision":{"verdict":"allow"}}`,
		`{"decision":{"verdict":"allow"},"action":{"kind":"call-tool"},"mark":{"trust":"local","secrecy":"public"},"trust":"local"}`
	for _, old := range []string{plain, odd} {
		f, err := factjson.Decode("action-decided", []byte(old))
		if d, ok := f.(floodmark.ActionDecided); err != nil || !ok || d.Decision.Reach != floodmark.Free {
			t.Errorf("%s is read as %+v, %v", old, f, err)
		}
		if _, body, err := factjson.Encode(f); err != nil || string(body) != plain {
			t.Errorf("it is written again as %s, %v", body, err)
		}
	}
	boxed := strings.Replace(plain, `"allow"`, `"allow","reach":"boxed"`, 1)
	var forgotten floodmark.ActionDecided
	forgotten.Action.Kind, forgotten.Trust, forgotten.Decision.Verdict = floodmark.CallTool, floodmark.Local, floodmark.Allow
	forgotten.Mark = floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public}
	if _, body, err := factjson.Encode(forgotten); err != nil || string(body) != boxed {
		t.Errorf("a decision that was given no reach is written as %s, %v", body, err)
	}
	for _, wrong := range []string{`"reach":"wide"`, `"reach":""`, `"reach":1`} {
		if f, err := factjson.Decode("action-decided", []byte(strings.Replace(boxed, `"reach":"boxed"`, wrong, 1))); err == nil {
			t.Errorf("%s is read as %+v", wrong, f)
		}
	}
}

// A decision of an older journal has no basis. It is read and written again unchanged. An empty
// basis is not the same as no basis.
func TestADecisionWithoutABasisIsStillRead(t *testing.T) {
	const old = `{"action":{"kind":"call-tool","call":"c","tool":{"name":"n"},"effects":["send"],"arguments":[{"path":"to","role":"critical","whence":"seen","trust":"external"}]},` +
		`"mark":{"trust":"external","secrecy":"private"},"trust":"shared","decision":{"verdict":"allow"}}`
	f, err := factjson.Decode("action-decided", []byte(old))
	if err != nil {
		t.Fatal(err)
	}
	d := f.(floodmark.ActionDecided)
	if _, body, err := factjson.Encode(d); err != nil || d.Basis != nil || string(body) != old {
		t.Errorf("%v %v\n%s\n%s", d.Basis, err, body, old)
	}
	d.Basis = &floodmark.Basis{}
	_, body, err := factjson.Encode(d)
	if err != nil || !strings.HasSuffix(string(body), `,"basis":{}}`) {
		t.Fatalf("%s %v", body, err)
	}
	if f, err = factjson.Decode("action-decided", body); err != nil || f.(floodmark.ActionDecided).Basis == nil {
		t.Errorf("%+v %v", f, err)
	}
}

// decode(encode(x)) = x, for a full and for an empty fact of every kind.
func TestFactsGoThereAndBack(t *testing.T) {
	seen := map[string]bool{}
	for _, full := range examples() {
		empty := reflect.New(reflect.TypeOf(full)).Elem().Interface().(floodmark.Fact)
		for _, f := range []floodmark.Fact{full, empty} {
			kind, body, err := factjson.Encode(f)
			if err != nil {
				t.Fatal(err)
			}
			back, err := factjson.Decode(kind, body)
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			} else if !reflect.DeepEqual(back, f) {
				t.Errorf("%s: wrote %+v, read %+v", kind, f, back)
			}
			seen[kind] = true
		}
	}
	if len(seen) != 33 {
		t.Errorf("%d kinds of facts have an example, want 33", len(seen))
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, c := range map[string][2]string{
		"unknown kind":    {"turn-skipped", `{}`},
		"unknown field":   {"turn-opened", `{"turn":1,"trust":"system"}`},
		"unknown word":    {"content-arrived", `{"node":1,"label":{"trust":"trusted","secrecy":"public"}}`},
		"two values":      {"turn-opened", `{"turn":1}{"turn":2}`},
		"no value":        {"turn-opened", ``},
		"a list":          {"turn-opened", `[1]`},
		"number as level": {"content-arrived", `{"node":1,"label":{"trust":5,"secrecy":3}}`},
		"too large":       {"turn-opened", `{"turn":1` + strings.Repeat(" ", factjson.MaxBytes) + `}`},
	} {
		if f, err := factjson.Decode(c[0], []byte(c[1])); err == nil {
			t.Errorf("%s: read as %+v", name, f)
		}
	}
	if _, _, err := factjson.Encode(nil); err == nil {
		t.Error("no fact was encoded")
	}
	if _, _, err := factjson.Encode(floodmark.ContentSeen{Text: strings.Repeat("x", factjson.MaxBytes)}); err == nil {
		t.Error("a fact over the limit was encoded")
	}
	if _, _, err := factjson.Encode(floodmark.ContentSeen{Source: floodmark.Source{Label: floodmark.Label{Trust: 9}}}); err == nil {
		t.Error("a level that does not exist was encoded")
	}
}

// FuzzDecode checks that every fact that is read is written back the same.
func FuzzDecode(f *testing.F) {
	for _, fact := range examples() {
		kind, body, err := factjson.Encode(fact)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(kind, body)
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		fact, err := factjson.Decode(kind, body)
		if err != nil {
			return
		}
		kind2, body2, err := factjson.Encode(fact)
		if err != nil {
			t.Skip() // for example a time out of JSON's range
		}
		again, err := factjson.Decode(kind2, body2)
		if err != nil {
			t.Fatalf("%s: cannot be read back: %v", body2, err)
		}
		_, body3, err := factjson.Encode(again)
		if err != nil || string(body2) != string(body3) {
			t.Errorf("%s became %s", body2, body3)
		}
	})
}

// Journals of older versions have fields that have no effect any more.
func TestOldFieldsAreRead(t *testing.T) {
	for kind, body := range map[string]string{
		"action-decided":   `{"action":{"kind":"call-tool"},"mark":{"trust":"local","secrecy":"public"},"trust":"local","decision":{"verdict":"allow"},"basis":{"bound":true,"check":{"name":"go test","arguments":[0],"others":"` + floodmark.DigestOf("x").String() + `"}}}`,
		"artifact-written": `{"artifact":{"kind":"file","name":"/p/a.py"},"whole":true,"inert":true}`,
	} {
		f, err := factjson.Decode(kind, []byte(body))
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if _, again, err := factjson.Encode(f); err != nil || string(again) != body {
			t.Errorf("%s: written again as %s, %v", kind, again, err)
		}
	}
}

// A fact of the greatest size is written and read, and a larger one is refused.
func TestFactAtItsLimit(t *testing.T) {
	if factjson.MaxBytes != 4194304 || floodmark.MaxSpans != 3 {
		t.Errorf("limits: %d bytes, %d spans", factjson.MaxBytes, floodmark.MaxSpans)
	}
	const rest = len(`{"agent":""}`)
	fact := floodmark.SessionOpened{Agent: strings.Repeat("x", factjson.MaxBytes-rest)}
	kind, body, err := factjson.Encode(fact)
	if err != nil || len(body) != factjson.MaxBytes {
		t.Fatalf("at the limit: %d bytes, %v", len(body), err)
	}
	if back, err := factjson.Decode(kind, body); err != nil || back != floodmark.Fact(fact) {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := factjson.Decode(kind, append(bytes.Clone(body), ' ')); err == nil {
		t.Error("one byte more is read")
	}
	fact.Agent += "x"
	if kind, body, err := factjson.Encode(fact); err == nil || kind != "" || body != nil {
		t.Error("one byte more is written")
	}
	bad := floodmark.ContentArrived{Label: floodmark.Label{Trust: 9}}
	if kind, body, err := factjson.Encode(bad); err == nil || !strings.HasPrefix(err.Error(), "encode content-arrived: ") || kind != "" || body != nil {
		t.Errorf("a level that does not exist: %q, %q, %v", kind, body, err)
	}
}
