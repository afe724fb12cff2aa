package policyfile

import (
	"time"

	"github.com/floodmark/floodmark"
)

func textShape(noun string) *shape { return &shape{kind: text, noun: noun, low: 1, high: MaxText} }

func verdictShape(most floodmark.Verdict) *shape {
	return &shape{kind: word, noun: "a verdict", words: verdictWords(most)}
}

func levelsShape(about string, star bool) *shape {
	words := levelWords()
	if star {
		words = append(words, "*")
	}
	return &shape{kind: named, noun: "verdicts by trust level", about: about, keyWords: words, item: &shape{kind: word, noun: "a verdict", words: answerWords(floodmark.Allow)}}
}

func tableShape() *shape {
	return &shape{
		kind: named, noun: "verdicts by effect and trust level", about: "Cells of the table effect x trust that replace the profile's.",
		keyWords: EffectWords(), item: levelsShape("Verdicts by trust level.", false),
	}
}

func toolList(noun string) *shape {
	return &shape{kind: list, noun: noun, low: 1, high: MaxItems, item: textShape("a tool")}
}

func ruleShape() *shape {
	short := &shape{kind: mapping, noun: "conditions", about: "All given conditions must hold.", low: 1, keys: []key{
		{name: "context_taint_includes", shape: &shape{
			kind: list, noun: "a list of trust levels", about: "The context holds content of one of these levels.", low: 1, high: len(levelWords()),
			item: &shape{kind: word, noun: "a trust level", words: levelWords()},
		}},
		{name: "iteration_gte", shape: &shape{kind: whole, noun: "a number of rounds", about: "The round of the loop is at least this, counted from 0.", high: 10_000}},
	}}
	cel := &shape{kind: text, noun: "a CEL expression", about: "A CEL expression that is true or false.", low: 1, high: MaxCondition}
	action := &shape{kind: mapping, noun: "an action", about: "What follows when the condition holds.", low: 1, keys: []key{
		{name: "remove_tools", shape: toolList("a list of tools")},
		{name: "block_tools", shape: toolList("a list of tools")},
		{name: "block_turn", shape: &shape{kind: flag, about: "End the agent's turn."}},
		{name: "verdict", shape: &shape{kind: word, noun: "a verdict a rule may give (rules only tighten)", about: "At most this verdict.", words: answerWords(floodmark.Audit)}},
		{name: "persist_graph", shape: &shape{kind: flag, about: "Keep the turn's provenance graph, which the journal does with every turn."}},
		{name: "log_full_context", shape: &shape{kind: flag, about: "Refused: the whole context is written down nowhere."}},
		{name: "reason", shape: textShape("a sentence")},
	}}
	return &shape{kind: mapping, noun: "a rule", keys: []key{
		{name: "name", need: true, shape: textShape("a name")},
		{name: "when", need: true, shape: &shape{kind: either, noun: "conditions or a CEL expression", forms: []*shape{short, cel}}},
		{name: "action", need: true, shape: action},
		{name: "tools", shape: toolList("a list of tools")},
		{name: "reason", shape: textShape("a sentence")},
	}}
}

func flowsShape() *shape {
	return &shape{kind: mapping, noun: "flow settings", about: "The flow rules.", keys: []key{
		{name: "off", shape: &shape{
			kind: list, noun: "a list of flow rules", about: "Flow rules that do not apply.", high: len(flowWords()),
			item: &shape{kind: word, noun: "a flow rule", words: flowWords()},
		}},
	}}
}

func choicesShape() *shape {
	bits := &shape{kind: whole, noun: "a number of bits", about: "Bits that the requests of a session may tell.", high: 1 << 20}
	return &shape{
		kind: mapping, noun: "bits by secrecy", about: "What may be told, once such data was read, by which of the links of a known site are followed. A project can only lower it.",
		keys: []key{{name: "secret", shape: bits}, {name: "private", shape: bits}},
	}
}

func sourcesShape() *shape {
	return &shape{kind: list, noun: "a list of sources", about: "Standing trust in hosts and paths, at most shared.", high: MaxItems, item: &shape{
		kind: mapping, noun: "a source", keys: []key{
			{name: "host", shape: textShape("a host")},
			{name: "path", shape: textShape("a path pattern")},
			{name: "trust", need: true, shape: &shape{kind: word, noun: "a trust level of at most shared", words: standingTrust()}},
		},
	}}
}

func approvalsShape() *shape {
	return &shape{kind: mapping, noun: "approval settings", about: "How people are asked.", keys: []key{
		{name: "ttl", shape: &shape{kind: span, noun: "a length of time", about: "How long a question waits.", shortest: 10 * time.Second, longest: 24 * time.Hour}},
		{name: "wait", shape: &shape{kind: span, noun: "a length of time", about: "How long an agent waits for you where it can; its question waits as long. Without it an agent waits no longer than for any answer.", shortest: 10 * time.Second, longest: 29 * time.Minute}},
		{name: "toolWide", shape: &shape{kind: flag, about: "Whether an approval may cover every call of a tool."}},
		{name: "maxTries", shape: &shape{kind: whole, noun: "a number of tries", about: "Wrong codes that void a question.", low: 1, high: 10}},
		{name: "perHour", shape: &shape{kind: whole, noun: "a number of questions", about: "Questions that one session may ask in an hour; more are refused.", low: 1, high: 240}},
		{name: "quiet", shape: quietShape()},
		{name: "admin", in: InUser, shape: &shape{
			kind: word, noun: "number of people", words: []string{"one", "two"},
			about: "How many people must approve what changes the agent or the monitor.",
		}},
		{name: "people", in: InUser, shape: peopleShape()},
	}}
}

func auditorShape() *shape {
	return &shape{kind: mapping, noun: "auditor settings", about: "The model that judges calls by the owner's words.", keys: []key{
		{name: "on", shape: &shape{kind: flag, about: "Whether an auditor is configured."}},
		{name: "failMode", shape: &shape{
			kind: word, noun: "a fail mode", about: "What its silence means: a person is asked (block), or what would be allowed without an auditor passes (warn, allow).", words: []string{"block", "warn", "allow"},
		}},
	}}
}

func verifiersShape() *shape {
	return &shape{kind: list, noun: "a list of verifiers", about: "Gates that must agree before a call proceeds.", high: 16, item: &shape{
		kind: mapping, noun: "a verifier", keys: []key{
			{name: "name", need: true, shape: textShape("a name")},
			{name: "include", shape: &shape{kind: list, noun: "a list of tools", about: "Only these tools.", high: MaxItems, item: textShape("a tool")}},
			{name: "exclude", shape: &shape{kind: list, noun: "a list of tools", about: "All tools but these.", high: MaxItems, item: textShape("a tool")}},
			{name: "failMode", shape: &shape{kind: word, noun: "a fail mode", about: "What silence means.", words: []string{"deny", "allow"}}},
			{name: "timeout", shape: &shape{
				kind: span, noun: "a length of time", about: "How long to wait for an answer.", shortest: time.Second, longest: 10 * time.Minute,
			}},
		},
	}}
}

func peopleShape() *shape {
	return &shape{
		kind: named, noun: "people by name", about: "Who may approve what takes two people, with the names that channels prove.", high: MaxItems,
		item: &shape{kind: list, noun: "a list of names", low: 1, high: 16, item: textShape("a channel and a name")},
	}
}

func quietShape() *shape {
	return &shape{kind: mapping, noun: "quiet hours", about: "Hours in which nobody is asked.", keys: []key{
		{name: "from", need: true, shape: &shape{kind: clock, noun: "a time of day", about: "The first quiet minute."}},
		{name: "to", need: true, shape: &shape{kind: clock, noun: "a time of day", about: "The first minute that is not quiet; earlier than from means the next day."}},
		{name: "zone", need: true, shape: textShape("a time zone")},
		{name: "do", need: true, shape: &shape{
			kind: word, noun: "answer to questions in quiet hours", words: []string{"deny", "hold"},
			about: "deny refuses what would be asked; hold asks when the quiet hours are over.",
		}},
	}}
}

func standingShape() *shape {
	a := func(noun, about string) *shape {
		return &shape{kind: text, noun: noun, about: about, low: 1, high: MaxText}
	}
	return &shape{kind: list, noun: "a list of standing approvals", about: "What scheduled jobs may do without asking, for a time.", high: maxStandingCount, item: &shape{
		kind: mapping, noun: "a standing approval", keys: []key{
			{name: "name", need: true, shape: a("a name", "What it is called in the journal.")},
			{name: "agent", need: true, shape: a("an agent", "The agent whose job it is.")},
			{name: "trigger", need: true, shape: a("a trigger", "What started the session, as the agent's door says: cron, heartbeat.")},
			{name: "job", shape: a("a job", "Which job; without it any of that trigger.")},
			{name: "call", need: true, shape: a("a call", "The call, as the pattern of a question spells it.")},
			{name: "trust", need: true, shape: &shape{kind: word, noun: "a trust level", about: "The lowest the session may have sunk to.", words: levelWords()}},
			{name: "secrecy", need: true, shape: &shape{
				kind: word, noun: "a secrecy above secret", about: "The most guarded the session may have read.",
				words: []string{floodmark.Private.String(), floodmark.Internal.String(), floodmark.Public.String()},
			}},
			{name: "from", need: true, shape: &shape{kind: day, noun: "a day", about: "The first day it holds, in UTC."}},
			{name: "until", need: true, shape: &shape{kind: day, noun: "a day", about: "The last day it holds, in UTC; at most 90 days in all."}},
		},
	}}
}
