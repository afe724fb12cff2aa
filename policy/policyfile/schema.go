package policyfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// schemaID names the language in editors.
const schemaID = "https://github.com/floodmark/floodmark/docs/reference/policy.schema.json"

// Schema returns the language of the user's policy file as a JSON Schema
// (draft 2020-12). It is printed from the same tables the reader checks by. It
// cannot say everything: that conditions are CEL, that names are unique, or
// that strangers write on a host is only checked when a policy is loaded.
func Schema() []byte {
	root := policyShape().only(InUser).schema()
	root = append(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", schemaID},
		{"title", "Floodmark policy"},
	}, root...)
	var out bytes.Buffer
	flat, err := json.Marshal(root)
	if err == nil {
		err = json.Indent(&out, flat, "", "  ")
	}
	if err != nil {
		panic(fmt.Sprintf("policy: schema: %v", err)) // our own tables cannot be printed
	}
	return append(out.Bytes(), '\n')
}

// object is a JSON object that keeps the order of its members, so that the schema lists the keys in
// the order in which a policy is usually written.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (s *shape) schema() object {
	var o object
	add := func(name string, value any) { o = append(o, member{name, value}) }
	if s.about != "" {
		add("description", strings.NewReplacer("«", "'", "»", "'").Replace(s.about))
	}
	switch s.kind {
	case mapping:
		return append(o, s.mappingSchema()...)
	case named:
		add("type", "object")
		if s.keyWords != nil {
			add("propertyNames", object{{"enum", s.keyWords}})
		} else {
			add("propertyNames", object{{"minLength", 1}})
			add("maxProperties", s.high)
		}
		add("additionalProperties", s.item.schema())
	case list, foreign:
		add("type", "array")
		if s.low > 0 {
			add("minItems", s.low)
		}
		add("maxItems", s.high)
		if s.kind == list {
			add("items", s.item.schema())
		} else {
			add("items", object{{"type", "object"}})
		}
	case either:
		forms := make([]object, len(s.forms))
		for i, f := range s.forms {
			forms[i] = f.schema()
		}
		add("oneOf", forms)
	default:
		return append(o, s.scalarSchema()...)
	}
	return o
}

func (s *shape) mappingSchema() object {
	o := object{{"type", "object"}}
	var properties object
	var required []string
	for _, k := range s.keys {
		properties = append(properties, member{k.name, k.shape.schema()})
		if k.need {
			required = append(required, k.name)
		}
	}
	o = append(o, member{"properties", properties}, member{"additionalProperties", false})
	if required != nil {
		o = append(o, member{"required", required})
	}
	if s.low > 0 {
		o = append(o, member{"minProperties", s.low})
	}
	return o
}

func (s *shape) scalarSchema() object {
	switch s.kind {
	case word:
		return object{{"enum", s.words}}
	case whole:
		if s.low == s.high {
			return object{{"const", s.low}}
		}
		return object{{"type", "integer"}, {"minimum", s.low}, {"maximum", s.high}}
	case flag:
		return object{{"type", "boolean"}}
	case day:
		return object{{"type", "string"}, {"pattern", `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`}, {"examples", []string{"2026-12-31"}}}
	case clock:
		return object{{"type", "string"}, {"pattern", `^([01][0-9]|2[0-3]):[0-5][0-9]$`}, {"examples", []string{"22:00", "07:00"}}}
	case span:
		return object{{"type", "string"}, {"pattern", `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`}, {"examples", []string{ShortSpan(s.shortest), ShortSpan(max(s.shortest, 2*time.Minute))}}}
	default:
		return object{{"type", "string"}, {"minLength", s.low}, {"maxLength", s.high}, {"pattern", `\S`}}
	}
}
