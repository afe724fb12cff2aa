package story

import (
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/project/leftover"
	"github.com/floodmark/floodmark/kernel"
)

// filesSession is the session of the owner's acts on files that sessions left.
const filesSession floodmark.SessionID = "floodmark/files"

// onFiles records an act of the owner on files.
func (w *world) onFiles(what func(in kernel.Input) []kernel.Output) error {
	before := w.current
	defer func() { w.current = before }()
	w.current = filesSession
	if !w.session().state.Opened {
		if err := w.take(kernel.Output{Facts: []floodmark.Fact{floodmark.SessionOpened{Agent: "floodmark"}}}); err != nil {
			return err
		}
	}
	for _, out := range what(w.input(hook.Event{Session: filesSession})) {
		if err := w.take(out); err != nil {
			return err
		}
	}
	return nil
}

// cleaned records that the owner removed what sessions left at a path. It removes only the label,
// because the path may get another file right afterwards.
func (w *world) cleaned(path string) error {
	things := leftover.Below(w.store, catalog.FoldPath(path))
	if len(things) == 0 {
		return fmt.Errorf("no session of little trust left anything at %s", shorten(path, maxQuoted))
	}
	files := []floodmark.CleanedFile{{Path: path}}
	return w.onFiles(func(kernel.Input) []kernel.Output {
		return []kernel.Output{leftover.Removing(files, "owner"), leftover.Removed(files, things, "owner")}
	})
}

// endorseFile records that the owner trusts a file as it is now.
func (w *world) endorseFile(path string) error {
	d := floodmark.FileVouch(catalog.FoldPath(path), w.store.Exactly(catalog.FoldPath(path)))
	if d.IsZero() {
		return fmt.Errorf("a line «file %s TEXT» has to say what is in it", shorten(path, maxQuoted))
	}
	return w.onFiles(func(in kernel.Input) []kernel.Output {
		return []kernel.Output{leftover.Vouch(in, []floodmark.Digest{d}, floodmark.Local, "owner")}
	})
}
