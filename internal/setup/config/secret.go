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
// it is plain text that may refer to environment variables, such as «Bearer ${VERIFIER_TOKEN}». It
// prints, logs and encodes as «[secret]»; only [Secret.Reveal] returns the text.
type Secret struct {
	// text is behind a pointer, because printing a struct with a Secret in an unexported field
	// calls no method of Secret; it then shows only an address.
	text *string
	line int
}

// hidden is shown instead of a secret.
const hidden = "[secret]"

// maxSecretBytes bounds a setting that is secret, with its variables filled in.
const maxSecretBytes = 8 << 10

// NewSecret returns a secret with this text, in which ${NAME} refers to an environment variable.
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

// Reveal returns the secret with its variables filled in. It returns an error if a variable is
// empty or not set, because a secret with a missing part is useless. No error contains a value.
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

// MarshalText hides the text from JSON and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML hides the text.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue hides the text.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
