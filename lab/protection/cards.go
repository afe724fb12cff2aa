package protection

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Cards describe the suites' tools as the comparison policies see them, by
// suite and tool. The monitor itself never reads them: it has a catalog.
type Cards map[string]map[string]Card

// A Card is one tool of one suite.
type Card struct {
	Sink    bool              // it does something, rather than read
	Effect  string            // the class of what it does: pay, email …
	Roles   map[string]string // what each argument is for
	Results Results
}

// Results say what a tool's result is made of.
type Results uint8

// The classes of results.
const (
	Foreign    Results = iota // holds third-party free text
	Identifier                // identifiers only, as long as every line looks like one
	Typed                     // typed metadata or the owner's own data
)

// parseCards reads the cards that were frozen before the second benchmark was
// looked at.
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

// parseResults reads one class for the whole result, or one for each field. A
// record counts as its least trusted field.
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
