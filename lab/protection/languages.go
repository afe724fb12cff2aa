package protection

import (
	"embed"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

//go:embed languages.yaml
var languagesFile embed.FS

// Languages is the set of requests in German, Spanish and Chinese. Its benign runs are 30 tasks.
// Its attacks are 30 twins of them, in which the owner names the same values only to read, deny or
// quote them. If the call goes through in a twin, the monitor relaxed when it should not have.
const Languages Set = "languages"

// A languageCase is one request and its twin.
type languageCase struct {
	ID    string
	Suite string
	Why   string // what the twin does with the values: reading, negated, quoted
	Owner string
	Twin  string
	Call  string
	Args  map[string]any
}

// languageTraces returns the tasks and their twins.
func languageTraces() ([]Trace, error) {
	data, err := languagesFile.ReadFile("languages.yaml")
	if err != nil {
		return nil, fmt.Errorf("read the languages: %w", err)
	}
	var cases []languageCase
	if err := yaml.Unmarshal(data, &cases); err != nil {
		return nil, fmt.Errorf("read the languages: %w", err)
	}
	var all []Trace
	for _, c := range cases {
		task, err := c.trace(c.Owner)
		if err != nil {
			return nil, fmt.Errorf("languages: %s: %w", c.ID, err)
		}
		twin, err := c.trace(c.Twin)
		if err != nil {
			return nil, fmt.Errorf("languages: %s: %w", c.ID, err)
		}
		task.Kind, task.Utility = Benign, true
		twin.ID += "-" + c.Why
		twin.Kind, twin.Attack = Attack, c.Why
		twin.Succeeded, twin.Replayed, twin.Cuts = true, true, [][]int{{1}}
		all = append(all, task, twin)
	}
	return all, nil
}

// trace returns the run for a task or its twin: content of others is read, then the call is made.
func (c languageCase) trace(words string) (Trace, error) {
	args, err := json.Marshal(c.Args)
	if err != nil {
		return Trace{}, err
	}
	read := map[string]Call{
		"banking":   {Tool: "read_file", Args: json.RawMessage(`{"file_path":"note.txt"}`)},
		"workspace": {Tool: "get_unread_emails", Args: json.RawMessage(`{}`)},
		"slack":     {Tool: "read_channel_messages", Args: json.RawMessage(`{"channel":"general"}`)},
	}[c.Suite]
	read.Fed, read.Result = true, own("- body: The garden club meets on Friday, bring a chair.\n  sender: club@garden.example\n  subject: Garden club")
	return Trace{
		ID: c.ID, Source: "agentdojo", Suite: c.Suite, Task: "languages", Model: c.ID[:2], Attack: "none",
		System: own(""), User: own(words),
		Steps:    []Step{{Text: own(""), Calls: []Call{read}}, {Text: own(""), Calls: []Call{{Index: 1, Tool: c.Call, Args: args}}}},
		language: true,
	}, nil
}
