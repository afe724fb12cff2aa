package artifact

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/secret/redact"
)

// A Hoard says where secrets are kept below a folder. The zero Hoard says that this is not known.
type Hoard struct {
	// Files are the files that hold secrets: by their name, or because some were found in them.
	Files []Keeper
	// Whole says that no other file below the folder holds a secret.
	Whole bool
	// Beside are files elsewhere that hold secrets.
	Beside []Keeper
}

// A Keeper is a file that holds secrets. Its prints recognise them; without any, all of the file is
// secret.
type Keeper struct {
	Path   string
	Prints []floodmark.SecretSpan
}

// A Search says what to look for on a disk.
type Search struct {
	// Folder is looked through with all that is below it; it may be a file.
	Folder string
	// Beside are further files, and folders of which only the files right in them
	// are looked at.
	Beside []string
	// Keeps says by a file's name whether it holds secrets. Prints returns those in its text.
	// Without Prints names are enough, and more folders are looked through.
	Keeps  func(path string) redact.Keeper
	Prints func(path, text string) []floodmark.SecretSpan
	// Under is different whenever Keeps or Prints may answer differently.
	Under string
}
