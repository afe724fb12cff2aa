package floodmark

// A Role says what an argument is for. An undeclared argument is judged as critical, because data
// can leave through arguments such as cc, bcc or headers. Smaller is safer: the zero value is
// [Undeclared].
type Role uint8

// The roles of an argument.
const (
	Undeclared Role = iota // not described: judged as critical
	Critical               // decides where the effect lands
	Content                // free text or data the effect carries
)

func roleWords() words { return words{"undeclared", "critical", "content"} }

func (r Role) String() string { return roleWords().word(int(r)) }

// MarshalText writes the role's word, the only form that leaves the process.
func (r Role) MarshalText() ([]byte, error) { return roleWords().marshal(int(r)) }

// UnmarshalText reads a role's word and refuses every other text.
func (r *Role) UnmarshalText(b []byte) error {
	n, err := roleWords().index("role", string(b))
	*r = Role(n)
	return err
}

// CommandAddress is the path of an address in a command line. It is an argument of its own, so
// that every rule on addresses applies to a shell too. No argument of an agent may have this name.
const CommandAddress = "url of the command"

// A Whence says where the value of an argument was found.
// Smaller is safer: the zero value is [Nowhere].
type Whence uint8

// Where a value was found.
const (
	Nowhere Whence = iota // in no known source: the model composed it
	Seen                  // in at least one source
	Stated                // typed by the owner as a whole token
)

func whenceWords() words { return words{"nowhere", "seen", "stated"} }

func (w Whence) String() string { return whenceWords().word(int(w)) }

// MarshalText writes the word, the only form that leaves the process.
func (w Whence) MarshalText() ([]byte, error) { return whenceWords().marshal(int(w)) }

// UnmarshalText reads the word and refuses every other text.
func (w *Whence) UnmarshalText(b []byte) error {
	n, err := whenceWords().index("whence", string(b))
	*w = Whence(n)
	return err
}

// A Span is a position in a source: the node, and the byte where the value begins.
type Span struct {
	Node   NodeID `json:"node"`
	Offset int    `json:"offset"`
}

// An Argument is one leaf value of a call's arguments and where it came from.
type Argument struct {
	// Path is the position of the value: «to», «items[2].url».
	Path   string `json:"path"`
	Role   Role   `json:"role"`
	Whence Whence `json:"whence"`
	// Trust is Owner for a stated value, the trust of the first source for a seen one, and
	// Untrusted for a value found nowhere.
	Trust Trust `json:"trust"`
	// Spans say where it was seen, oldest first, at most [MaxSpans].
	Spans []Span `json:"spans,omitempty"`
	// Pieced says that the value was seen only in pieces. Trust is then the lowest trust among the
	// sources of the pieces.
	Pieced bool `json:"pieced,omitempty"`
	// Shown is a short form a person may read. It is empty for content and for
	// values that are secrets.
	Shown string `json:"shown,omitempty"`
}

// MaxSpans bounds the places kept for one argument. Only the first place affects decisions.
const MaxSpans = 3
