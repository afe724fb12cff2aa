package testmodel_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark/internal/story/testmodel"
)

func post(t *testing.T, m *testmodel.Model, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body)))
	return w
}

// stream returns the data of server-sent events.
func stream(t *testing.T, w *httptest.ResponseRecorder) []string {
	t.Helper()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.SplitSeq(string(text), "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			list = append(list, data)
		}
	}
	return list
}

func listing() testmodel.Step {
	return testmodel.Step{Text: "I look.", Calls: []testmodel.Call{{Namespace: "group", Name: "bash", Args: map[string]string{"command": "ls"}}}}
}

func TestChatCompletions(t *testing.T) {
	m := &testmodel.Model{Say: testmodel.Script(listing(), testmodel.Step{Text: "Done."})}
	body := `{"stream":true,"messages":[{"role":"user","content":"hi"},{"role":"tool","content":"one"},{"role":"tool","content":[{"type":"text","text":"two"}]}]}`
	got := stream(t, post(t, m, "/v1/chat/completions", body))
	if len(got) != 4 || got[3] != "[DONE]" || !strings.Contains(got[1], `"finish_reason":"tool_calls"`) {
		t.Fatalf("%q", got)
	}
	for _, want := range []string{`"content":"I look."`, `"id":"call_0_0"`, `"name":"bash"`, `"arguments":"{\"command\":\"ls\"}"`} {
		if !strings.Contains(got[0], want) {
			t.Errorf("%s is not in %s", want, got[0])
		}
	}
	if diff := cmp.Diff([]string{"one", "two"}, m.Turns()[0].Results); diff != "" {
		t.Error(diff)
	}
	var whole struct {
		Choices []struct {
			Message      struct{ Content string }
			FinishReason string `json:"finish_reason"`
		}
	}
	if err := json.Unmarshal(post(t, m, "/v1/chat/completions", `{}`).Body.Bytes(), &whole); err != nil || len(whole.Choices) != 1 ||
		whole.Choices[0].Message.Content != "Done." || whole.Choices[0].FinishReason != "stop" {
		t.Errorf("%+v, %v", whole, err)
	}
}

func TestResponses(t *testing.T) {
	m := &testmodel.Model{Say: testmodel.Script(listing(), testmodel.Step{Text: "Done."})}
	body := `{"stream":true,"input":[{"type":"message"},{"type":"function_call_output","output":"one"},{"type":"custom_tool_call_output","output":[{"text":"two"}]}]}`
	got := stream(t, post(t, m, "/v1/responses", body))
	var types []string
	for i, data := range got {
		var ev struct {
			Type   string
			Number int `json:"sequence_number"`
		}
		if err := json.Unmarshal([]byte(data), &ev); err != nil || ev.Number != i {
			t.Errorf("%s: %v", data, err)
		}
		types = append(types, strings.TrimPrefix(ev.Type, "response."))
	}
	want := []string{"created", "output_item.added", "output_text.delta", "output_item.done", "output_item.added", "output_item.done", "completed"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{`"call_id":"call_0_0"`, `"namespace":"group"`, `"arguments":"{\"command\":\"ls\"}"`} {
		if !strings.Contains(got[5], want) {
			t.Errorf("%s is not in %s", want, got[5])
		}
	}
	if diff := cmp.Diff([]string{"one", "two"}, m.Turns()[0].Results); diff != "" {
		t.Error(diff)
	}
	if w := post(t, m, "/v1/responses", `{}`); !strings.Contains(w.Body.String(), `"text":"Done."`) {
		t.Error(w.Body)
	}
}

func TestRefusesWhatItCannotRead(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes long over so many bytes")
	}
	m := &testmodel.Model{}
	for _, body := range []string{`{`, strings.Repeat(" ", testmodel.MaxRequest) + "{}"} {
		for _, path := range []string{"/v1/responses", "/v1/chat/completions"} {
			if w := post(t, m, path, body); w.Code != http.StatusBadRequest {
				t.Errorf("%s %.10q: %d", path, body, w.Code)
			}
		}
	}
	if len(m.Turns()) != 0 {
		t.Error("it was taken for a turn")
	}
	if w := post(t, m, "/v1/responses", strings.Repeat(" ", testmodel.MaxRequest-2)+"{}"); w.Code != http.StatusOK {
		t.Errorf("at the limit: %d", w.Code)
	}
}

// A step with Full reports a nearly full context on both interfaces.
func TestFull(t *testing.T) {
	m := &testmodel.Model{Say: testmodel.Script(testmodel.Step{Text: "a"}, testmodel.Step{Text: "b", Full: true})}
	for _, want := range []string{`"prompt_tokens":1,`, `"prompt_tokens":126000,`} {
		if got := post(t, m, "/v1/chat/completions", `{}`).Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if got := post(t, m, "/v1/responses", `{}`).Body.String(); !strings.Contains(got, `"input_tokens":250000,`) {
		t.Error(got)
	}
}
