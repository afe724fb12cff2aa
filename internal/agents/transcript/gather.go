package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// errTooLarge means that a transcript exceeds a limit.
var errTooLarge = errors.New("it is too large to be read")

// A gather collects the calls of one session in order.
type gather struct {
	Session
	last map[string]int      // by a call's ID: the index in Calls of the newest call with it
	met  map[Call]int        // by ID, tool and arguments: the index in Calls
	idle map[string]struct{} // the IDs of calls that do nothing; their results are ignored
}

func newGather(names ...string) *gather {
	g := &gather{last: map[string]int{}, met: map[Call]int{}, idle: map[string]struct{}{}}
	g.name(names...)
	return g
}

// name adds names by which hooks may have known the session.
func (g *gather) name(names ...string) {
	for _, n := range names {
		if n != "" && len(n) <= maxName && !slices.Contains(g.Names, n) {
			g.Names = append(g.Names, n)
		}
	}
}

// call adds a call, unless it is a repetition: transcripts repeat calls when resumed, forked or
// rewritten. Some models use one ID for many calls; with different arguments they are different
// calls.
func (g *gather) call(c Call) {
	c.ID, c.Tool = short(c.ID), short(c.Tool)
	if i, ok := g.met[c.bare()]; ok && c.ID != "" {
		g.last[c.ID] = i
		return
	}
	g.add(c)
}

// bare returns the call with only the fields that identify it.
func (c Call) bare() Call { return Call{ID: c.ID, Tool: c.Tool, Args: c.Args} }

func (g *gather) add(c Call) {
	if len(g.Calls) >= MaxCalls {
		g.Unread++
		return
	}
	if c.ID != "" {
		g.last[c.ID], g.met[c.bare()] = len(g.Calls), len(g.Calls)
	}
	g.Calls = append(g.Calls, c)
}

// pass skips a call that does nothing by itself.
func (g *gather) pass(id string) {
	if len(g.idle) < MaxCalls {
		g.idle[short(id)] = struct{}{}
	}
}

// toolOf returns the tool of a known call, and otherwise its second argument.
func (g *gather) toolOf(id, otherwise string) string {
	if i, ok := g.last[short(id)]; ok {
		return g.Calls[i].Tool
	}
	return otherwise
}

// result records a call's outcome. Only the first result of a call is used, because a later one is
// a copy, perhaps shortened. A result without a recorded call is recorded as a call.
func (g *gather) result(id, tool string, at time.Time, o Outcome) {
	id, tool = short(id), short(tool)
	i, ok := g.last[id]
	_, idle := g.idle[id]
	switch {
	case idle:
	case !ok || id == "":
		g.add(Call{ID: id, Tool: tool, At: at, Outcome: o})
	case g.Calls[i].Outcome == Unknown:
		g.Calls[i].Outcome = o
	}
}

// witness records that the call was seen running, even if its result says otherwise.
func (g *gather) witness(id string) {
	if i, ok := g.last[short(id)]; ok {
		g.Calls[i].Outcome = Ran
	}
}

// done returns the session, if it has a name.
func (g *gather) done() []Session {
	if len(g.Names) == 0 {
		if len(g.Calls) == 0 && g.Unread == 0 {
			return nil
		}
		g.Names = []string{""}
	}
	return []Session{g.Session}
}

// lined makes a reader that handles one line of JSON at a time.
func lined(take func(g *gather, line []byte) error) func(string, time.Time) ([]Session, error) {
	return func(path string, changed time.Time) ([]Session, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		g := newGather()
		if err := eachLine(f, g, take); err != nil {
			return nil, err
		}
		date(g.Calls, changed)
		return g.done(), nil
	}
}

// eachLine passes every line to take. It counts lines that are too long or unreadable, but not an
// incomplete last line.
func eachLine(r io.Reader, g *gather, take func(g *gather, line []byte) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	var total int64
	for {
		line, long, err := nextLine(in)
		total += int64(len(line))
		if total > MaxFile {
			return errTooLarge
		}
		whole := err == nil
		if line = bytes.TrimSpace(line); len(line) > 0 || long {
			if long || take(g, line) != nil && (whole || json.Valid(line)) {
				g.Unread++
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// nextLine reads up to the end of a line, and reports whether it was too long to keep.
func nextLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > MaxLine; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// date sets the time of calls that have none to that of the transcript's last change, which is the
// latest possible.
func date(calls []Call, changed time.Time) {
	for i := range calls {
		if calls[i].At.IsZero() {
			calls[i].At = changed
		}
	}
}

// whole reads a file that is one document.
func whole(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxLine+1))
	if err == nil && len(data) > MaxLine {
		err = errTooLarge
	}
	return data, err
}

// short cuts a name from a transcript to maxName bytes.
func short(s string) string {
	if len(s) <= maxName {
		return s
	}
	return strings.ToValidUTF8(s[:maxName], "")
}

// stamp parses a time in any agent's form: a text, or milliseconds since 1970.
func stamp(raw json.RawMessage) time.Time {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return time.Time{}
		}
		return at
	}
	var ms float64
	if json.Unmarshal(raw, &ms) != nil || ms <= 0 || ms > 1e15 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms))
}

// said returns the beginning of a result's text. A result is one text or a list of parts.
func said(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return head(s)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return head(string(raw))
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
		if b.Len() > maxOutcome {
			break
		}
	}
	return head(b.String())
}

func head(s string) string {
	if len(s) <= maxOutcome {
		return s
	}
	cut := maxOutcome
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// ours begins every refusal of this program.
const ours = "floodmark: "

// refusal reports whether a text is one of our refusals: one line that begins with ours, perhaps
// after one of the agent's prefixes.
func refusal(text string, before ...string) bool {
	text = strings.TrimSpace(text)
	for _, words := range before {
		text = strings.TrimSpace(strings.TrimPrefix(text, words))
	}
	return strings.HasPrefix(text, ours) && !strings.Contains(text, "\n")
}
