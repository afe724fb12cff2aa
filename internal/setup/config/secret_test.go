package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Only Reveal returns the text of a secret. It is not printed, even inside other values.
func TestSecretIsNeverPrinted(t *testing.T) {
	const word = "correct-horse-battery"
	t.Setenv("FLOODMARK_TEST_SECRET", word)
	type outer struct {
		Token  Secret
		hidden Secret
		Many   map[string]Secret
		At     *Secret
	}
	for _, text := range []string{word, "${FLOODMARK_TEST_SECRET}"} {
		s := NewSecret(text)
		o := outer{Token: s, hidden: s, Many: map[string]Secret{"Authorization": s}, At: &s}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "s", s, "o", o)
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "s", s, "o", o)
		asJSON, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		asYAML, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		printed := fmt.Sprintf("%v %+v %#v %s %q %x %v %+v %#v", s, s, s, s, s, s, o, o, o)
		for _, shown := range []string{printed, log.String(), string(asJSON), string(asYAML)} {
			if strings.Contains(shown, word) || strings.Contains(shown, fmt.Sprintf("%x", word)) {
				t.Errorf("the secret stands in %s", shown)
			}
		}
		if got, err := s.Reveal(); err != nil || got != word {
			t.Errorf("reveal: %v", err)
		}
		if s.String() != "[secret]" || s.IsZero() {
			t.Errorf("it looks like %q", s)
		}
	}
	if s := (Secret{}); s.String() != "" || !s.IsZero() {
		t.Error("no secret looks like one")
	}
	if !NewSecret("").IsZero() {
		t.Error("an empty secret is one")
	}
}

func TestSecretOfVariables(t *testing.T) {
	t.Setenv("FM_A", "one")
	t.Setenv("FM_B", "two")
	t.Setenv("FM_EMPTY", "")
	t.Setenv("FM_BREAK", "a\r\nX-Other: b")
	t.Setenv("FM_NESTED", "${FM_A}")
	t.Setenv("FM_LONG", strings.Repeat("x", maxSecretBytes))
	for text, want := range map[string]string{
		"Bearer ${FM_A}":  "Bearer one",
		"${FM_A}:${FM_B}": "one:two",
		"$FM_A {FM_A} $":  "$FM_A {FM_A} $",
		"${FM_NESTED}":    "${FM_A}",
		"${FM_LONG}":      strings.Repeat("x", maxSecretBytes),
	} {
		var s Secret
		if err := yaml.Unmarshal([]byte(`"`+text+`"`), &s); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := s.Reveal(); err != nil || got != want {
			t.Errorf("%s: %.20q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"\n\n${FM_EMPTY}":                     "line 3: the variable FM_EMPTY is not set",
		"x ${FM_NONE_SUCH} ${FM_A}":           "line 1: the variable FM_NONE_SUCH is not set",
		"${FM_BREAK}":                         "holds a line break",
		"a${FM_LONG}":                         "longer than 8192 bytes",
		"${FM_A":                              "has no end",
		"${FM-A}":                             "is no name",
		"${}":                                 "is no name",
		"[a]":                                 "want one text",
		strings.Repeat("x", 8<<10+1):          "longer than 8192 bytes",
		"${" + strings.Repeat("A", 129) + "}": "is no name",
	} {
		var s Secret
		err := yaml.Unmarshal([]byte(text), &s)
		if err == nil {
			_, err = s.Reveal()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "X-Other") {
			t.Errorf("%.30q: the error shows a value: %v", text, err)
		}
	}
}
