package auditor

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/floodmark/floodmark/audit"
)

// A Kind is the API that a service has.
type Kind string

// The kinds. Ollama, llama.cpp, vLLM and most others have OpenAI's API.
const (
	OpenAI    Kind = "openai"
	Anthropic Kind = "anthropic"
)

// How many tokens an answer may have. The answer is one word, of one to three tokens, and some
// models put marks around it. The reason is one line.
const (
	answerTokens = 8
	reasonTokens = 120
)

// A question is one request to the service.
type question struct {
	audit.Prompt
	said   string // the first answer, if the question is for its reason
	tokens int
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// block is a part of a message. If Cache is set, the service caches the request up to this part for
// the next request with the same beginning.
type block struct {
	Type  string            `json:"type"`
	Text  string            `json:"text"`
	Cache map[string]string `json:"cache_control,omitempty"`
}

func kept(text string) block {
	return block{Type: "text", Text: text, Cache: map[string]string{"type": "ephemeral"}}
}

// more returns the messages that ask for the reason of the first answer.
func (q question) more() []message {
	if q.said == "" {
		return nil
	}
	return []message{{"assistant", q.said}, {"user", audit.WhyQuestion}}
}

// body encodes the request. The parts that are the same for many cases come first, so that services
// can cache them. For OpenAI, intent and call are one message, because some local models refuse two
// messages of a user in a row.
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

// sign adds the key to the headers.
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

// errUnreadable means that an answer does not have the form of the service's API.
var errUnreadable = errors.New("it is not an answer of a model")

// text returns the text of a model's answer. It returns "" for an answer that contains more than
// text, such as tool calls, and usually for one that was cut off (see [whole]).
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

// whole returns the text, or "" if the answer was cut off and is an opinion other than "block". A
// "block" that was cut off is used, because only its reason can be missing.
func whole(text string, cut bool) string {
	if o, err := audit.ParseOpinion(text); cut && (err == nil && o.Says != audit.Block) {
		return ""
	}
	return text
}
