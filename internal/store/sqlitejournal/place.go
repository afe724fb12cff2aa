package sqlitejournal

// A medium is where a file system keeps its files, as far as known.
type medium int

const (
	local    medium = iota // or unknown: most are local
	inMemory               // gone with the power
	remote                 // behind a network or another process
)
