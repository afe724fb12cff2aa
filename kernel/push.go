package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
)

// pushed reports a push that the owner asked for in this turn. He named no
// address, and need not: it goes where the project came from. It needs that
//
//   - the line pushes one branch there and does nothing else that leaves;
//   - what decides where a push goes is as it was when the session began;
//   - nobody less believed than the owner's own work had a hand in what lies in
//     the project or was committed there, unless what they wrote can only compute;
//   - nothing that lies there was made of what is private or secret.
func (st *step) pushed(use *catalog.Use) bool {
	if !use.Pushes || st.in.Disk == nil || st.s.Project == "" || st.s.PushesTo.IsZero() {
		return false
	}
	if st.in.Disk.Pushes(st.s.Project, use.Branch) != st.s.PushesTo || len(st.asks(st.thisTurn(), pushVerbs()).wanted) == 0 {
		return false
	}
	words := st.onPath(st.s.Project + "/**")
	if st.weigh(words).label().Secrecy < floodmark.Internal {
		return false
	}
	return st.weigh(slices.DeleteFunc(words, func(k Kept) bool { return k.Inert })).label().Trust >= floodmark.Local
}

// committed reports whether all that a commit takes in can only compute, as far
// as those below the owner's own work put it there.
func (st *step) committed(p string) bool {
	return st.weigh(st.acting(strings.TrimSuffix(p, catalog.CommitsOf)+"/**")).label().Trust >= floodmark.Local
}

// ofGit reports what stands for commits rather than for a file: it is pushed,
// and nothing runs it.
func ofGit(ref floodmark.ArtifactRef) bool {
	return strings.HasSuffix(ref.Name, strings.ToLower(catalog.CommitsOf)) || strings.HasSuffix(ref.Name, catalog.NamesOf)
}

// pushVerbs are the words with which people ask for a push, whatever language
// they speak.
func pushVerbs() []string { return []string{"push", "pushen", "pushe"} }

// pushesTo is what decides where a push from the project goes, when it begins.
func (st *step) pushesTo(project string) floodmark.Digest {
	if st.in.Disk == nil || project == "" {
		return floodmark.Digest{}
	}
	return st.in.Disk.Pushes(project, "")
}
