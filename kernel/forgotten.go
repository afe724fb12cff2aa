package kernel

import "github.com/floodmark/floodmark"

// Forgotten returns the state of a session whose facts were erased when it
// stood at mark. It is open and has one source of unknown origin at that mark:
// what was read is forgotten, that it was not believed is not. No value of it
// is stated any more, no grant is left and no question is open.
func Forgotten(mark floodmark.Label) *State {
	if !mark.Valid() {
		mark = floodmark.Label{}
	}
	s := NewState()
	s.Opened = true
	// The first source of an empty ledger, with a valid label and no inputs, is
	// always taken.
	_ = s.Ledger.Add(floodmark.Source{
		Kind:   floodmark.NodeHistory,
		Origin: floodmark.Origin{Kind: floodmark.FromUnknown, Name: "what was erased"},
		Label:  mark,
	})
	return s
}
