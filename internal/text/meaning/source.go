package meaning

import (
	"cmp"
	"path"
	"strings"

	"github.com/floodmark/floodmark"
)

// maxVisible bounds a foreign name in a line or footer.
const maxVisible = 80

// Source says in a few words where content came from.
func Source(s floodmark.Source, t floodmark.Trust) string {
	o := s.Origin
	name := cmp.Or(string(o.Kind), "content of unknown origin")
	switch o.Kind {
	case floodmark.FromTool:
		name = floodmark.ToolRef{Server: o.Server, Name: o.Name}.String()
	case floodmark.FromSender:
		name = "message from " + cmp.Or(o.Sender, "an unknown sender")
	case floodmark.FromCheckout:
		name = cmp.Or(o.Name, "a repository")
	case floodmark.FromFile, floodmark.FromDefinition, floodmark.FromChild, floodmark.FromParent:
		name = string(o.Kind) + " " + o.Name
	case floodmark.FromUnknown:
		name = cmp.Or(o.Name, "content nobody announced")
	default:
	}
	if o.Place != "" {
		return name + " " + o.Place + " (" + t.String() + ")" + chain(s.Via)
	}
	return floodmark.Inert(name, maxVisible) + " (" + t.String() + ")" + chain(s.Via)
}

// chain says through which artifacts a source came into the session.
func chain(via []floodmark.Passage) string {
	var b strings.Builder
	for _, p := range via {
		name := p.Artifact.Name
		switch p.Artifact.Kind {
		case floodmark.FileArtifact, floodmark.TreeArtifact, floodmark.FolderArtifact:
			name = path.Base(name)
		case floodmark.TextArtifact, floodmark.VouchArtifact:
			name = name[:min(len(name), 8)]
		case floodmark.MemoryArtifact, floodmark.ServerArtifact:
		}
		b.WriteString(" -> " + string(p.Artifact.Kind) + " " + floodmark.Inert(name, maxVisible) + " (session " + floodmark.Inert(string(p.Session), maxVisible) + ")")
	}
	return b.String()
}
