package escape

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/floodmark/floodmark/internal/box"
)

// A Report is the result of all attempts. The zero value shows nothing. Fields are only added.
type Report struct {
	// Verified says that a box works here and no attempt escaped from it.
	Verified bool `json:"verified"`
	// Attempts is how many were made. Free is how many of them work on this machine without a box.
	Attempts int `json:"attempts"`
	Free     int `json:"free"`
	// Out are the attempts that escaped. Untried are those that were not completed.
	Out     []string `json:"out"`
	Untried []string `json:"untried"`
	// Source are the attempts that changed source files of the project, which a box allows.
	Source []string `json:"source"`
	// Why says in one line what does not work here. Hint says what to do about it.
	Why  string `json:"why,omitempty"`
	Hint string `json:"hint,omitempty"`
}

// Summary counts outcomes.
func Summary(list []Outcome) Report {
	r := Report{Attempts: len(list), Out: []string{}, Untried: []string{}, Source: []string{}}
	for _, o := range list {
		if o.Free {
			r.Free++
		}
		switch {
		case o.Out && o.Source():
			r.Source = append(r.Source, o.Name)
		case o.Out:
			r.Out = append(r.Out, o.Name)
		case o.Not != "":
			r.Untried = append(r.Untried, o.Name+": "+o.Not)
		}
	}
	switch {
	case len(r.Out) > 0:
		r.Why, r.Hint = fmt.Sprintf("%d of %d attempts got out of the box", len(r.Out), r.Attempts), "do not rely on boxes on this machine, and report this with the lines above"
	case len(r.Untried) > 0:
		r.Why, r.Hint = fmt.Sprintf("%d of %d attempts were not made to their end", len(r.Untried), r.Attempts), "run it again when the machine is less busy"
	}
	r.Verified = r.Attempts > 0 && r.Free > 0 && r.Why == ""
	return r
}

// Prove makes all attempts with a floodmark-box, in a folder that it removes afterwards. It calls
// made after each attempt.
func Prove(ctx context.Context, program string, rules box.Spec, made func(done, total int)) (Report, error) {
	folder, err := os.MkdirTemp("", "floodmark-prove-")
	if err != nil {
		return Report{}, err
	}
	defer removeAll(folder)
	list, err := Attempts()
	if err != nil {
		return Report{}, err
	}
	in, err := Box(program, rules)
	if err != nil {
		return Report{}, err
	}
	outcomes, err := Try(ctx, in, folder, list, made)
	if no := (*NoBoxError)(nil); errors.As(err, &no) && ctx.Err() == nil {
		r := Summary(nil)
		r.Why, r.Hint = no.Error(), box.Advice(no.Said)
		return r, nil
	}
	return Summary(outcomes), err
}

// removeAll removes a folder with worlds, several of them in parallel.
func removeAll(folder string) {
	worlds, _ := os.ReadDir(folder)
	next := make(chan string)
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		all.Go(func() {
			for name := range next {
				_ = os.RemoveAll(filepath.Join(folder, name))
			}
		})
	}
	for _, w := range worlds {
		next <- w.Name()
	}
	close(next)
	all.Wait()
	if os.RemoveAll(folder) == nil {
		return
	}
	// A box that was killed leaves folders without permissions, which only root can enter.
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(folder)
}

// Here tries whether a box can be made on this machine, with a command that does nothing. If not,
// it returns in one line why, and what to do about it.
func Here(ctx context.Context, program string) (why, hint string) {
	folder, err := os.MkdirTemp("", "floodmark-here-")
	if err == nil {
		defer os.RemoveAll(folder)
		err = nothing(ctx, program, folder)
	}
	if err == nil {
		return "", ""
	}
	no, ok := errors.AsType[*NoBoxError](err)
	if !ok {
		no = &NoBoxError{Said: err.Error()}
	}
	return no.Error(), box.Advice(no.Said)
}

// Lines formats the report for people.
func (r Report) Lines() (lines []string) {
	if r.Attempts > 0 {
		lines = append(lines,
			fmt.Sprintf("%d attempts to get out of a box", r.Attempts),
			fmt.Sprintf("%d of them work on this machine without a box", r.Free),
			fmt.Sprintf("%d got out", len(r.Out)))
	}
	for _, name := range r.Out {
		lines = append(lines, "OUT: "+name)
	}
	for _, name := range r.Untried {
		lines = append(lines, "not tried: "+name)
	}
	if len(r.Source) > 0 {
		lines = append(lines, fmt.Sprintf("%d changed source of the project, which a box lets happen (%s): such files are labelled, so what loads them later is not taken for yours", len(r.Source), strings.Join(r.Source, ", ")))
	}
	return lines
}

// NoBoxError means that not even a harmless command ran in a box.
type NoBoxError struct{ Said string }

func (e *NoBoxError) Error() string {
	first, _, _ := strings.Cut(strings.TrimSpace(e.Said), "\n")
	if first == "" {
		first = "it said nothing"
	}
	return "no box works here: " + strings.TrimPrefix(strings.TrimPrefix(first, "floodmark-box: "), "nothing ran: ")
}
