package testmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// responsesResults reads a request for responses.
func responsesResults(body []byte) (asked, error) {
	var req struct {
		Stream bool              `json:"stream"`
		Tools  []json.RawMessage `json:"tools"`
		Input  []struct {
			Type   string          `json:"type"`
			Output json.RawMessage `json:"output"`
		} `json:"input"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return asked{}, err
	}
	a := asked{stream: req.Stream, tools: len(req.Tools)}
	for _, item := range req.Input {
		if strings.HasSuffix(item.Type, "_call_output") {
			a.results = append(a.results, text(item.Output))
		}
	}
	return a, nil
}

// item is one piece of a response, as the interface writes it.
type item map[string]any

func responsesItems(s Step, turn int) (items []item) {
	if s.Text != "" {
		items = append(items, item{
			"type": "message", "id": fmt.Sprintf("msg_%d", turn), "role": "assistant", "status": "completed",
			"content": []any{item{"type": "output_text", "text": s.Text, "annotations": []any{}}},
		})
	}
	for i, c := range s.Calls {
		call := item{
			"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", turn, i), "call_id": callID(turn, i),
			"name": c.Name, "arguments": c.arguments(), "status": "completed",
		}
		if c.Namespace != "" {
			call["namespace"] = c.Namespace
		}
		items = append(items, call)
	}
	return items
}

func responsesAnswer(w http.ResponseWriter, s Step, turn int, stream bool) {
	items := responsesItems(s, turn)
	whole := item{
		"id": fmt.Sprintf("resp_%d", turn), "object": "response", "created_at": 1, "model": Name, "status": "completed",
		"output": items, "usage": item{
			"input_tokens": s.used(fullResponses), "output_tokens": 1, "total_tokens": s.used(fullResponses) + 1,
			"input_tokens_details": item{"cached_tokens": 0}, "output_tokens_details": item{"reasoning_tokens": 0},
		},
	}
	if !stream {
		writeJSON(w, whole)
		return
	}
	e, number := newEvents(w), 0
	send := func(name string, v item) {
		v["type"], v["sequence_number"] = name, number
		number++
		e.send(name, v)
	}
	send("response.created", item{"response": item{"id": whole["id"], "object": "response", "status": "in_progress", "output": []any{}}})
	for i, it := range items {
		send("response.output_item.added", item{"output_index": i, "item": it})
		if it["type"] == "message" {
			send("response.output_text.delta", item{"item_id": it["id"], "output_index": i, "content_index": 0, "delta": s.Text})
		}
		send("response.output_item.done", item{"output_index": i, "item": it})
	}
	send("response.completed", item{"response": whole})
}
