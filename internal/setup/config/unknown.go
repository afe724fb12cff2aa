package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/text/spelling"
)

// plain removes the library's name from its errors, and suggests the key that was probably meant.
func plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:\n  ")
	unknown := regexp.MustCompile(`field (\S+) not found in type config\.(\w+)`)
	return unknown.ReplaceAllStringFunc(text, func(found string) string {
		parts := unknown.FindStringSubmatch(found)
		return "there is no key " + parts[1] + " here" + meant(parts[1], keysOf(parts[2]))
	})
}

// meant suggests the key that was probably meant, or lists the existing keys.
func meant(got string, keys []string) string {
	best, least := "", 1+max(1, len(got)/3)
	for _, key := range keys {
		if off := spelling.Edits(strings.ToLower(got), strings.ToLower(key)); off < least {
			best, least = key, off
		}
	}
	switch {
	case best != "":
		return " (did you mean " + best + "?)"
	case len(keys) > 0:
		return " (there are " + strings.Join(keys, ", ") + ")"
	}
	return ""
}

// keysOf returns the keys of a section, by the name of its type; nil for an unknown one.
func keysOf(section string) []string {
	seen := map[reflect.Type]bool{}
	var find func(t reflect.Type) []string
	find = func(t reflect.Type) []string {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			return find(t.Elem())
		case reflect.Struct:
		default:
			return nil
		}
		if seen[t] {
			return nil
		}
		seen[t] = true
		var keys []string
		for f := range t.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if key != "" && key != "-" {
				keys = append(keys, key)
			}
		}
		if t.Name() == section {
			slices.Sort(keys)
			return keys
		}
		for f := range t.Fields() {
			if keys := find(f.Type); keys != nil {
				return keys
			}
		}
		return nil
	}
	if keys := find(reflect.TypeFor[Service]()); keys != nil {
		return keys
	}
	return find(reflect.TypeFor[Gateway]())
}
