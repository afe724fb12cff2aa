package escape

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/floodmark/floodmark/internal/box"
)

// startTime is how long a box that does nothing may take on a busy machine.
const startTime = 10 * time.Second

// nothing runs a command that does nothing in a box, with a new home and project. It returns why
// that fails.
func nothing(ctx context.Context, program, folder string) error {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	home := filepath.Join(folder, "home")
	project := filepath.Join(home, "ws")
	if err := os.MkdirAll(project, 0o700); err != nil {
		return err
	}
	in, err := Box(program, box.Spec{})
	if err != nil {
		return err
	}
	args, done, err := in(home, project, "true", Call{})
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Dir, c.WaitDelay = project, time.Second
	out, err := c.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return &NoBoxError{Said: "it was not done in time"}
	case err != nil && len(out) > 0:
		return &NoBoxError{Said: string(out)}
	}
	return err
}
