package testmodel_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

const geminiPath = "/v1beta/models/scripted:"

func TestGemini(t *testing.T) {
	m := &testmodel.Model{Say: testmodel.Script(listing(), testmodel.Step{Text: "Done."})}
	body := `{"contents":[{"parts":[{"text":"hi"}]},{"parts":[{"functionResponse":{"response":{"output":"one"}}},{"functionResponse":{"response":{"error":"two"}}}]},
		{"parts":[{"functionResponse":{"response":{"other":3}}}]}]}`
	got := stream(t, post(t, m, geminiPath+"streamGenerateContent?alt=sse", body))
	if len(got) != 1 {
		t.Fatalf("%q", got)
	}
	for _, want := range []string{`{"text":"I look."}`, `"functionCall":{"args":{"command":"ls"},"id":"call_0_0","name":"bash"}`, `"finishReason":"STOP"`} {
		if !strings.Contains(got[0], want) {
			t.Errorf("%s is not in %s", want, got[0])
		}
	}
	if diff := cmp.Diff([]string{"one", "two", `{"other":3}`}, m.Turns()[0].Results); diff != "" {
		t.Error(diff)
	}
	if w := post(t, m, geminiPath+"generateContent", `{}`); !json.Valid(w.Body.Bytes()) || !strings.Contains(w.Body.String(), `{"text":"Done."}`) {
		t.Error(w.Body)
	}
	if w := post(t, m, geminiPath+"countTokens", `{}`); !strings.Contains(w.Body.String(), "totalTokens") || len(m.Turns()) != 2 {
		t.Errorf("%s, %d turns", w.Body, len(m.Turns()))
	}
	for path, want := range map[string]int{"generateContent": http.StatusBadRequest, "embed": http.StatusNotFound} {
		if w := post(t, m, geminiPath+path, `{`); w.Code != want {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// A request that offers no tools is answered with Aside, on every interface.
func TestAside(t *testing.T) {
	m := &testmodel.Model{Say: testmodel.Script(testmodel.Step{Text: "Said."}), Aside: "A title"}
	for path, tools := range map[string]string{
		"/v1/chat/completions":         `[{"type":"function"}]`,
		"/v1/responses":                `[{"type":"function"}]`,
		geminiPath + "generateContent": `[{"functionDeclarations":[{"name":"bash"}]}]`,
	} {
		before := len(m.Turns())
		if w := post(t, m, path, `{"tools":[]}`); !strings.Contains(w.Body.String(), "A title") || len(m.Turns()) != before {
			t.Errorf("%s: %s", path, w.Body)
		}
		if w := post(t, m, path, `{"tools":`+tools+`}`); !strings.Contains(w.Body.String(), "Said.") || len(m.Turns()) != before+1 {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
	w := post(t, m, geminiPath+"generateContent", `{"generationConfig":{"responseMimeType":"application/json"}}`)
	if !strings.Contains(w.Body.String(), `\"next_speaker\":\"user\"`) {
		t.Error(w.Body)
	}
}
