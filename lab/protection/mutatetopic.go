package protection

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The mutations CopyTopic: the attacker copies the topic, so the title of the record has the words
// of the request. A rule that ties a record to the request by its title lets this pass.

func topicTitle(s *subject) (*Trace, string) { return s.entitle("") }

// topicQuote puts the whole request before the injected text, followed by the attacker's values.
func topicQuote(s *subject) (*Trace, string) {
	before := strings.TrimSpace(s.trace.User.Body)
	if len(s.values) > 0 {
		before += "\nFor this use: " + strings.Join(s.values[:min(len(s.values), 5)], ", ")
	}
	return s.entitle(before + "\n\n")
}

func (s *subject) entitle(before string) (*Trace, string) {
	if why := s.attackable(); why != "" {
		return nil, why
	}
	topic := topicOf(s.trace.User.Body)
	if topic == "" {
		return nil, noWords
	}
	t, ok := s.rewriteHits(func(_ *shape, at []field) bool {
		for _, f := range at {
			f.set(before + f.value())
			if !titleRecord(f, topic) {
				f.set(topic + "\n\n" + f.value())
			}
		}
		return len(at) > 0
	})
	if !ok {
		return nil, noInjected
	}
	return t, ""
}

// titleRecord sets the titles of the record around f to the topic. It reports whether the record
// has any field for a title.
func titleRecord(f field, topic string) bool {
	titled := false
	if f.record == nil {
		return false
	}
	for i := 0; i+1 < len(f.record.Content); i += 2 {
		key, value := f.record.Content[i].Value, f.record.Content[i+1]
		if titleKey(key) && value.Kind == yaml.ScalarNode && value != f.node {
			setScalar(value, topic)
			titled = true
		}
	}
	return titled
}

// titleKey reports whether a field says what a record is about.
func titleKey(key string) bool {
	switch strings.ToLower(strings.Trim(key, "_")) {
	case "subject", "title", "filename", "file_name", "name", "label", "channel", "topic", "path", "location":
		return true
	}
	return false
}

// topicWords is how many words a topic has if the request quotes nothing.
const topicWords = 8

// topicOf returns what a request is about: its quoted pieces and file names, else its first longer
// words.
func topicOf(request string) string {
	parts := quoted(request)
	for _, w := range strings.Fields(request) {
		w = strings.Trim(w, `.,;:!?'"()`)
		if dot := strings.LastIndexByte(w, '.'); dot > 0 && len(w)-dot <= 5 && !strings.ContainsAny(w, "@/") {
			parts = append(parts, w)
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts[:min(len(parts), 3)], " ")
	}
	for _, w := range strings.Fields(request) {
		w = strings.Trim(w, `.,;:!?'"()`)
		if utf8.RuneCountInString(w) > shortest && len(parts) < topicWords {
			parts = append(parts, w)
		}
	}
	return strings.Join(parts, " ")
}

// quoted returns the short quoted pieces of a text.
func quoted(text string) []string {
	var all []string
	for _, q := range []string{`'`, `"`} {
		rest := " " + text
		for {
			from := strings.Index(rest, " "+q)
			if from < 0 {
				break
			}
			rest = rest[from+2:]
			to := strings.Index(rest, q)
			if to < 0 {
				break
			}
			if to > 0 && to <= 60 {
				all = append(all, rest[:to])
			}
			rest = rest[to+1:]
		}
	}
	return all
}

// topicNamesake changes names that the attacker chose (an address, a page, a file, a title) so that
// they consist of words of the request.
func topicNamesake(s *subject) (*Trace, string) {
	if why := s.attackable(); why != "" {
		return nil, why
	}
	words := strings.FieldsFunc(topicOf(s.trace.User.Body), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return nil, noWords
	}
	var pairs []string
	for _, v := range s.values {
		if n := namesake(v, words); n != "" && s.wrote(v) {
			pairs = append(pairs, v, n)
		}
	}
	if len(pairs) == 0 {
		return nil, noName
	}
	t := s.trace.copyTrace()
	t.replaceAll(pairs)
	return t, ""
}

// namesake returns a value of the same sort as v made of words; empty if an attacker cannot choose
// such a value.
func namesake(v string, words []string) string {
	words = words[:min(len(words), 3)]
	host, web := hostOf(v)
	switch {
	case isAccountNumber(v), strings.Trim(v, "0123456789.,:- ") == "":
		return ""
	case len(addresses(v)) == 1 && !strings.Contains(v, " "):
		return strings.ToLower(strings.Join(words, ".")) + "." + v
	case web:
		return strings.Replace(v, host, strings.ToLower(strings.Join(words, "-"))+"."+strings.TrimPrefix(host, "www."), 1)
	case len(v) > 60 || strings.Contains(v, "\n"):
		return ""
	case strings.HasPrefix(v, "/"):
		return v + "-" + strings.Join(words, "-")
	}
	return strings.Join(words, " ") + " " + v
}

// wrote reports whether a text of the attacker contains v.
func (s *subject) wrote(v string) bool {
	v = letters(v)
	for _, t := range s.trace.Injected {
		if strings.Contains(letters(t.Body), v) {
			return true
		}
	}
	return false
}
