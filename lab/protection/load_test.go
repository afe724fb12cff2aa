package protection

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func pack(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const tinyCards = `{"frozen":{"bank":{
 "look":{"kind":"read","res":{"id":"T","note":"U"}},
 "names":{"kind":"read","res":"I"},
 "pay":{"kind":"sink","effect":"pay","args":{"to":"dest","amount":"amount","memo":"content"},"res":"T"}}}}`

// tiny returns a folder of data with the given traces. Files in change replace those of the data.
func tiny(t testing.TB, traces string, change map[string][]byte) string {
	t.Helper()
	files := map[string][]byte{
		poolName:       pack(t, `["you are an agent","pay 50 to Ann Smith","a note"]`),
		tracesName:     pack(t, traces),
		cardsName:      []byte(tinyCards),
		exclusionsName: []byte(`{"get_only_injection_tasks":["bank/injection_task_1"]}`),
	}
	maps.Copy(files, change)
	dir := t.TempDir()
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	if _, ok := files[manifestName]; !ok {
		files[manifestName] = []byte(sums.String())
	}
	for name, data := range files {
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func line(kind, task, rest string) string {
	return fmt.Sprintf(`{"id":"x","src":"agentdyn","model":"m","suite":"bank","task":%q,"attack":"none","kind":%q,"sys":0,"user":1,%s}`, task, kind, rest) + "\n"
}

func TestLoadReadsTraces(t *testing.T) {
	data, err := Load(tiny(t, line("benign", "user_task_3", `"inj":null,"security":null,"replay":{"utility":true,"security":null},"utility":true,`+
		`"steps":[{"t":null,"calls":[{"f":"look","a":{},"r":2},{"f":"pay","a":{"to":"Ann"},"r":"done"}]},`+
		`{"t":"done","calls":[{"f":"pay","a":{},"r":"bad","e":"no"},{"f":"look","a":{},"r":null}]}]`), nil))
	if err != nil {
		t.Fatal(err)
	}
	tr := data.Traces[0]
	if set, ok := tr.Set(); !ok || set != AgentDynRecordedTest {
		t.Errorf("set is %q, %v", set, ok)
	}
	calls := append(slices.Clone(tr.Steps[0].Calls), tr.Steps[1].Calls...)
	for i, fed := range []bool{true, true, false, false} {
		if calls[i].Index != i || calls[i].Fed != fed {
			t.Errorf("call %d: index %d, fed %v", i, calls[i].Index, calls[i].Fed)
		}
	}
	if tr.User.Body != "pay 50 to Ann Smith" || calls[0].Result.Body != "a note" {
		t.Errorf("texts: %q, %q", tr.User.Body, calls[0].Result.Body)
	}
	if calls[1].Result.ID != tr.Steps[1].Text.ID || int(calls[1].Result.ID) >= data.Texts {
		t.Error("equal texts outside the pool must have one ID below Texts")
	}
}

func TestLoadRefuses(t *testing.T) {
	ok := `"steps":[{"t":0,"calls":[{"f":"pay","a":{},"r":2}]}]`
	won := ok + `,"security":true,"replay":{"security":true}`
	tests := []struct {
		name, traces string
		change       map[string][]byte
		want         string
	}{
		{"a missing file", "", map[string][]byte{poolName: nil}, "read pool.json.gz: no such file"},
		{"a missing manifest", "", map[string][]byte{manifestName: nil}, "read SHA256SUMS: no such file"},
		{"another checksum", "", map[string][]byte{manifestName: []byte("00  pool.json.gz\n")}, "read pool.json.gz: checksum"},
		{"a pool that is not packed", "", map[string][]byte{poolName: []byte("[]")}, "read pool.json.gz: "},
		{"a pool that is no array", "", map[string][]byte{poolName: pack(t, `{"a":1}`)}, "read pool.json.gz: not an array"},
		{"a pool that ends early", "", map[string][]byte{poolName: pack(t, `["a",`)}, "read pool.json.gz: "},
		{"cards without tools", "", map[string][]byte{cardsName: []byte(`{}`)}, "read cards.json: no frozen cards"},
		{"an unknown class", "", map[string][]byte{cardsName: []byte(`{"frozen":{"s":{"t":{"res":"X"}}}}`)}, `read cards.json: s/t: res: unknown class "X"`},
		{"exclusions that are no JSON", "", map[string][]byte{exclusionsName: []byte(`{`)}, "read exclusions.json: "},
		{"half a line", `{"id":"x"`, nil, "read traces.jsonl.gz: line 1"},
		{"an unknown kind", line("good", "user_task_1", ok), nil, `line 1: unknown kind "good"`},
		{"a task without number", line("benign", "user_task", ok), nil, "has no number"},
		{"a text that is a list", line("benign", "user_task_1", `"steps":[{"t":[1]}]`), nil, "a text is a string, a number or null"},
		{"a number behind the pool", line("benign", "user_task_1", `"steps":[{"t":3}]`), nil, "no text has the number 3"},
		{"a negative number", line("benign", "user_task_1", `"steps":[{"t":-1}]`), nil, "no text has the number -1"},
		{"success without cuts", line("attack", "user_task_1", won), nil, "needs cuts"},
		{"a cut of no call", line("attack", "user_task_1", won+`,"cuts":[[1]]`), nil, "no call has the number 1"},
		{"an empty cut", line("attack", "user_task_1", won+`,"cuts":[[]]`), nil, "an empty set"},
		{"too many calls", line("attack", "user_task_1", `"steps":[{"t":0,"calls":[`+strings.Repeat(`{},`, MaxCallsInRun)+`{}]}]`), nil, "at most 4096"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(tiny(t, tt.traces, tt.change))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), os.TempDir()) {
				t.Errorf("error names a place on this machine: %v", err)
			}
		})
	}
}

func TestUnpackEndsAtTheLimit(t *testing.T) {
	for limit, fails := range map[int64]bool{7: false, 6: false, 5: true} {
		r, err := unpack(pack(t, "123456"), limit)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		_, err = b.ReadFrom(r)
		if errors.Is(err, ErrTooLarge) != fails {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func FuzzParsePool(f *testing.F) {
	f.Add([]byte(`["a","b"]`))
	f.Add([]byte(`{"a":[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsePool(data)
		parsePool(pack(t, string(data)))
	})
}

func FuzzParseTraces(f *testing.F) {
	f.Add([]byte(line("benign", "user_task_1", `"steps":[{"t":0,"calls":[{"f":"pay","a":{},"r":2}]}]`)))
	f.Add([]byte(line("attack", "user_task_2", `"steps":[{"t":"x","calls":[{"f":"pay","a":{},"r":2}]}],"security":true,"replay":{"security":true},"cuts":[[0]]`)))
	cards, err := parseCards([]byte(tinyCards))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := parseTraces(pack(t, string(data)))
		if err != nil {
			return
		}
		d := &Data{Cards: cards}
		if d.resolve(records, []string{"a", "b", "c"}) != nil {
			return
		}
		for i := range d.Traces {
			for _, decider := range []Decider{HighWater(d), Verbatim(d)} {
				if _, err := play(cards, &d.Traces[i], decider); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

func FuzzParseCards(f *testing.F) {
	f.Add([]byte(tinyCards))
	f.Fuzz(func(_ *testing.T, data []byte) {
		parseCards(data)
		parseExclusions(data)
	})
}
