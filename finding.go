package floodmark

import "slices"

// A Finding names something about a call that its effects do not say, such as that it deletes a
// whole folder. The lines of internal/rules/finding say what is asked about each; a call with a finding
// that has no line there is refused.
type Finding string

// The findings that code makes. The catalog's data makes others.
const (
	TakesCommands  Finding = "takes-commands"  // it takes further commands, which would not be seen
	FetchesPackage Finding = "fetches-package" // it fetches and runs a published package
	DeletesFolder  Finding = "deletes-folder"  // it deletes a folder with everything in it
)

// Found returns the findings, including those that older journals recorded in separate fields.
func (b *Basis) Found() []Finding {
	list := slices.Clip(b.Findings)
	if b.Interactive {
		list = append(list, TakesCommands)
	}
	if b.Strange {
		list = append(list, FetchesPackage)
	}
	if b.Wipes {
		list = append(list, DeletesFolder)
	}
	return list
}
