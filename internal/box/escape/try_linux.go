package escape

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/boxticket"
)

// An Enclosure returns the program that runs a shell command enclosed, given its home and project.
// done is called when that program has ended.
type Enclosure func(home, project, command string, call Call) (program []string, done func(), err error)

// ticketLife is longer than any attempt waits until it starts.
const ticketLife = boxticket.MaxLife

// Box returns an enclosure by floodmark-box. Its done removes the rest of the ticket, because each
// later box reads the whole folder of tickets.
func Box(program string, rules box.Spec) (Enclosure, error) {
	uid := os.Getuid()
	desk, err := boxticket.NewDesk(boxticket.Folder(uid), uid, "prove", rand.Reader)
	if err != nil {
		return nil, err
	}
	return func(home, project, command string, call Call) ([]string, func(), error) {
		root, now := filepath.Dir(home), time.Now()
		run := []string{"bash", "-c", command}
		s := rules
		s.Project, s.Home, s.Folder, s.Temp = project, home, filepath.Join(root, "box"+strconv.Itoa(call.Number)), filepath.Join(root, "tmp")
		s.Git = filepath.Join(home, "main", ".git")
		s.Author, s.Mail, s.Processes = "a", "a@b.example", 512
		if call.Granted {
			s.Hosts = []string{"hole.invalid:443"}
		}
		if call.Background {
			s = s.InBackground()
		}
		name, err := desk.Mint(boxticket.Order{Session: "escape", Call: "escape", Command: run, Expires: now.Add(ticketLife), Spec: s}, now)
		return append([]string{program, "--ticket", name, "--"}, run...), func() { _ = desk.Forget(name) }, err
	}, nil
}

// atOnce returns how many attempts are made at the same time. Most of them are waiting.
func atOnce() int { return max(4, 2*runtime.NumCPU()) }

// Try makes every attempt, both free and enclosed, in worlds below a folder. The worlds are not
// removed until the last attempt was made: see spread. It calls made after each attempt.
func Try(ctx context.Context, in Enclosure, folder string, list []Attempt, made func(done, total int)) ([]Outcome, error) {
	spread(folder)
	from, err := newPattern(ctx, filepath.Join(folder, "pattern"))
	if err != nil {
		return nil, err
	}
	// First check that a harmless command runs, because a command that never runs does not escape
	// either.
	alive := Attempt{Name: "something that is allowed", Worked: []string{"has", "ws/src/a.txt", "allowed"}, Command: "echo allowed > src/a.txt"}
	if o, err := try(ctx, in, from, filepath.Join(folder, "alive"), alive); err != nil || !o.Out {
		return nil, errors.Join(&NoBoxError{Said: o.Said}, err)
	}
	out := make([]Outcome, len(list))
	errs := make([]error, len(list))
	work := make(chan int)
	var all sync.WaitGroup
	var mu sync.Mutex
	done := 0 // guarded by mu
	for range atOnce() {
		all.Go(func() {
			for i := range work {
				if errs[i] = ctx.Err(); errs[i] != nil {
					continue
				}
				out[i], errs[i] = try(ctx, in, from, filepath.Join(folder, fmt.Sprint(i)), list[i])
				mu.Lock()
				done++
				made(done, len(list))
				mu.Unlock()
			}
		})
	}
	for i := range list {
		work <- i
	}
	close(work)
	all.Wait()
	for i, err := range errs {
		if err != nil {
			return out, fmt.Errorf("%s: %w", list[i].Name, err)
		}
	}
	return out, ctx.Err()
}

func try(ctx context.Context, in Enclosure, from *pattern, folder string, a Attempt) (Outcome, error) {
	o := Outcome{Attempt: a}
	if !a.Alone {
		w, err := newWorld(ctx, filepath.Join(folder, "free"), from, a)
		if err != nil {
			return o, err
		}
		if err := w.late(); err != nil {
			return o, err
		}
		said, _ := w.attempt(a, func(int) (string, string) { return w.run(ctx, []string{"bash", "-c", w.command(a)}) })
		o.Free = w.worked(a, said)
		w.close()
	}
	w, err := newWorld(ctx, filepath.Join(folder, "boxed"), from, a)
	if err != nil {
		return o, err
	}
	defer w.close()
	o.Said, o.Not = w.attempt(a, func(number int) (string, string) {
		program, done, err := in(w.home, w.project, w.command(a), Call{Number: number, Background: a.Background, Granted: a.Granted})
		if err != nil {
			return "", err.Error()
		}
		defer done()
		if err := w.late(); err != nil {
			return "", err.Error()
		}
		return w.run(ctx, program)
	})
	o.Out = w.worked(a, o.Said)
	return o, nil
}
