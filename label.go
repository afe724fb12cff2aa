package floodmark

// Trust says how far the author of some content is trusted. A smaller value means less trust; the
// zero value is [Untrusted].
type Trust uint8

// The six trust levels, from the least to the most trusted.
const (
	Untrusted Trust = iota // anyone: web pages, unknown webhooks
	External               // known senders we do not control: mail, chat
	Shared                 // other agents, group chats, shared memory
	Local                  // the owner's own files and commands
	Owner                  // the verified owner, speaking directly
	System                 // the prompt and configuration we shipped
)

// Secrecy says who may see some content. A smaller value means that fewer may see it; the zero
// value is [Secret].
type Secrecy uint8

// The four secrecy levels, from the most guarded to the least.
const (
	Secret   Secrecy = iota // keys and passwords: must never leave
	Private                 // the owner's own data
	Internal                // the owner's organisation
	Public                  // anyone may see it
)

// A Label is the trust and secrecy of some content.
type Label struct {
	Trust   Trust   `json:"trust"`
	Secrecy Secrecy `json:"secrecy"`
}

// Clean returns the mark of a session that has seen nothing yet, the neutral element of
// [Label.Join].
func Clean() Label { return Label{Trust: System, Secrecy: Public} }

// Join returns the label of content derived from both l and m. It is never more trusted, nor less
// guarded, than either.
func (l Label) Join(m Label) Label {
	return Label{
		Trust:   min(l.Trust, m.Trust),
		Secrecy: min(l.Secrecy, m.Secrecy),
	}
}

// AtLeastAsSafe reports whether l is as safe as m on both axes.
func (l Label) AtLeastAsSafe(m Label) bool { return l.Join(m) == l }

// Valid reports whether both halves are existing levels.
func (l Label) Valid() bool { return l.Trust <= System && l.Secrecy <= Public }

func (l Label) String() string { return l.Trust.String() + "/" + l.Secrecy.String() }

func trustWords() words {
	return words{"untrusted", "external", "shared", "local", "owner", "system"}
}

func secrecyWords() words { return words{"secret", "private", "internal", "public"} }

func (t Trust) String() string   { return trustWords().word(int(t)) }
func (s Secrecy) String() string { return secrecyWords().word(int(s)) }

// ParseTrust reads a trust level's word. With an error it returns [Untrusted].
func ParseTrust(word string) (Trust, error) {
	n, err := trustWords().index("trust", word)
	return Trust(n), err
}

// ParseSecrecy reads a secrecy level's word. With an error it returns [Secret].
func ParseSecrecy(word string) (Secrecy, error) {
	n, err := secrecyWords().index("secrecy", word)
	return Secrecy(n), err
}

// MarshalText writes the level's word, the only form that leaves the process.
func (t Trust) MarshalText() ([]byte, error) { return trustWords().marshal(int(t)) }

// UnmarshalText reads a level's word and refuses every other text.
func (t *Trust) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTrust(string(b))
	return err
}

// MarshalText writes the level's word, the only form that leaves the process.
func (s Secrecy) MarshalText() ([]byte, error) { return secrecyWords().marshal(int(s)) }

// UnmarshalText reads a level's word and refuses every other text.
func (s *Secrecy) UnmarshalText(b []byte) (err error) {
	*s, err = ParseSecrecy(string(b))
	return err
}
