package auditor

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/floodmark/floodmark/audit"
)

// A Kind is the language a service speaks.
type Kind string

// The kinds. Ollama, llama.cpp, vLLM and most others speak OpenAI's.
const (
	OpenAI    Kind = "openai"
	Anthropic Kind = "anthropic"
)

// How many tokens an answer may have: one word, or one line. A word is one to
// three of them, and some models put marks around it.
const (
	answerTokens = 8
	reasonTokens = 120
)

// A question is one request to the service.
type question struct {
	audit.Prompt
	said   string // what it answered first, if it is asked why
	tokens int
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// block is a part of a message. What is marked is kept by the service for the
// next request that begins the same.
type block struct {
	Type  string            `json:"type"`
	Text  string            `json:"text"`
	Cache map[string]string `json:"cache_control,omitempty"`
}

func kept(text string) block {
	return block{Type: "text", Text: text, Cache: map[string]string{"type": "ephemeral"}}
}

// more is what follows the first answer.
func (q question) more() []message {
	if q.said == "" {
		return nil
	}
	return []message{{"assistant", q.said}, {"user", audit.WhyQuestion}}
}

// body is the request. What stays the same from case to case stands first. It
// is one message, because some local models take no two of a user in a row.
func (q question) body(k Kind, model string) ([]byte, error) {
	if k == Anthropic {
		first := []block{kept(q.Intent), {Type: "text", Text: q.Call}}
		return json.Marshal(struct {
			Model       string    `json:"model"`
			MaxTokens   int       `json:"max_tokens"`
			Temperature float64   `json:"temperature"`
			System      []block   `json:"system"`
			Messages    []message `json:"messages"`
		}{model, q.tokens, 0, []block{kept(q.System)}, append([]message{{"user", first}}, q.more()...)})
	}
	return json.Marshal(struct {
		Model       string    `json:"model"`
		MaxTokens   int       `json:"max_tokens"`
		Temperature float64   `json:"temperature"`
		Stream      bool      `json:"stream"`
		Messages    []message `json:"messages"`
	}{model, q.tokens, 0, false, append([]message{{"system", q.System}, {"user", q.Intent + "\n" + q.Call}}, q.more()...)})
}

// sign adds the key.
func (k Kind) sign(h http.Header, key string) {
	if k == Anthropic {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	switch {
	case key == "":
	case k == Anthropic:
		h.Set("X-Api-Key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
}

// errUnreadable says that an answer is not in the service's language.
var errUnreadable = errors.New("it is not an answer of a model")

// text reads what the model said. An answer that was cut off, or that is more
// than text, says nothing that counts: it comes back empty.
func (k Kind) text(data []byte) (string, error) {
	if k == Anthropic {
		return anthropicText(data)
	}
	var a struct {
		Choices []struct {
			Finish  string `json:"finish_reason"`
			Message *struct {
				Content *string           `json:"content"`
				Refusal *string           `json:"refusal"`
				Calls   []json.RawMessage `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
	}
	if json.Unmarshal(data, &a) != nil || len(a.Choices) == 0 || a.Choices[0].Message == nil {
		return "", errUnreadable
	}
	first := a.Choices[0]
	m := first.Message
	if len(a.Choices) > 1 || m.Content == nil || m.Refusal != nil && *m.Refusal != "" || len(m.Calls) > 0 {
		return "", nil
	}
	return whole(*m.Content, first.Finish == "length"), nil
}

func anthropicText(data []byte) (string, error) {
	var a struct {
		Type    string `json:"type"`
		Stop    string `json:"stop_reason"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(data, &a) != nil || a.Type != "message" {
		return "", errUnreadable
	}
	var all strings.Builder
	for _, part := range a.Content {
		if part.Type != "text" {
			return "", nil
		}
		all.WriteString(part.Text)
	}
	return whole(all.String(), a.Stop == "max_tokens"), nil
}

// whole returns a text that was complete. A cut-off «block» counts too: at most its reason is
// missing. A cut-off «allow» does not.
func whole(text string, cut bool) string {
	if o, err := audit.ParseOpinion(text); cut && (err == nil && o.Says != audit.Block) {
		return ""
	}
	return text
}
