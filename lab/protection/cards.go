package protection

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Cards describe the suites' tools for the comparison policies, by suite and tool. The monitor
// never reads them, because it has a catalog.
type Cards map[string]map[string]Card

// A Card describes one tool of one suite.
type Card struct {
	Sink    bool              // it has an effect besides reading
	Effect  string            // the class of its effect: pay, email …
	Roles   map[string]string // the purpose of each argument
	Results Results
}

// Results say what a tool's result consists of.
type Results uint8

// The classes of results.
const (
	Foreign    Results = iota // may contain free text of third parties
	Identifier                // identifiers only, as long as every line looks like one
	Typed                     // typed metadata or the owner's own data
)

// parseCards reads the cards. They were frozen before the second benchmark was looked at.
func parseCards(data []byte) (Cards, error) {
	var file struct {
		Frozen map[string]map[string]struct {
			Kind    string            `json:"kind"`
			Effect  string            `json:"effect"`
			Args    map[string]string `json:"args"`
			Results json.RawMessage   `json:"res"`
		} `json:"frozen"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if len(file.Frozen) == 0 {
		return nil, errors.New("no frozen cards")
	}
	cards := Cards{}
	for suite, tools := range file.Frozen {
		cards[suite] = map[string]Card{}
		for name, c := range tools {
			results, err := parseResults(c.Results)
			if err != nil {
				return nil, fmt.Errorf("%s/%s: %w", suite, name, err)
			}
			cards[suite][name] = Card{Sink: c.Kind != "read", Effect: c.Effect, Roles: c.Args, Results: results}
		}
	}
	return cards, nil
}

// parseResults reads the class of a whole result, or of each field. A record has the class of its
// least trusted field.
func parseResults(raw json.RawMessage) (Results, error) {
	var whole string
	fields := map[string]string{}
	if err := json.Unmarshal(raw, &whole); err == nil {
		fields[""] = whole
	} else if err := json.Unmarshal(raw, &fields); err != nil {
		return Foreign, fmt.Errorf("res: %w", err)
	}
	if len(fields) == 0 {
		return Foreign, nil
	}
	least := Typed
	for field, class := range fields {
		switch class {
		case "T", "E":
		case "I":
			least = min(least, Identifier)
		case "U":
			least = Foreign
		default:
			return Foreign, fmt.Errorf("res: unknown class %q of field %q", class, field)
		}
	}
	return least, nil
}

// Card returns the card of a tool. An unknown tool is a sink whose result is
// third-party text.
func (c Cards) Card(suite, tool string) Card {
	if card, ok := c[suite][tool]; ok {
		return card
	}
	return Card{Sink: true, Effect: "unknown:" + tool}
}

// Known reports whether there is a card for the tool.
func (c Cards) Known(suite, tool string) bool {
	_, ok := c[suite][tool]
	return ok
}
