package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/box/boxspec"
	"github.com/floodmark/floodmark/internal/box/boxticket"
	"github.com/floodmark/floodmark/lab/bench/figures"
)

// boxed measures a command that does nothing, alternately without a box and in a box.
func boxed(ctx context.Context, o options, programs string, home figures.Home) (map[string]figures.Spread, error) {
	project := filepath.Join(home.Dir, "project")
	if err := os.MkdirAll(project, 0o700); err != nil {
		return nil, err
	}
	known, err := catalog.Shipped()
	if err != nil {
		return nil, err
	}
	spec := boxspec.Rules(known)
	spec.Project, spec.Home = project, home.Dir
	uid := os.Getuid()
	desk, err := boxticket.NewDesk(boxticket.Folder(uid), uid, home.Dir, rand.Reader)
	if err != nil {
		return nil, err
	}
	plain := []string{"sh", "-c", "cd " + project + " && true"}
	var alone, inBox []float64
	for n := range o.felt {
		order := boxticket.Order{Spec: spec, Session: "bench", Call: fmt.Sprint(n), Command: plain, Expires: time.Now().Add(time.Minute)}
		name, err := desk.Mint(order, time.Now())
		if err != nil {
			return nil, err
		}
		for _, run := range []struct {
			argv  []string
			times *[]float64
		}{{plain, &alone}, {append([]string{filepath.Join(programs, "floodmark-box"), "--ticket", name, "--"}, plain...), &inBox}} {
			took, said, err := timed(ctx, home.Env, nil, run.argv[0], run.argv[1:]...)
			if err != nil {
				return nil, fmt.Errorf("%s: %w: %s", run.argv[0], err, said)
			}
			*run.times = append(*run.times, figures.MS(took))
		}
		state, _, err := desk.Read(name)
		if err == nil && state != boxticket.Ran {
			err = errors.New("no box took the ticket")
		}
		if err != nil {
			return nil, err
		}
		if err := desk.Forget(name); err != nil {
			return nil, err
		}
	}
	return map[string]figures.Spread{"as it is": figures.SpreadOf(alone), "in a box": figures.SpreadOf(inBox)}, nil
}
