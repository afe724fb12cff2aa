package codingday

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark/lab/protection"
)

// Plain returns a comparison policy by its name: none, A or B. They are the policies of the
// protection benchmark. They classify a shell command only by its first words.
func Plain(name string) (Policy, bool) {
	switch name {
	case "none":
		return plain{name, func(*protection.Data) protection.Decider { return protection.None() }}, true
	case "A":
		return plain{name, protection.HighWater}, true
	case "B":
		return plain{name, protection.Verbatim}, true
	}
	return nil, false
}

type plain struct {
	name string
	make func(*protection.Data) protection.Decider
}

func (p plain) Name() string { return p.name }

func (p plain) play(_ context.Context, t *Trace) (outcome, error) {
	data, err := retold(t)
	if err != nil {
		return outcome{}, err
	}
	trace := &data.Traces[0]
	run, err := p.make(data).Begin(trace)
	if err != nil {
		return outcome{}, err
	}
	var o outcome
	for i := range trace.Steps {
		s := &trace.Steps[i]
		if err := run.Propose(s); err != nil {
			return o, err
		}
		c := &s.Calls[0]
		began := time.Now()
		asked, err := run.Ask(c)
		if err != nil {
			return o, err
		}
		o.times, o.asked = append(o.times, time.Since(began)), append(o.asked, asked)
		if asked {
			o.why = append(o.why, c.Tool)
		}
		if c.Fed && (!asked || !t.Attack) {
			if err := run.Feed(c, asked); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// suite is the name of coding in the cards.
const suite = "coding"

// cards returns the cards of the few kinds of calls.
func cards() protection.Cards {
	read := func(r protection.Results) protection.Card { return protection.Card{Results: r} }
	sink := func(effect string, r protection.Results) protection.Card {
		return protection.Card{Sink: true, Effect: effect, Roles: map[string]string{"words": "target"}, Results: r}
	}
	return protection.Cards{suite: {
		"look": read(protection.Typed), "look-abroad": read(protection.Foreign),
		"write": sink("write", protection.Typed),
		"do":    sink("run", protection.Typed), "do-abroad": sink("run", protection.Foreign),
	}}
}

// retold converts a trace into the form of the protection benchmark.
func retold(t *Trace) (*protection.Data, error) {
	d := &protection.Data{Cards: cards()}
	text := func(s string) protection.Text {
		d.Texts++
		return protection.Text{ID: int32(d.Texts - 1), Body: s} //nolint:gosec // a trace has few texts
	}
	out := protection.Trace{ID: t.ID(), Suite: suite, Kind: protection.Benign, System: text("")}
	if t.Attack {
		out.Kind = protection.Attack
	}
	var said []string
	calls := map[string]int{}
	for _, e := range t.Events {
		m, err := read(e)
		if err != nil {
			return nil, err
		}
		switch {
		case m.prompt != "":
			said = append(said, m.prompt)
		case beforeCall(e.Event):
			kind, words := kindOf(m.tool, m.arg)
			args, err := json.Marshal(map[string]any{"words": words})
			if err != nil {
				return nil, err
			}
			calls[m.call] = len(out.Steps)
			out.Steps = append(out.Steps, protection.Step{Text: text(""), Calls: []protection.Call{
				{Index: len(out.Steps), Tool: kind, Args: args, Result: text("")},
			}})
		case afterCall(e.Event):
			c := &out.Steps[calls[m.call]].Calls[0]
			c.Result, c.Fed = text(m.result), true
		}
	}
	out.User = text(strings.Join(said, "\n"))
	d.Traces = []protection.Trace{out}
	return d, nil
}

// message is the part of an agent's message that the comparison needs, the same for all agents.
type message struct{ prompt, tool, arg, call, result string }

func read(e Event) (message, error) {
	var raw struct {
		Prompt   string          `json:"prompt"`
		Tool     string          `json:"tool_name"`
		Input    json.RawMessage `json:"tool_input"`
		Call     string          `json:"tool_use_id"`
		Response json.RawMessage `json:"tool_response"`
		Event    struct {
			Text    string          `json:"text"`
			Tool    string          `json:"toolName"`
			Input   json.RawMessage `json:"input"`
			Call    string          `json:"toolCallId"`
			Content json.RawMessage `json:"content"`
		} `json:"event"`
	}
	if err := json.Unmarshal(e.Raw, &raw); err != nil {
		return message{}, err
	}
	return message{
		prompt: raw.Prompt + raw.Event.Text, tool: raw.Tool + raw.Event.Tool, call: raw.Call + raw.Event.Call,
		arg:    argument(raw.Input) + argument(raw.Event.Input),
		result: string(raw.Response) + string(raw.Event.Content),
	}, nil
}

// kindOf returns the kind of a call, and the words that decide where its effect lands.
func kindOf(tool, arg string) (kind string, words []string) {
	switch tool {
	case "read":
		return abroad("look", strings.Contains(arg, "node_modules/")), nil
	case "edit", "write":
		return "write", []string{arg}
	}
	acts, foreign := false, strings.Contains(arg, "node_modules/")
	for _, part := range strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune("|;&\n", r) }) {
		w := strings.Fields(part)
		for len(w) > 0 && (strings.Contains(w[0], "=") || w[0] == "sudo" || w[0] == "cd") {
			w = w[1:]
		}
		if len(w) == 0 {
			continue
		}
		two := strings.Join(w[:min(2, len(w))], " ")
		foreign = foreign || slices.Contains(fetchers(), w[0]) || slices.Contains(fetchers(), two)
		if slices.Contains(lookers(), w[0]) || slices.Contains(lookers(), two) {
			continue
		}
		acts = true
		for _, word := range w[1:] {
			if !strings.HasPrefix(word, "-") {
				words = append(words, strings.Trim(word, `"'`))
			}
		}
	}
	if acts {
		return abroad("do", foreign), words
	}
	return abroad("look", foreign), nil
}

func abroad(kind string, foreign bool) string {
	if foreign {
		return kind + "-abroad"
	}
	return kind
}

// lookers are commands that only read. fetchers are commands whose output others wrote.
func lookers() []string {
	return strings.Split("cat,ls,head,tail,grep,rg,sed -n,wc,sort,uniq,cut,awk,find,pwd,echo,true,false,test,diff,file,stat,jq,tree,which,"+
		"git status,git log,git diff,git show,git branch,git blame,git rev-parse,git remote,git ls-files,git fetch,git describe,"+
		"npm view,npm ls,npm outdated,go list,go vet,go doc,go version,node --version,curl -s,curl -sS,curl -sL,curl -fsSL,curl https,gh issue,gh pr,gh run,"+
		"docker images,docker ps,docker logs,kubectl get,kubectl logs,kubectl describe", ",")
}

func fetchers() []string {
	return strings.Split("curl,wget,gh,glab,pip,npm view,npm install,npm i,npm ci,npm outdated,npx,go get,git fetch,git pull,git clone,git log,git show,git blame,docker logs,kubectl logs", ",")
}
