package catalog

import (
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/filenames"
)

// OfProgram begins the location of the output of a program that is a file.
const OfProgram = "program "

// byHost is the location of content read from one host.
const byHost = "host"

// LocationOf returns the place of a result, as rules on places know it. Standing trust in a host
// applies only to a plain read of one URL there, by a tool that returns the page as it is: with two
// URLs, a command, or a tool that reads messages, the result may come from another author.
func (u Use) LocationOf(leaves []hook.Leaf) string {
	if u.ByPath && u.Programs {
		return OfProgram + u.Location.String()
	}
	if u.ByPath {
		return u.Location.String()
	}
	if u.Location != NoPath || len(u.Effects) != 1 || u.Effects[0] != floodmark.Fetch || u.Returns.Trust != floodmark.Untrusted {
		return ""
	}
	urls := 0
	for _, leaf := range leaves {
		if u.Arg(leaf.Top).Is == IsURL {
			urls++
		}
	}
	if urls != 1 {
		return ""
	}
	return byHost
}

// attached examines the files that are sent because a text of the call names them. Each is an
// address of the call. A file whose name cannot be read is treated as one with secrets.
func (j *judge) attached(text string) {
	if j.use.Profile.attaches == "" {
		return
	}
	whole, parts, torn := filenames.Attached(text, j.use.Profile.attaches)
	j.use.URLs = append(j.use.URLs, whole...)
	for _, name := range parts {
		if j.url(name); !strings.Contains(name, "://") {
			j.path(name)
		}
	}
	if torn {
		j.guards |= isSecret
	}
}

// patch examines every path that a patch names.
func (j *judge) patch(text string) {
	names := filenames.OfPatch(text)
	for _, name := range names {
		j.path(name)
	}
	if len(names) == 0 { // a form we do not know could write anywhere
		j.use.Location = max(j.use.Location, Elsewhere)
		j.guards |= isInstructs
	}
}

// PlaceKind parses a location. An unknown location is foreign.
func PlaceKind(location string) (PathKind, bool) {
	location = strings.TrimPrefix(location, OfProgram)
	switch location {
	case "":
		return NoPath, false
	case byHost, NoPath.String():
		return NoPath, true
	}
	for _, k := range []PathKind{InProject, Elsewhere} {
		if location == k.String() {
			return k, true
		}
	}
	return Foreign, true
}
