// Package transcript reads agents' own records of their sessions into tool calls, to find calls
// that ran without being judged. It relies on a transcript only as evidence that a call ran, never
// that a call did not run. It changes nothing and keeps no content. It counts the pieces that it
// cannot read.
package transcript

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
)

// The limits of reading.
const (
	MaxFiles   = 10_000   // transcripts of one agent, the newest first
	MaxLine    = 64 << 20 // bytes of one line or document; results may contain pictures
	MaxFile    = 1 << 30  // bytes of one transcript
	MaxCalls   = 200_000  // calls of one session
	maxName    = 256      // bytes of a tool's, call's or session's name
	maxOutcome = 8 << 10  // bytes of a result that are read to find the call's outcome
)

// An Outcome says whether a call ran, according to the transcript.
type Outcome uint8

// The outcomes.
const (
	// Unknown means that no result is recorded, or that the result does not say.
	Unknown Outcome = iota
	// Never means that the agent reported that it ran nothing, because the tool is missing or its
	// arguments are invalid.
	Never
	// Refused means that the result is a refusal of ours.
	Refused
	// Ran means that there is any other result.
	Ran
)

func (o Outcome) String() string {
	return [...]string{"unknown", "never", "refused", "ran"}[min(o, Ran)]
}

// A Call is one tool call of a transcript.
type Call struct {
	// ID is the agent's name for the call. The hooks of some agents do not report it.
	ID   string
	Tool string
	// Args is the digest of the arguments, as in the journal.
	Args floodmark.Digest
	// Box is the ticket with which the call's command runs in a box. It is empty for other
	// commands.
	Box     string
	At      time.Time // zero if the transcript does not say
	Outcome Outcome
	// Hosted is set if the model's own service ran the call, which no hook can see.
	Hosted bool
	// Unread is set if the call's result may be one that could not be read. Then the call ran,
	// unless it was refused.
	Unread bool
}

// A Session is one conversation as its agent recorded it.
type Session struct {
	Agent string
	// Names are the names that hooks may have used for the session: first its own, then those of
	// the sessions that started it or that it continues.
	Names []string
	Place string // the file of the transcript
	Calls []Call // in the order they were written
	// Unread counts the unreadable pieces.
	Unread int
}

// Agents returns the agents whose transcripts can be read.
func Agents() []string {
	return []string{claudeName, codexName, geminiName, openclawName, opencodeName, piName}
}

// A Folders holds the agents' data folders. If one is empty, the agent's usual folder below Home is
// used.
type Folders struct {
	Home     string
	Claude   string // CLAUDE_CONFIG_DIR
	Codex    string // CODEX_HOME
	OpenClaw string // OPENCLAW_STATE_DIR
	Pi       string // PI_CODING_AGENT_DIR
	Data     string // XDG_DATA_HOME
}

func (f Folders) under(own string, usual ...string) string {
	if own != "" {
		return own
	}
	return filepath.Join(append([]string{f.Home}, usual...)...)
}

// A reader finds and reads the transcripts of one agent.
type reader struct {
	// where returns the folders and patterns of the agent's files.
	where func(Folders) []place
	// read reads one file, which may contain many sessions.
	read func(path string, changed time.Time) ([]Session, error)
}

// A place is a folder and a pattern for the names of transcripts below it.
type place struct {
	root  string
	depth int // folders below root to look into
	match func(rel string) bool
}

func readerOf(agent string) (reader, error) {
	switch agent {
	case claudeName:
		return reader{claudePlaces, lined(readClaude)}, nil
	case codexName:
		return reader{codexPlaces, lined(readCodex)}, nil
	case geminiName:
		return reader{geminiPlaces, readGemini}, nil
	case openclawName:
		return reader{openclawPlaces, readOpenClaw}, nil
	case opencodeName:
		return reader{opencodePlaces, readOpencode}, nil
	case piName:
		return reader{piPlaces, lined(readPi)}, nil
	}
	return reader{}, fmt.Errorf("transcripts of %q are not known; those of %s are", agent, strings.Join(Agents(), ", "))
}

// A File is a transcript that was found.
type File struct {
	Path    string
	Changed time.Time
}

// Find lists an agent's transcripts changed since a time, the newest first. more is true if there
// are more than [MaxFiles].
func Find(agent string, in Folders, since time.Time) (list []File, more bool, err error) {
	r, err := readerOf(agent)
	if err != nil {
		return nil, false, err
	}
	for _, p := range r.where(in) {
		if err := p.walk(func(f File) {
			if !f.Changed.Before(since) {
				list = append(list, f)
			}
		}); err != nil {
			return nil, false, fmt.Errorf("look for transcripts of %s: %w", agent, err)
		}
	}
	slices.SortFunc(list, func(a, b File) int {
		if c := b.Changed.Compare(a.Changed); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	if len(list) > MaxFiles {
		return list[:MaxFiles], true, nil
	}
	return list, false, nil
}

// Read reads one transcript of an agent. If it is a database, it contains many sessions.
func Read(agent string, f File) ([]Session, error) {
	r, err := readerOf(agent)
	if err != nil {
		return nil, err
	}
	list, err := r.read(f.Path, f.Changed)
	if err != nil {
		return nil, fmt.Errorf("read the transcript %s: %w", f.Path, err)
	}
	for i := range list {
		list[i].Agent, list[i].Place = agent, f.Path
	}
	return list, nil
}

func (p place) walk(found func(File)) error {
	err := filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(p.root, path)
		switch {
		case err != nil && path == p.root && os.IsNotExist(err):
			return fs.SkipAll // the agent was never run here
		case err != nil:
			return err
		case d.IsDir() && rel != "." && strings.Count(rel, string(filepath.Separator)) >= p.depth:
			return fs.SkipDir
		case !d.Type().IsRegular() || !p.match(filepath.ToSlash(rel)):
			return nil
		}
		info, err := d.Info()
		if os.IsNotExist(err) {
			return nil // deleted meanwhile
		}
		if err == nil {
			found(File{Path: path, Changed: info.ModTime()})
		}
		return err
	})
	return err
}

// digest returns the digest of arguments, as in the journal.
func digest(args json.RawMessage) floodmark.Digest {
	return kernel.ArgsDigest(hook.Call{Args: args})
}

// ticketName is the length of a ticket's name.
const ticketName = 32

// ticket returns the ticket in a call's command, or "". The command must be the one that the
// monitor gives as a replacement for a boxed command, with each word quoted in the same way.
func ticket(args json.RawMessage) string {
	var call struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(args, &call) != nil {
		return ""
	}
	// A quote or backslash within a word is written outside of the quotes; these are removed.
	line := strings.NewReplacer(`'\''`, "", `'\\'`, "").Replace(call.Command)
	inner, begins := strings.CutPrefix(line, "'")
	inner, ends := strings.CutSuffix(inner, "'")
	words := strings.Split(inner, "' '")
	if !begins || !ends || len(words) < 5 || strings.ContainsAny(strings.Join(words, ""), `'\`) {
		return ""
	}
	name := words[2]
	if !path.IsAbs(words[0]) || path.Base(words[0]) != "floodmark-box" || words[1] != "--ticket" || words[3] != "--" ||
		len(name) != ticketName || strings.Trim(name, "0123456789abcdef") != "" {
		return ""
	}
	return name
}
