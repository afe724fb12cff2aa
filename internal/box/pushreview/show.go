package pushreview

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// stats counts what changes, and what of that is not shown.
type stats struct {
	added, changed, deleted           int
	plus, minus                       int
	binaries, modes, links, modules   int
	large                             int // files too large to compare
	unseenFiles, unseenLines, tooLong int // left out, or cut
	extra                             int // files that only commits in between have
	alike                             []string
	names                             []Named
	rest                              []string // text that is sent and not shown, up to MaxRest bytes
	restSize                          int
}

// keep adds text that is sent but not shown to rest, so that it is checked all the same.
func (s *stats) keep(text string) {
	text = text[:min(len(text), MaxRest-s.restSize)]
	s.rest, s.restSize = append(s.rest, text), s.restSize+len(text)
}

// A shower writes the lines of a review.
type shower struct {
	*walker
	*stats
	lines []string
}

// say adds a line in our own words. quote adds a line of foreign text, with a sign in front of it.
func (s *shower) say(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func (s *shower) quote(sign, text string) {
	shown := visible(text)
	if short := floodmark.Shorten(shown, maxText); short != shown {
		s.tooLong++
		shown = short
	}
	if shown != text && (sign == "+" || sign == "|") {
		s.keep(text)
	}
	s.lines = append(s.lines, "  "+sign+" "+shown)
}

// visible returns a line of a file with invisible characters spelled out. Up to 40 spaces of
// indentation stay.
func visible(text string) string {
	rest := strings.TrimLeft(text, " ")
	indent := len(text) - len(rest)
	if indent > 40 || rest == "" {
		return floodmark.Visible(text)
	}
	return text[:indent] + floodmark.Visible(rest)
}

// name returns a path in quotation marks that the path cannot close.
func name(path string) string {
	return "«" + floodmark.Shorten(floodmark.Visible(strings.NewReplacer("«", "<", "»", ">").Replace(path)), maxText) + "»"
}

// body returns the lines that are shown below the head.
func (s *shower) body(list []commit, whole []change, between [][]change) ([]string, error) {
	for _, c := range slices.Backward(list) {
		s.commitLines(c)
	}
	for _, c := range whole {
		if err := s.file(c, true); err != nil {
			return nil, err
		}
	}
	s.folded(whole)
	for i, c := range list {
		if len(between[i]) == 0 {
			continue
		}
		s.say("only in commit %.12s, and sent with it:", c.id)
		for _, ch := range between[i] {
			s.extra++
			if err := s.file(ch, false); err != nil {
				return nil, err
			}
		}
	}
	if len(s.lines) > maxLines {
		s.unseenLines += len(s.lines) - maxLines
		for _, line := range s.lines[maxLines:] {
			if !strings.HasPrefix(line, "  - ") && !strings.HasPrefix(line, "    ") {
				s.keep(line)
			}
		}
		s.lines = s.lines[:maxLines]
	}
	return s.lines, nil
}

func (s *shower) commitLines(c commit) {
	s.say("commit %s", c.id)
	s.quote("|", "author "+c.author)
	if c.committer != c.author {
		s.quote("|", "committer "+c.committer)
	}
	for i, line := range c.more {
		if signature := strings.HasPrefix(line, " ") && len(c.more) > 4; signature && i > 1 {
			s.say("  (%d more lines of its head: a signature or the like)", len(c.more)-i)
			s.unseenLines += len(c.more) - i
			s.keep(strings.Join(c.more[i:], "\n"))
			break
		}
		s.quote("|", line)
	}
	text, room := strings.Split(strings.TrimSuffix(c.message, "\n"), "\n"), maxOfFile
	if len(s.lines) > maxLines/4 {
		room = 1
	}
	for i, line := range text {
		if i == room {
			s.say("  (%d more lines)", len(text)-i)
			s.unseenLines += len(text) - i
			s.keep(strings.Join(text[i:], "\n"))
			break
		}
		s.quote("|", line)
	}
}

// folded records file names that differ only in case, which some file systems take for one.
func (s *shower) folded(whole []change) {
	seen := map[string]string{}
	for _, c := range whole {
		if c.now == (entry{}) {
			continue
		}
		low := strings.ToLower(c.path)
		if other, is := seen[low]; is && other != c.path {
			s.alike = append(s.alike, c.path)
		}
		seen[low] = c.path
	}
}

// file shows one file that changes.
func (s *shower) file(c change, counts bool) error {
	var what []string
	if c.now != (entry{}) && name(c.path) != "«"+c.path+"»" {
		s.keep(c.path)
	}
	switch {
	case c.was == (entry{}):
		what = append(what, "new")
		s.added += one(counts)
	case c.now == (entry{}):
		what = append(what, "deleted")
		s.deleted += one(counts)
	default:
		s.changed += one(counts)
	}
	if c.was.mode != c.now.mode && c.was.mode != "" && c.now.mode != "" {
		what = append(what, fmt.Sprintf("mode %s becomes %s", c.was.mode, c.now.mode))
		s.modes++
	} else if c.was.mode == "" && c.now.mode == modeProgram {
		what = append(what, "a program")
	}
	if c.was.mode == modeModule || c.now.mode == modeModule {
		s.modules++
		s.say("file %s (%s)", name(c.path), strings.Join(append(what, "a submodule"), ", "))
		s.say("  from commit %.40s to %.40s of another repository; what is in it is not shown", or(c.was.id, c.was.mode), or(c.now.id, c.now.mode))
		if c.was.mode != modeModule && c.was.mode != "" || c.now.mode != modeModule && c.now.mode != "" {
			return s.sides(c, nil)
		}
		return nil
	}
	return s.sides(c, what)
}

func or(id, mode string) string {
	if mode != modeModule {
		return "none"
	}
	return id
}

func one(counts bool) int {
	if counts {
		return 1
	}
	return 0
}

// side reads one side of a change; a submodule has none.
func (s *shower) side(e entry) (Object, error) {
	if e.id == "" || e.mode == modeModule {
		return Object{Body: []byte{}}, nil
	}
	return s.read(e.id, Blob)
}

func (s *shower) sides(c change, what []string) error {
	was, err := s.side(c.was)
	if err != nil {
		return err
	}
	now, err := s.side(c.now)
	if err != nil {
		return err
	}
	if c.was.mode == modeLink || c.now.mode == modeLink {
		s.links++
		what = append(what, "a link")
	}
	title := func(more ...string) {
		if all := append(what, more...); len(all) > 0 {
			s.say("file %s (%s)", name(c.path), strings.Join(all, ", "))
			return
		}
		s.say("file %s", name(c.path))
	}
	switch {
	case was.Body == nil || now.Body == nil:
		s.large++
		title(fmt.Sprintf("%d bytes become %d: too large to be shown", was.Size, now.Size))
	case binary(now.Body), binary(was.Body):
		s.binaries++
		s.keep(string(now.Body))
		title(fmt.Sprintf("not text: %d bytes become %d, which are not shown", was.Size, now.Size))
	case c.was.id == c.now.id:
		title("the same content")
	default:
		lines, plus, minus := diff(was.Body, now.Body)
		s.plus, s.minus = s.plus+plus, s.minus+minus
		title(fmt.Sprintf("+%d -%d", plus, minus))
		s.hunk(lines)
		s.named(c, was.Body, now.Body)
	}
	return nil
}

// hunk shows the lines of one file, as far as there is room.
func (s *shower) hunk(lines []line) {
	for i, l := range lines {
		if i == maxOfFile || len(s.lines) >= maxLines*2/3 { // the last third is for the names of further files
			left := 0
			for _, rest := range lines[i:] {
				left += one(rest.sign == "+" || rest.sign == "-")
				if rest.sign == "+" {
					s.keep(rest.text)
				}
			}
			if left > 0 {
				s.say("  (%d more changed lines of this file are not shown)", left)
				s.unseenLines, s.unseenFiles = s.unseenLines+left, s.unseenFiles+1
			}
			return
		}
		if l.sign == "" {
			s.say("  …")
			continue
		}
		text, open := strings.CutSuffix(l.text, noEnd)
		if s.quote(l.sign, text); open {
			s.say("  (no newline at its end)")
		}
	}
}

// binary reports whether a file is no text, because much of it cannot be read. One odd byte does
// not make a file binary, or it would hide the rest.
func binary(body []byte) bool {
	head := body[:min(len(body), 8000)]
	odd := 0
	for rest := head; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 || unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\f", r) {
			odd++
		}
		rest = rest[n:]
	}
	return odd*10 > len(head)*3
}

// head says what is sent. It begins with what is not shown.
func (s *shower) head(p Plan, list []commit, whole []change) []string {
	var gone []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{s.binaries, "file that is no text", "files that are no text"},
		{s.large, "file that is too large", "files that are too large"},
		{s.modules, "submodule", "submodules"},
		{s.unseenLines, "line beyond the room there is", "lines beyond the room there is"},
		{s.tooLong, "long line, which is cut", "long lines, which are cut"},
	} {
		if c.n > 0 {
			gone = append(gone, some(c.n, c.one, c.many))
		}
	}
	var head []string
	if len(gone) > 0 {
		head = append(head, "NOT SHOWN: "+strings.Join(gone, ", "))
	}
	words := []string{counted(len(list), "commit"), fmt.Sprintf("%s (%d new, %d changed, %d deleted)", counted(len(whole), "file"), s.added, s.changed, s.deleted), fmt.Sprintf("+%d -%d lines", s.plus, s.minus)}
	for _, c := range []struct {
		n         int
		one, many string
	}{{s.modes, "mode that changes", "modes that change"}, {s.links, "link", "links"}, {s.extra, "file that is only in between", "files that are only in between"}} {
		if c.n > 0 {
			words = append(words, some(c.n, c.one, c.many))
		}
	}
	head = append(head, "Sends "+strings.Join(words, ", "))
	if line := s.namedLine(); line != "" {
		head = append(head, line)
	}
	where := fmt.Sprintf("commit %.12s as branch %s of %s", p.Commit, name(p.Branch), name(Shown(p.Address)))
	if p.Old == "" {
		head = append(head, where+", which has no such branch yet")
	} else {
		head = append(head, fmt.Sprintf("%s, now at %.12s", where, p.Old))
	}
	for _, a := range s.alike {
		head = append(head, "(!) another file is called the same, but for its case: "+name(a))
	}
	return head
}

// maxSentNames is how many files and hosts the short form names.
const maxSentNames = 2

// inShort returns what is sent, for a card of two lines.
func (s *shower) inShort(p Plan, list []commit, whole []change) hook.Sent {
	sent := hook.Sent{
		Sums:   fmt.Sprintf("%s, %s, +%d -%d lines", counted(len(list), "commit"), counted(len(whole), "file"), s.plus, s.minus),
		Branch: p.Branch, Fresh: p.Old == "",
	}
	for _, c := range whole[:min(len(whole), maxSentNames)] {
		sent.Files = append(sent.Files, c.path)
	}
	for _, n := range s.names[:min(len(s.names), maxSentNames)] {
		sent.Hosts = append(sent.Hosts, n.Host)
	}
	return sent
}

func counted(n int, what string) string { return some(n, what, what+"s") }

func some(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Shown returns an address without what may be a password in it.
func Shown(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	host, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 && scheme != "ssh" {
		host = host[i+1:]
	} else if i >= 0 {
		user, _, _ := strings.Cut(host[:i], ":")
		host = user + host[i:]
	}
	return scheme + "://" + host + "/" + path
}

// A line is one line of a diff. Its sign is «+», «-», or a blank for context; it is empty if lines
// are left out.
type line struct{ sign, text string }

// noEnd is appended to a last line without a line break. No line of a file can contain it.
const noEnd = "\n"

func split(body []byte) []string {
	if len(body) == 0 {
		return nil
	}
	ended := bytes.HasSuffix(body, []byte("\n"))
	list := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	if !ended {
		list[len(list)-1] += noEnd
	}
	return list
}
