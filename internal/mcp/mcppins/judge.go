package mcppins

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/floodmark/floodmark/internal/secret/redact"
)

// A judge checks one list of definitions against the file.
type judge struct {
	file     *file
	server   string
	builtins func() (builtins, error)
	secrets  *redact.Detector
	now      time.Time
	// changed says that the file has to be written.
	changed bool
	others  map[string]string // skeletons of other servers' tools; nil until needed
	room    int               // bytes that this server may still take
}

// A candidate is a definition that was read.
type candidate struct {
	Definition
	reading
	key, hash string
	fault     *Finding // why it can be neither pinned nor accepted
	unkept    bool     // it is not even recorded
}

func (j *judge) see(identity string, defs []Definition) []Verdict {
	s, finding := j.serverOf(identity)
	if finding != nil {
		return allHeld(defs, finding.Reason, lineFor("server", j.server, "", []Finding{*finding}))
	}
	j.room = min(MaxServerBytes-s.cost(), MaxKeptBytes-j.file.cost())
	list := make([]candidate, len(defs))
	hashes := map[string]string{}
	for i, d := range defs {
		list[i] = j.read(d)
		c := &list[i]
		if first, twice := hashes[c.key]; twice && first != c.hash {
			hashes[c.key] = "" // no hash: two versions differ
		} else if !twice {
			hashes[c.key] = c.hash
		}
	}
	out := make([]Verdict, len(defs))
	for i := range list {
		c := &list[i]
		if c.fault == nil && hashes[c.key] == "" {
			c.fault = &Finding{Malformed, "two different definitions have this name"}
		}
		if found := j.one(s, c); len(found) > 0 {
			out[i] = Verdict{Held: true, Reason: found[0].Reason, Line: lineFor(c.Kind, j.server, c.Name, found)}
			continue
		}
		out[i].Accepted = s.Entries[c.key].Pinned.Looked
	}
	return out
}

func (f *file) cost() int {
	n := 0
	for _, s := range f.Servers {
		n += s.cost()
	}
	return n
}

// serverOf returns the server's record, makes a new one, or says why the whole server is held.
func (j *judge) serverOf(id string) (*server, *Finding) {
	switch {
	case j.server == "" || !utf8.ValidString(j.server) || hidden(j.server) != "":
		return nil, &Finding{Malformed, "its name is empty or cannot be read"}
	case len(j.server) > MaxNameBytes:
		return nil, &Finding{Oversized, fmt.Sprintf("its name has more than %d bytes", MaxNameBytes)}
	case len(id) > MaxIdentityBytes:
		return nil, &Finding{Oversized, fmt.Sprintf("its command has more than %d bytes", MaxIdentityBytes)}
	}
	hash := hashOf(id)
	s := j.file.Servers[j.server]
	if s == nil {
		if len(j.file.Servers) >= MaxServers {
			return nil, &Finding{Oversized, fmt.Sprintf("%d servers are known already; forget one", MaxServers)}
		}
		s = &server{Identities: []identity{j.identity(id)}, Entries: map[string]*entry{}}
		j.file.Servers[j.server], j.changed = s, true
		return s, nil
	}
	switch {
	case slices.ContainsFunc(s.Identities, func(i identity) bool { return i.Hash == hash }):
		return s, nil
	case slices.Contains(s.Refused, hash):
		return nil, &Finding{Rejected, "you rejected the command or address it has now"}
	case s.Waiting == nil || s.Waiting.Hash != hash:
		this := j.identity(id)
		s.Waiting, j.changed = &this, true
	}
	return nil, &Finding{NewCommand, "another command or address came under its name"}
}

// maxIdentityText bounds a command line for people.
const maxIdentityText = 500

func (j *judge) identity(id string) identity {
	return identity{Hash: hashOf(id), Text: identityText(j.secrets, id), Seen: j.now}
}

// identityText returns a command line or URL without the secrets in it.
func identityText(secrets *redact.Detector, id string) string {
	var b strings.Builder
	at := 0
	for _, s := range secrets.Find(id) {
		b.WriteString(id[at:s.Start] + "(secret)")
		at = s.End
	}
	return bounded(Visible(strings.ToValidUTF8(b.String()+id[at:], "?")), maxIdentityText)
}

// read reads one definition and finds the faults that the owner cannot accept.
func (j *judge) read(d Definition) candidate {
	if d.Kind == Instructions && d.Name == Instructions {
		d.Name = "" // a server has only one such text, whatever its name
	}
	c := candidate{Definition: d, key: keyOf(d.Kind, d.Name), hash: hashOf(string(d.Body))}
	kinds := []string{Tool, Prompt, Instructions, ResourceTemplate}
	switch {
	case d.Server != j.server || !slices.Contains(kinds, d.Kind):
		c.fault, c.unkept = &Finding{Malformed, "it is of another server or kind"}, true
	case len(d.Name) > MaxNameBytes:
		c.fault, c.unkept = &Finding{Oversized, fmt.Sprintf("its name has more than %d bytes", MaxNameBytes)}, true
	case (d.Name == "") != (d.Kind == Instructions) || !utf8.ValidString(d.Name):
		c.fault, c.unkept = &Finding{Malformed, "its name is missing or cannot be read"}, true
	case len(d.Body) > MaxBodyBytes:
		c.fault = &Finding{Oversized, fmt.Sprintf("it has more than %d bytes", MaxBodyBytes)}
	}
	if c.fault != nil {
		return c
	}
	r, err := readBody(d.Body)
	if err == nil {
		err = fits(d, r.canonical)
	}
	if err != nil {
		c.fault = &Finding{Malformed, strings.TrimPrefix(err.Error(), errMalformed.Error()+": ")}
		return c
	}
	c.reading, c.hash = r, hashOf(string(r.canonical))
	return c
}

// fits checks that a body has the form of its kind and contains its own name.
func fits(d Definition, canonical []byte) error {
	if d.Kind == Instructions {
		if canonical[0] != '"' {
			return malformed("instructions must be a text")
		}
		return nil
	}
	if canonical[0] != '{' {
		return malformed("it must be an object")
	}
	if d.Kind == ResourceTemplate {
		return nil // identified by its name or by its template
	}
	var named struct {
		Name *string `json:"name"`
	}
	if err := json.Unmarshal(canonical, &named); err != nil || named.Name == nil || *named.Name != d.Name {
		return malformed("its own name is another one")
	}
	return nil
}

// one returns why a definition is held. If nothing holds it, one pins it and returns nil.
func (j *judge) one(s *server, c *candidate) []Finding {
	if c.unkept {
		return []Finding{*c.fault}
	}
	e := s.Entries[c.key]
	fresh := e == nil
	if fresh {
		e = &entry{}
	}
	var found []Finding
	switch {
	case c.fault != nil:
		found = []Finding{*c.fault}
	case e.Pinned != nil && e.Pinned.Hash == c.hash:
		return nil
	case slices.Contains(e.Rejected, c.hash):
		return []Finding{{Rejected, "you rejected it"}}
	default:
		found = j.findings(e, c)
	}
	p := &pin{Hash: c.hash, Body: string(c.canonical), Seen: j.now, Findings: found}
	if len(found) > 0 && e.Held != nil && e.Held.Hash == p.Hash && slices.Equal(e.Held.Findings, found) {
		return found
	}
	cost := len(p.Body)
	if fresh {
		cost = costOf(c.key, &entry{Held: p})
	} else if e.Held != nil {
		cost -= len(e.Held.Body)
	}
	if cost > j.room || fresh && len(s.Entries) >= MaxDefinitions {
		return append(found, Finding{Oversized, "this server says more than is kept of one"})
	}
	j.room -= cost
	j.keep(s, c.key, e, p)
	return found
}

// keep records a version. It is pinned if it has no findings, else held.
func (j *judge) keep(s *server, key string, e *entry, p *pin) {
	if len(p.Findings) > 0 {
		e.Held = p
	} else {
		e.Pinned = p
		if e.Held != nil && e.Held.Hash == p.Hash {
			e.Held = nil
		}
	}
	s.Entries[key], j.changed = e, true
}

// findings returns the reasons to hold a readable definition.
func (j *judge) findings(e *entry, c *candidate) (found []Finding) {
	switch {
	case e.Pinned != nil:
		found = append(found, Finding{Changed, differing(e.Pinned.Body, string(c.canonical))})
	case len(e.Rejected) > 0:
		found = append(found, Finding{Changed, "you rejected an earlier version"})
	}
	texts := append([]text{{"its name", c.Name}}, c.texts...)
	for _, t := range texts {
		if what := hidden(t.value); what != "" {
			place := t.where
			if place == "" {
				place = "its text"
			}
			found = append(found, Finding{Invisible, what + " in " + shown(place)})
			break
		}
	}
	if what := j.shadows(c); what != "" {
		found = append(found, Finding{Shadow, what})
	}
	return found
}

// differing returns the names of the outermost fields in which two bodies differ.
func differing(was, is string) string {
	var old, fresh map[string]json.RawMessage
	if errors.Join(json.Unmarshal([]byte(was), &old), json.Unmarshal([]byte(is), &fresh)) != nil {
		return "its text"
	}
	var fields []string
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if text, still := fresh[key]; !still || string(text) != string(old[key]) {
			fields = append(fields, shown(key))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(fresh)) {
		if _, was := old[key]; !was {
			fields = append(fields, shown(key))
		}
	}
	return bounded(strings.Join(fields, ", "), 2*maxShown)
}

// shadows says which other tool a tool could be mistaken for; empty if none.
func (j *judge) shadows(c *candidate) string {
	if c.Kind != Tool {
		return ""
	}
	if mixed(c.Name) {
		return "its name mixes alphabets"
	}
	known, err := j.builtins()
	if err != nil {
		return "it is unknown of which: " + err.Error()
	}
	if known.expected(j.server, c.Name) {
		return ""
	}
	looks := skeleton(c.Name)
	if name := known.agent[looks]; name != "" {
		return "it looks like the built-in tool " + name
	}
	if j.others == nil {
		j.others = j.file.skeletons(j.server)
	}
	if other := j.others[looks]; other != "" {
		return "it looks like " + other
	}
	return ""
}

// skeletons returns the pinned tools of all servers except one, by skeleton. Each tool is listed by
// its name alone and with the server's name in front, as clients write it.
func (f *file) skeletons(except string) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(f.Servers)) {
		if name == except {
			continue
		}
		for key, e := range f.Servers[name].Entries {
			kind, tool := splitKey(key)
			if kind != Tool || e.Pinned == nil {
				continue
			}
			about := fmt.Sprintf("%s of the server %s", shown(tool), shown(name))
			for _, form := range []string{tool, name + tool, "mcp" + name + tool} {
				if k := skeleton(form); k != "" {
					out[k] = about
				}
			}
		}
	}
	return out
}

// lineFor says to people why a definition is held, and what to do.
func lineFor(kind, server, name string, found []Finding) string {
	what := "the server " + shown(server)
	switch kind {
	case "server":
	case Instructions:
		what = "the instructions of " + what
	default:
		what = "the " + kind + " " + shown(name) + " of " + what
	}
	why := make([]string, len(found))
	for i, f := range found {
		why[i] = map[string]string{
			Changed: "it changed since it was seen first: ", Shadow: "it imitates another: ", Invisible: "it hides something: ",
			NewCommand: "it is not the one seen first: ", Oversized: "it is too large: ", Malformed: "it cannot be read: ",
		}[f.Reason] + f.Detail
	}
	return what + " is held: " + strings.Join(why, "; ") + ". Look at it with «floodmark mcp review»"
}
