package config

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Secret is a setting that must not be shown by accident: a token, a key, a header. In the file
// it may be plain text or name environment variables, «Bearer ${VERIFIER_TOKEN}». Printed, logged
// or encoded in any way it is «[secret]»; only [Secret.Reveal] returns it.
type Secret struct {
	// text is behind a pointer so that printing a struct around it, which calls
	// no method of an unexported field, shows an address.
	text *string
	line int
}

// hidden is what a secret looks like.
const hidden = "[secret]"

// maxSecretBytes bounds a setting that is secret, with its variables filled in.
const maxSecretBytes = 8 << 10

// NewSecret returns a secret with this text, in which ${NAME} stands for a
// variable.
func NewSecret(text string) Secret { return Secret{text: &text} }

// UnmarshalYAML reads it. The variables are looked up by Reveal, so that a program which does not
// need the secret runs without them.
func (s *Secret) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return fmt.Errorf("line %d: want one text, such as ${NAME}", n.Line)
	}
	if len(n.Value) > maxSecretBytes {
		return fmt.Errorf("line %d: longer than %d bytes", n.Line, maxSecretBytes)
	}
	if rest := variables().ReplaceAllString(n.Value, ""); strings.Contains(rest, "${") {
		return fmt.Errorf("line %d: ${ begins the name of a variable, as in ${VERIFIER_TOKEN}; this one has no end or is no name", n.Line)
	}
	*s = Secret{text: &n.Value, line: n.Line}
	return nil
}

func variables() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]{0,127})\}`) }

// Reveal returns the secret with its variables filled in. A variable that is not set or empty is an
// error: half a secret is none. No error holds a value.
func (s Secret) Reveal() (string, error) {
	if s.text == nil {
		return "", nil
	}
	var missing []string
	text := variables().ReplaceAllStringFunc(*s.text, func(ref string) string {
		value := os.Getenv(ref[2 : len(ref)-1])
		if value == "" {
			missing = append(missing, ref[2:len(ref)-1])
		}
		return value
	})
	switch {
	case len(missing) > 0:
		return "", fmt.Errorf("%sthe variable %s is not set where floodmark runs (set it there, for a service in its unit file)", s.at(), strings.Join(missing, ", "))
	case len(text) > maxSecretBytes:
		return "", fmt.Errorf("%slonger than %d bytes", s.at(), maxSecretBytes)
	case strings.ContainsAny(text, "\x00\r\n"):
		return "", errors.New(s.at() + "it holds a line break (write it on one line)")
	}
	return text, nil
}

func (s Secret) at() string {
	if s.line == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", s.line)
}

// IsZero reports whether nothing was set.
func (s Secret) IsZero() bool { return s.text == nil || *s.text == "" }

// String hides the text.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return hidden
}

// GoString hides the text.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the text from JSON and others.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML hides the text.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue hides the text.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
