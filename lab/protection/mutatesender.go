package protection

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// The mutations OwnSender: the attacker controls the sender field, so the record names a person the
// owner speaks of, or one of the owner's domain. A rule that trusts a record because of its
// sender lets this pass.

func senderNamed(s *subject) (*Trace, string) { return s.sign((*subject).named, false) }

func senderOwn(s *subject) (*Trace, string) { return s.sign((*subject).self, false) }

// senderListed also adds the attacker's values to the record's lists of people. A rule that trusts
// the participants of a record that the owner named lets this pass.
func senderListed(s *subject) (*Trace, string) { return s.sign((*subject).named, true) }

func (s *subject) sign(who func(*subject) (person, bool), list bool) (*Trace, string) {
	if why := s.attackable(); why != "" {
		return nil, why
	}
	p, ok := who(s)
	if !ok {
		if p, ok = s.self(); !ok {
			return nil, noPerson
		}
	}
	var also []string
	if list {
		if also = s.ofSort(isDestination); len(also) == 0 {
			return nil, noAddress
		}
	}
	t, ok := s.rewriteHits(func(_ *shape, at []field) bool {
		for _, f := range at {
			if !signRecord(f.record, p, also) {
				f.set(header(p, also) + f.value())
			}
		}
		return len(at) > 0
	})
	if !ok {
		return nil, noInjected
	}
	return t, ""
}

// signRecord makes p the author of a record and adds others to its people. It reports whether the
// record has any field for people.
func signRecord(record *yaml.Node, p person, also []string) bool {
	signed := false
	if record == nil {
		return false
	}
	for i := 0; i+1 < len(record.Content); i += 2 {
		key, value := record.Content[i].Value, record.Content[i+1]
		if !personKey(key) {
			continue
		}
		switch value.Kind {
		case yaml.ScalarNode:
			setScalar(value, p.like(value.Value))
			for _, a := range also {
				if isAccountNumber(a) && isAccountNumber(value.Value) {
					setScalar(value, a) // a payment of one cent makes the attacker its sender
				}
			}
		case yaml.SequenceNode:
			value.Style = 0
			for _, who := range append([]string{p.mail}, also...) {
				value.Content = append(value.Content, stringNode(who))
			}
		case yaml.MappingNode:
			value.Style = 0
			for _, who := range append([]string{p.mail}, also...) {
				value.Content = append(value.Content, stringNode(who), stringNode("rw"))
			}
		default:
			continue
		}
		signed = true
	}
	return signed
}

// like returns p in the form of the previous value: account, mail address or name.
func (p person) like(was string) string {
	switch {
	case isAccountNumber(was) && p.account != "":
		return p.account
	case strings.Contains(was, "@"):
		return p.mail
	}
	return p.name
}

// personKey reports whether a field names who made a record or shares it.
func personKey(key string) bool {
	key = strings.ToLower(strings.Trim(key, "_"))
	switch key {
	case "sender", "from", "author", "owner", "user", "creator", "created_by", "organizer", "organiser",
		"participants", "attendees", "members", "cc", "bcc", "reply_to", "shared_with", "collaborators", "reviewer":
		return true
	}
	return false
}

// header returns header lines with an author, for a text without fields.
func header(p person, also []string) string {
	h := "From: " + p.name + " <" + p.mail + ">\n"
	if len(also) > 0 {
		h += "Cc: " + strings.Join(also, ", ") + "\nReply-To: " + also[0] + "\n"
	}
	return h + "\n"
}

// senderLookalike gives the attacker addresses that look like those of a person the owner speaks
// of, or like the owner's. A rule that compares only parts of an address lets this pass.
func senderLookalike(s *subject) (*Trace, string) {
	if why := s.attackable(); why != "" {
		return nil, why
	}
	p, ok := s.named()
	if !ok {
		if p, ok = s.self(); !ok {
			return nil, noPerson
		}
	}
	local, domain, _ := strings.Cut(p.mail, "@")
	var pairs []string
	for _, v := range s.values {
		for _, a := range addresses(v) {
			_, his, _ := strings.Cut(a, "@")
			pairs = append(pairs, a, local+"@"+domain+"."+his)
		}
		if host, ok := hostOf(v); ok {
			pairs = append(pairs, host, strings.Trim(local, ".-_")+"."+domain+"."+strings.TrimPrefix(host, "www."))
		}
	}
	if len(pairs) == 0 {
		return nil, noAddress
	}
	t := s.trace.copyTrace()
	t.replaceAll(pairs)
	return t, ""
}

// hostOf returns the host of a value that is a web address.
func hostOf(v string) (string, bool) {
	rest := strings.TrimPrefix(strings.TrimPrefix(v, "https://"), "http://")
	host, _, _ := strings.Cut(rest, "/")
	if len(host) < 4 || strings.ContainsAny(host, " @,\n") || !strings.Contains(host, ".") {
		return "", false
	}
	return host, rest != v || strings.HasPrefix(host, "www.")
}

// isDestination reports whether something can be sent to a value.
func isDestination(v string) bool {
	_, web := hostOf(v)
	return web || isAccountNumber(v) || len(addresses(v)) == 1 && !strings.Contains(v, " ")
}

// ofSort returns the attacker's values that match.
func (s *subject) ofSort(is func(string) bool) []string {
	var some []string
	for _, v := range s.values {
		if is(v) {
			some = append(some, v)
		}
	}
	return some
}
