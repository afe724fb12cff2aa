package testmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// chatResults reads a request for chat completions.
func chatResults(body []byte) (asked, error) {
	var req struct {
		Stream   bool              `json:"stream"`
		Tools    []json.RawMessage `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return asked{}, err
	}
	a := asked{stream: req.Stream, tools: len(req.Tools)}
	for _, m := range req.Messages {
		if m.Role == "tool" {
			a.results = append(a.results, text(m.Content))
		}
	}
	return a, nil
}

type chatCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chatMessage struct {
	Role    string     `json:"role,omitempty"`
	Content string     `json:"content,omitempty"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
}

func chatAnswer(w http.ResponseWriter, s Step, turn int, stream bool) {
	message, finish := chatMessage{Role: "assistant", Content: s.Text}, "stop"
	for i, c := range s.Calls {
		call := chatCall{Index: i, ID: callID(turn, i), Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, c.arguments()
		message.Calls, finish = append(message.Calls, call), "tool_calls"
	}
	head := func(object string, choices []any) map[string]any {
		return map[string]any{
			"id": fmt.Sprintf("chat_%d", turn), "object": object, "created": 1, "model": Name, "choices": choices,
		}
	}
	usage := map[string]int{"prompt_tokens": s.used(fullChat), "completion_tokens": 1, "total_tokens": s.used(fullChat) + 1}
	if !stream {
		answer := head("chat.completion", []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}})
		answer["usage"] = usage
		writeJSON(w, answer)
		return
	}
	e := newEvents(w)
	const chunk = "chat.completion.chunk"
	e.send("", head(chunk, []any{map[string]any{"index": 0, "delta": message, "finish_reason": nil}}))
	e.send("", head(chunk, []any{map[string]any{"index": 0, "delta": struct{}{}, "finish_reason": finish}}))
	last := head(chunk, []any{})
	last["usage"] = usage
	e.send("", last)
	fmt.Fprint(e.w, "data: [DONE]\n\n")
}
