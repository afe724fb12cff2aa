package kernel

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
)

// pushed reports a push that the owner asked for in this turn. He named no
// address, and need not: it goes where the project came from. It needs that
//
//   - the line pushes one branch there and does nothing else that leaves;
//   - what decides where a push goes is as it was when the session began;
//   - nobody less believed than the owner's own work had a hand in what lies in
//     the project, unless what they wrote can only compute.
func (st *step) pushed(use *catalog.Use) bool {
	if !use.Pushes || st.in.Disk == nil || st.s.Project == "" || st.s.PushesTo.IsZero() {
		return false
	}
	if st.in.Disk.Pushes(st.s.Project) != st.s.PushesTo || len(asks(st.r.words, st.thisTurn(), pushVerbs()).wanted) == 0 {
		return false
	}
	return st.weigh(st.acting(st.s.Project+"/**")).label().Trust >= floodmark.Local
}

// pushVerbs are the words with which people ask for a push, whatever language
// they speak.
func pushVerbs() []string { return []string{"push", "pushen", "pushe"} }

// pushesTo is what decides where a push from the project goes, when it begins.
func (st *step) pushesTo(project string) floodmark.Digest {
	if st.in.Disk == nil || project == "" {
		return floodmark.Digest{}
	}
	return st.in.Disk.Pushes(project)
}
