package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// MaxPolicyBytes bounds the owner's policy file.
const MaxPolicyBytes = 1 << 20

// Rules are the rules in force, with the problems found while reading them.
type Rules struct {
	kernel.Rules
	// File is where they came from; empty if there is no such file and the shipped profile is used.
	File string
	// Text is the file as it was read; nil if there is none, or if the rules are not the owner's
	// own.
	Text     []byte
	Warnings floodmark.Problems
}

// LoadRules reads the owner's policy for a caller that reads rules once; see [Reader.Load].
func LoadRules(file string, more ...*catalog.File) (Rules, error) {
	return NewReader().Load(file, more...)
}

// Load reads the owner's policy. If there is no file, it returns the shipped profile. A file that
// cannot be read or is wrong is an error, and never leads to the shipped profile. more adds to the
// catalog; see [Reader.Guarded].
func (r *Reader) Load(file string, more ...*catalog.File) (Rules, error) {
	shipped, err := r.Shipped()
	if err != nil {
		return Rules{}, err
	}
	var layers []policy.Layer
	data, err := ReadPolicy(file)
	switch {
	case err != nil:
		return Rules{}, err
	case data == nil:
		file = ""
	default:
		layers = append(layers, policy.Layer{Name: file, Data: data})
	}
	p, problems := policy.Load(layers...)
	if p == nil {
		return Rules{}, problems
	}
	return Rules{
		Rules: kernel.NewRules(p, catalog.New(append(p.Tools(), more...), shipped)),
		File:  file, Text: data, Warnings: problems,
	}, nil
}

// LoadService reads service.yaml. If there is no file, it returns the settings of a laptop.
func LoadService(file string) (Service, error) {
	data, err := readFile(file, maxServiceBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Service{}, nil
	}
	if err != nil {
		return Service{}, fmt.Errorf("read the service's settings: %w", err)
	}
	return ParseService(file, data)
}

func readFile(file string, limit int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: larger than %d bytes", file, limit)
	}
	return data, nil
}
