package kernel

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

// textless reports whether a call puts something somewhere and none of its
// arguments could hold a text, a command or a patch: an attachment that is saved
// in a folder.
func textless(use catalog.Use, leaves []hook.Leaf) bool {
	path := false
	for _, leaf := range leaves {
		about := argument(use, leaf)
		if about.Role != floodmark.Critical {
			return false
		}
		switch about.Is {
		case catalog.IsPath:
			path = true
		case catalog.IsID, catalog.IsURL, catalog.IsName, catalog.IsFlag:
		default:
			return false
		}
	}
	return path && use.Profile != nil
}
