package sqlitejournal

// A medium is what is known of where a file system keeps its files.
type medium int

const (
	local    medium = iota // or not known: most are
	inMemory               // gone with the power
	remote                 // behind a network or another process
)
