package hookframe

import (
	"errors"
	"fmt"
	"path/filepath"
)

// MaxSocketPath is the limit of all supported systems: macOS has 104 bytes with the final zero.
const MaxSocketPath = 103

// SocketVariable names the variable that overrides the socket's path.
const SocketVariable = "FLOODMARK_HOOK_SOCKET"

// SocketPath returns the path of the daemon's socket, for the daemon and for hooks. It is the value
// of [SocketVariable] if that is set, else a path in the user's runtime folder, else one in the
// user's state folder. env looks a variable up.
func SocketPath(env func(string) string) (string, error) {
	var path string
	switch {
	case env(SocketVariable) != "":
		path = env(SocketVariable)
	case filepath.IsAbs(env("XDG_RUNTIME_DIR")):
		path = filepath.Join(env("XDG_RUNTIME_DIR"), "floodmark", "hook.sock")
	case filepath.IsAbs(env("XDG_STATE_HOME")):
		path = filepath.Join(env("XDG_STATE_HOME"), "floodmark", "run", "hook.sock")
	case filepath.IsAbs(env("HOME")):
		path = filepath.Join(env("HOME"), ".local", "state", "floodmark", "run", "hook.sock")
	default:
		return "", errors.New("there is no home folder: set " + SocketVariable)
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s is %q: give an absolute path", SocketVariable, path)
	}
	if len(path) > MaxSocketPath {
		return "", fmt.Errorf("the socket's path has %d bytes, at most %d: set %s to a shorter one", len(path), MaxSocketPath, SocketVariable)
	}
	return path, nil
}
