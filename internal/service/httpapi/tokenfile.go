package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// maxTokenFile bounds the file. It has room for MaxTokens of the longest tokens.
const maxTokenFile = 16 << 20

// tokenFile is the form of the file.
type tokenFile struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

const tokenVersion = 1

// refresh reads the file again if it has changed. The caller holds the lock. If the file cannot be
// read, every token is refused.
func (t *Tokens) refresh() error {
	info, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		t.tokens, t.seen = nil, nil
		return nil
	}
	if err == nil && t.seen != nil && os.SameFile(info, t.seen) && info.ModTime().Equal(t.seen.ModTime()) && info.Size() == t.seen.Size() {
		return nil
	}
	t.tokens, t.seen = nil, nil
	if err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	tokens, info, err := readTokens(t.path)
	if err != nil {
		return fmt.Errorf("read tokens: %s: %w", t.path, err)
	}
	t.tokens, t.seen = tokens, info
	return nil
}

func readTokens(path string) ([]Token, os.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	// The group may read the file, because it can read a mounted Kubernetes Secret, and the file
	// contains only hashes. But anyone who can write to it could become an owner.
	if info.Mode().Perm()&0o037 != 0 || !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("others can read or write it (mode %v): run chmod 600 on it", info.Mode())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err != nil {
		return nil, nil, err
	}
	tokens, err := parseTokens(data)
	return tokens, info, err
}

// parseTokens reads the file's text. One wrong token invalidates all, so that the error is not
// overlooked.
func parseTokens(data []byte) ([]Token, error) {
	if len(data) > maxTokenFile {
		return nil, fmt.Errorf("more than %d bytes", maxTokenFile)
	}
	var file tokenFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	if file.Version != tokenVersion {
		return nil, fmt.Errorf("version %d, want %d", file.Version, tokenVersion)
	}
	if len(file.Tokens) > MaxTokens {
		return nil, fmt.Errorf("%d tokens, at most %d", len(file.Tokens), MaxTokens)
	}
	for _, o := range file.Tokens {
		if err := o.check(); err != nil {
			return nil, err
		}
	}
	return file.Tokens, nil
}

// change reads the file, changes it and replaces it as a whole. The new file also serves as the
// lock: if two changes run at once, one fails and says to try again.
func (t *Tokens) change(to func([]Token) ([]Token, error)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := t.path + ".new"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("somebody else is changing the tokens; try again, or remove %s if nobody is", next)
	}
	if err != nil {
		return fmt.Errorf("change tokens: %w", err)
	}
	if err := t.write(f, to); err != nil {
		return errors.Join(err, f.Close(), os.Remove(next))
	}
	if err := errors.Join(f.Close(), os.Rename(next, t.path), wholefile.SyncFolder(filepath.Dir(t.path))); err != nil {
		return fmt.Errorf("change tokens: %w", err)
	}
	return t.refresh()
}

func (t *Tokens) write(f *os.File, to func([]Token) ([]Token, error)) error {
	if err := t.refresh(); err != nil {
		return err
	}
	tokens, err := to(t.tokens)
	if err != nil {
		return err
	}
	if len(tokens) > MaxTokens {
		return fmt.Errorf("there are %d tokens already; revoke some", MaxTokens)
	}
	data, err := json.MarshalIndent(tokenFile{tokenVersion, tokens}, "", "  ")
	if err != nil {
		return err
	}
	if _, err := f.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("change tokens: %w", err)
	}
	return f.Sync()
}
