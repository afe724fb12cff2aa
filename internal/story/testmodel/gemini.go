package testmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// geminiResults reads a request of the Gemini API. Whether it streams is in its address, not in the
// body.
func geminiResults(body []byte) (asked, error) {
	var req struct {
		Contents []struct {
			Parts []struct {
				Response *struct {
					Response json.RawMessage `json:"response"`
				} `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
		Tools []struct {
			Functions []json.RawMessage `json:"functionDeclarations"`
		} `json:"tools"`
		Config struct {
			Type string `json:"responseMimeType"`
		} `json:"generationConfig"`
	}
	var a asked
	if err := json.Unmarshal(body, &req); err != nil {
		return a, err
	}
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			if p.Response != nil {
				a.results = append(a.results, geminiText(p.Response.Response))
			}
		}
	}
	for _, t := range req.Tools {
		a.tools += len(t.Functions)
	}
	a.json = req.Config.Type == "application/json"
	return a, nil
}

// geminiText returns a tool's result, which the CLI writes as output or as error.
func geminiText(raw json.RawMessage) string {
	var r struct {
		Output *string `json:"output"`
		Error  *string `json:"error"`
	}
	switch err := json.Unmarshal(raw, &r); {
	case err == nil && r.Output != nil:
		return *r.Output
	case err == nil && r.Error != nil:
		return *r.Error
	}
	return string(raw)
}

func geminiAnswer(w http.ResponseWriter, s Step, turn int, stream bool) {
	parts := []any{}
	if s.Text != "" {
		parts = append(parts, map[string]any{"text": s.Text})
	}
	for i, c := range s.Calls {
		parts = append(parts, map[string]any{"functionCall": map[string]any{
			"name": c.Name, "args": json.RawMessage(c.arguments()), "id": callID(turn, i),
		}})
	}
	answer := map[string]any{
		"candidates":    []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]int{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
		"modelVersion":  Name, "responseId": fmt.Sprintf("gemini_%d", turn),
	}
	if !stream {
		writeJSON(w, answer)
		return
	}
	newEvents(w).send("", answer)
}

// gemini serves the addresses of the Gemini API, in which the last element is MODEL:METHOD.
func (m *Model) gemini(w http.ResponseWriter, r *http.Request) {
	_, method, _ := strings.Cut(r.PathValue("call"), ":")
	read := func(stream bool) reader {
		return func(body []byte) (asked, error) {
			a, err := geminiResults(body)
			a.stream = stream
			return a, err
		}
	}
	switch method {
	case "streamGenerateContent":
		m.serve(read(true), geminiAnswer)(w, r)
	case "generateContent":
		m.serve(read(false), geminiAnswer)(w, r)
	case "countTokens":
		writeJSON(w, map[string]int{"totalTokens": 1})
	default:
		http.NotFound(w, r)
	}
}
