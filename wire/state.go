package wire

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// FromOrigin puts an origin on the wire.
func FromOrigin(o floodmark.Origin) *Origin {
	return &Origin{
		Kind: text(string(o.Kind)), Name: text(o.Name), Server: text(o.Server), Place: text(o.Place),
		Sender: text(o.Sender), IsOwner: o.IsOwner, Group: text(o.Group),
	}
}

// ToOrigin converts an origin from the wire.
func ToOrigin(w *Origin) floodmark.Origin {
	return floodmark.Origin{
		Kind: floodmark.OriginKind(w.GetKind()), Name: w.GetName(), Server: w.GetServer(), Place: w.GetPlace(),
		Sender: w.GetSender(), IsOwner: w.GetIsOwner(), Group: w.GetGroup(),
	}
}

// FromLabel puts a label on the wire.
func FromLabel(l floodmark.Label) *Label {
	return &Label{Trust: l.Trust.String(), Secrecy: l.Secrecy.String()}
}

// FromToolRef puts a tool's name on the wire.
func FromToolRef(t floodmark.ToolRef) *ToolRef {
	return &ToolRef{Agent: text(t.Agent), Server: text(t.Server), Name: text(t.Name)}
}

// FromSource puts a source on the wire.
func FromSource(s floodmark.Source) *Source {
	return &Source{
		Node: number(s.Node), Kind: text(string(s.Kind)), Origin: FromOrigin(s.Origin), Label: FromLabel(s.Label),
		Digest: digest(s.Digest), Inputs: list(s.Inputs, number[floodmark.NodeID]), Whole: s.Whole, Call: text(string(s.Call)),
	}
}

// Endorse sets the trust of sources that were endorsed later.
func Endorse(list []*Source, by []floodmark.Endorsed) {
	for _, e := range by {
		for _, src := range list {
			if src.GetDigest() == e.Digest.String() {
				src.Label.Trust = e.Trust.String()
			}
		}
	}
}

// FromAction puts an action on the wire.
func FromAction(a floodmark.Action) *Action {
	w := &Action{
		Kind: string(a.Kind), Call: text(string(a.Call)), Effects: list(a.Effects, floodmark.Effect.String),
		Arguments: list(a.Arguments, fromArgument), ArgsDigest: digest(a.ArgsDigest), Tools: list(a.Tools, text),
		Iteration: number(a.Iteration), Audience: text(a.Audience), Child: text(string(a.Child)),
	}
	if a.Tool != (floodmark.ToolRef{}) {
		w.Tool = FromToolRef(a.Tool)
	}
	return w
}

func fromArgument(a floodmark.Argument) *Argument {
	return &Argument{
		Path: text(a.Path), Role: a.Role.String(), Whence: a.Whence.String(), Trust: a.Trust.String(), Shown: text(a.Shown), Pieced: a.Pieced,
		Spans: list(a.Spans, func(s floodmark.Span) *Span { return &Span{Node: number(s.Node), Offset: number(s.Offset)} }),
	}
}

// FromProblem puts a problem of a file on the wire.
func FromProblem(p floodmark.Problem) *Problem {
	return &Problem{
		File: text(p.File), Line: number(p.Line), Column: number(p.Column), Severity: string(p.Severity),
		Code: text(p.Code), Text: text(p.Text), Hint: text(p.Hint),
	}
}

// FromEntry puts an entry of a session on the wire. The body keeps exactly the bytes that were
// hashed; it is always UTF-8.
func FromEntry(s journal.Session, e journal.Entry) *Entry {
	return &Entry{
		Session: text(string(s.ID)), Seq: e.Seq, At: e.At, Prev: e.Prev.String(), Hash: e.Hash.String(),
		Kind: e.Kind, Body: string(e.Body),
	}
}

// FromTombstone puts a tombstone on the wire.
func FromTombstone(t journal.Tombstone) *Tombstone {
	return &Tombstone{
		Session: text(string(t.Session.ID)), Seq: t.Link.Seq, Hash: t.Link.Hash.String(), Mark: FromLabel(t.Mark),
		At: t.At, Why: text(t.Why), Note: string(t.Note),
	}
}
