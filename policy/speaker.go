package policy

import "github.com/floodmark/floodmark"

// Classify returns the label of content by who speaks. It is for content that arrives without a
// call. For other content it only returns a safe label: the catalog labels the results of tools,
// and what is made from other content gets the label of that content.
//
// A message is Internal: it need not be seen outside, but answering it or
// looking something up for it is no leak of the owner's own data.
func (p *Policy) Classify(o floodmark.Origin) floodmark.Label {
	if p == nil || p.base == nil {
		return floodmark.Label{}
	}
	switch o.Kind {
	case floodmark.FromSystem:
		return floodmark.Clean()
	case floodmark.FromSender:
		return label(senderTrust(o), floodmark.Internal)
	case floodmark.FromHistory:
		return p.history(o)
	case floodmark.FromQuote:
		if o.Sender == "" {
			return label(floodmark.Untrusted, floodmark.Private)
		}
		return label(floodmark.External, floodmark.Private)
	case floodmark.FromPaste, floodmark.FromModel, floodmark.FromParent, floodmark.FromChild:
		return label(floodmark.External, floodmark.Private)
	case floodmark.FromFile:
		return label(p.fileTrust(o.Place), floodmark.Internal)
	case floodmark.FromDefinition:
		return label(floodmark.External, floodmark.Public)
	case floodmark.FromUnknown, floodmark.FromCheckout:
		return label(floodmark.Untrusted, floodmark.Private)
	case floodmark.FromTool:
		return floodmark.Label{}
	}
	return label(floodmark.Untrusted, floodmark.Private)
}

func label(t floodmark.Trust, s floodmark.Secrecy) floodmark.Label {
	return floodmark.Label{Trust: t, Secrecy: s}
}

// senderTrust returns the trust of who speaks. An unknown sender is not the owner.
func senderTrust(o floodmark.Origin) floodmark.Trust {
	switch {
	case o.IsOwner && o.Group == "":
		return floodmark.Owner
	case o.IsOwner:
		return floodmark.Shared // others write there too
	case o.Sender != "":
		return floodmark.External
	default:
		return floodmark.Untrusted
	}
}

// history returns the label of what others wrote in a group before: External, or the
// trust that the user gives the group. A door that knows the least trusted
// participant says so itself.
func (p *Policy) history(o floodmark.Origin) floodmark.Label {
	l := label(floodmark.External, floodmark.Internal)
	if o.Group == "" {
		l.Secrecy = floodmark.Private
		return l
	}
	for _, name := range []string{o.Name + ":" + o.Group, o.Group} {
		if t, ok := p.groups[name]; ok {
			l.Trust = t
			break
		}
	}
	return l
}

// fileTrust returns the trust of a file that a door announces: instructions, skills,
// attachments. It depends on what the policy says of the path, not on the kind of file.
func (p *Policy) fileTrust(place string) floodmark.Trust {
	segs := splitPath(place)
	if place == "" || len(segs) == 0 {
		return floodmark.External
	}
	for _, s := range p.places.paths {
		if s.pattern.matches(segs, nil) {
			return s.trust
		}
	}
	for _, w := range p.places.workspace {
		if w.matches(segs, nil) {
			return floodmark.Local
		}
	}
	return floodmark.External
}
