package protect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// ErrMeanwhile means that a file was changed after the plan was made.
var ErrMeanwhile = errors.New("it was changed meanwhile")

// Nothing reports whether the plan changes no file and has no records to remove.
func (p *Plan) Nothing() bool {
	return len(p.Changes) == 0 && (!p.undo && !p.back || len(p.records) == 0)
}

// Apply makes the changes. Each file has its old or its new content at every moment, and the
// originals are on disk before the first file changes. If Apply is interrupted, the same command
// finishes the work and the opposite command undoes it.
func (p *Plan) Apply() error {
	unlock, err := lock(p.machine.Records)
	if err != nil {
		return fmt.Errorf("change settings: %w", err)
	}
	defer func() { _ = unlock() }()
	for _, c := range p.Changes {
		now, _, err := readContent(c.target)
		target, moved := behind(c.Path) // a link may lead elsewhere by now
		if err = errors.Join(err, moved); err == nil && (target != c.target || !now.same(c.before())) {
			err = ErrMeanwhile
		}
		if err != nil {
			return &FileError{Path: c.Path, Text: err.Error(), Hint: "run the command again"}
		}
	}
	if err := p.clear(); err != nil {
		return err
	}
	if !p.undo {
		if err := p.keep(); err != nil {
			return err
		}
	}
	for _, c := range p.Changes {
		if err := p.write(c); err != nil {
			return fileError(c.Path, err)
		}
	}
	switch {
	case p.undo:
		return p.forget()
	case p.back:
		return p.settle()
	}
	return p.keepLast()
}

// keepLast drops the hashes of earlier contents from the records, so that from now on only the
// present content of a file is recognized as written by us.
func (p *Plan) keepLast() error {
	for _, r := range p.records {
		for i := range r.Files {
			r.Files[i].Left = r.Files[i].Left[max(0, len(r.Files[i].Left)-1):]
		}
	}
	return p.keep()
}

// clear removes the temporary files that a killed run left beside the settings files.
func (p *Plan) clear() error {
	paths := slices.Clone(p.looked)
	for _, r := range p.records {
		for _, one := range r.Files {
			paths = append(paths, one.Path)
		}
	}
	for _, path := range paths {
		target, err := behind(path)
		if err == nil {
			err = os.Remove(target + wholefile.FreshSuffix)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return fileError(path, err)
		}
	}
	return nil
}

// keep writes the records with the originals.
func (p *Plan) keep() error {
	for _, r := range p.records {
		p.step("record " + r.Agent)
		if err := p.machine.writeRecord(r); err != nil {
			return fileError(p.machine.recordFile(r.Agent), err)
		}
	}
	return nil
}

// write makes one change.
func (p *Plan) write(c Change) error {
	p.step("write " + c.Path)
	if c.rescue {
		if err := p.rescue(c); err != nil {
			return err
		}
	}
	if c.Gone {
		if err := os.Remove(c.target); err != nil {
			return err
		}
		return wholefile.SyncFolder(filepath.Dir(c.target))
	}
	mode := fs.FileMode(0o700)
	if p.machine.System {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(c.target), mode); err != nil {
		return err
	}
	return wholefile.ReplaceWhen(c.target, c.After, c.mode, func() { p.step("rename " + c.Path) })
}

// rescue keeps a copy of a file of ours that was edited, before it is removed.
func (p *Plan) rescue(c Change) error {
	dir := filepath.Join(p.machine.Records, "removed")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return wholefile.ReplaceWhen(filepath.Join(dir, c.Agent+"-"+filepath.Base(c.Path)), c.Before, 0o600, func() { p.step("rename what was removed") })
}

// forget removes the folders we made and the records, after all files were restored.
func (p *Plan) forget() error {
	for _, r := range p.records {
		for _, dir := range slices.Backward(r.Folders) {
			p.step("remove " + dir)
			_ = os.Remove(dir) // it may hold other files by now
		}
		if r.Agent == "" {
			continue
		}
		p.step("forget " + r.Agent)
		if err := os.Remove(p.machine.recordFile(r.Agent)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fileError(p.machine.recordFile(r.Agent), err)
		}
	}
	return nil
}
