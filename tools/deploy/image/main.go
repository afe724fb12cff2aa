// Command image builds the container image without a container engine. The image contains the
// program, certificates of public authorities, and nothing else. The same commit always gives the
// same bytes.
//
//	go -C tools/deploy run ./image -version 1.2.3 -o dist/floodmark_image.tar
//
// The output is an OCI layout in a tar file, for Linux on amd64 and arm64.
package main

import (
	"archive/tar"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
)

func main() {
	version := flag.String("version", "0.0.0-dev", "the `version` the program calls itself")
	into := flag.String("o", "floodmark_image.tar", "the `file` to write")
	machines := flag.String("platforms", "linux/amd64,linux/arm64", "what to build for, with commas")
	flag.Parse()
	if err := run(context.Background(), *version, *into, strings.Split(*machines, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, version, into string, platforms []string) error {
	into, err := filepath.Abs(into)
	if err != nil {
		return err
	}
	repository, err := git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	at, err := commitTime(ctx)
	if err != nil {
		return err
	}
	index, err := build(ctx, repository, version, at, platforms)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if _, err := layout.Write(folder, index); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if err := pack(folder, into, at); err != nil {
		return fmt.Errorf("pack the image: %w", err)
	}
	fmt.Printf("%s: %s for %s\n", filepath.Base(into), digest, strings.Join(platforms, ", "))
	return nil
}

// commitTime returns the time that every file in the image gets.
func commitTime(ctx context.Context) (time.Time, error) {
	out, err := git(ctx, "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(out, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// git runs git and returns its output.
func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// pack writes a folder into a tar file, in sorted order, every file with the same time.
func pack(folder, into string, at time.Time) (err error) {
	f, err := os.Create(into)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var names []string
	if err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, path)
		}
		return err
	}); err != nil {
		return err
	}
	slices.Sort(names)
	w := tar.NewWriter(f)
	for _, name := range names {
		if err := packFile(w, folder, name, at); err != nil {
			return err
		}
	}
	return w.Close()
}

func packFile(w *tar.Writer, folder, name string, at time.Time) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	short, err := filepath.Rel(folder, name)
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: short, Mode: 0o644, Size: info.Size(), ModTime: at}); err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}
