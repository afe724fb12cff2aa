package truth

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// enterRoot builds a root with the machine's own programs, all read-only, and with a new home. It
// makes this root the only one that this process and its children see.
func enterRoot(root string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	if err := syscall.Mount("tmpfs", root, "tmpfs", 0, scratchSize+",mode=755"); err != nil {
		return fmt.Errorf("mount the root: %w", err)
	}
	for _, step := range []func(string) error{programs, settings, devices, places} {
		if err := step(root); err != nil {
			return err
		}
	}
	if err := syscall.Chroot(root); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte("example")); err != nil {
		return fmt.Errorf("name the machine: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	for what, limit := range map[int]uint64{unix.RLIMIT_NPROC: lineProcesses, syscall.RLIMIT_FSIZE: lineFileBytes, syscall.RLIMIT_CORE: 0} {
		if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit %d: %w", what, err)
		}
	}
	return fillTemplate()
}

// programs binds the folders with the machine's programs into the root, so that a line can neither
// change them nor gain rights with them.
func programs(root string) error {
	for _, name := range []string{"usr", "bin", "sbin", "lib", "lib32", "lib64"} {
		at := filepath.Join(root, name)
		if target, err := os.Readlink("/" + name); err == nil {
			if err := os.Symlink(target, at); err != nil {
				return err
			}
			continue
		}
		if _, err := os.Stat("/" + name); err != nil {
			continue
		}
		if err := show("/"+name, at); err != nil {
			return err
		}
	}
	return nil
}

// show binds a folder or file read-only into the root, without set-user-ID rights.
func show(from, at string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(at, 0o755)
	} else {
		err = writeFile(at, "", 0o644)
	}
	if err != nil {
		return err
	}
	if err := syscall.Mount(from, at, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("show %s: %w", from, err)
	}
	return syscall.Mount("", at, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY|syscall.MS_NOSUID, "")
}

// settings makes the few files of /etc that programs look for.
func settings(root string) error {
	etc := filepath.Join(root, "etc")
	for name, text := range map[string]string{
		"passwd":        fmt.Sprintf("root:x:0:0:root:/root:/bin/bash\ndev:x:%d:%d:dev:%s:/bin/bash\n", devUID, devUID, home),
		"group":         fmt.Sprintf("root:x:0:\ndev:x:%d:\n", devUID),
		"hosts":         "127.0.0.1 localhost example\n::1 localhost\n",
		"resolv.conf":   "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
		"hostname":      "example\n",
		"shadow":        "root:*:1:0:99999:7:::\n",
		"crontab":       "",
	} {
		if err := writeFile(filepath.Join(etc, name), text, 0o644); err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(etc, "shadow"), 0o600); err != nil {
		return err
	}
	for _, name := range []string{"alternatives", "ld.so.cache", "ssl", "vim", "magic", "manpath.config", "groff"} {
		if _, err := os.Stat("/etc/" + name); err == nil {
			if err := show("/etc/"+name, filepath.Join(etc, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// devices makes the devices that programs expect.
func devices(root string) error {
	dev := filepath.Join(root, "dev")
	if err := os.MkdirAll(filepath.Join(dev, "shm"), 0o777); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		at := filepath.Join(dev, name)
		if err := writeFile(at, "", 0o666); err != nil {
			return err
		}
		if err := syscall.Mount("/dev/"+name, at, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("show /dev/%s: %w", name, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dev, "pts"), 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("devpts", filepath.Join(dev, "pts"), "devpts", syscall.MS_NOSUID, "newinstance,ptmxmode=0666,mode=620"); err != nil {
		return fmt.Errorf("mount /dev/pts: %w", err)
	}
	for name, target := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	return nil
}

// places makes the remaining folders of the root and the stubs.
func places(root string) error {
	for name, mode := range map[string]os.FileMode{
		".trace/template": 0o755, ".scratch": 0o755, ".trace": 0o700, "proc": 0o755, "tmp": 0o777, "home/dev": 0o755, "root": 0o700,
		"var/log": 0o755, "opt": 0o755, "mnt": 0o755, "srv": 0o755, "run": 0o755,
	} {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(at, mode); err != nil {
			return err
		}
	}
	for name, text := range stubs() {
		if _, err := exec.LookPath(name); err == nil {
			continue
		}
		if err := writeFile(filepath.Join(root, "opt/stubs/bin", name), text, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// stubs returns scripts in the place of programs that start other programs and are often not
// installed. Each only starts the other program.
func stubs() map[string]string {
	skip := "#!/bin/sh\nwhile :; do case $1 in -u|-g|-U|-h|-p|-C) shift 2;; --) shift; break;; -*) shift;; *=*) export \"$1\"; shift;; *) break;; esac; done\n"
	return map[string]string{
		"sudo":    skip + "[ $# -gt 0 ] || exit 0\nexec \"$@\"\n",
		"doas":    skip + "[ $# -gt 0 ] || exit 0\nexec \"$@\"\n",
		"busybox": "#!/bin/sh\n[ $# -gt 0 ] || exit 0\nexec \"$@\"\n",
		"toybox":  "#!/bin/sh\n[ $# -gt 0 ] || exit 0\nexec \"$@\"\n",
	}
}

func writeFile(at, text string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(at, []byte(text), mode); err != nil {
		return err
	}
	return os.Chmod(at, mode)
}

// fillTemplate makes the home with which every line begins.
func fillTemplate() error {
	for name, text := range templateFiles() {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") || strings.Contains("/"+name, "/bin/") || strings.Contains(name, "/hooks/") {
			mode = 0o755
		}
		if err := writeFile(filepath.Join("/.trace/template", name), text, mode); err != nil {
			return err
		}
	}
	if err := os.MkdirAll("/.trace/template/project/empty", 0o755); err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", "-ec", templateScript)
	cmd.Dir = "/.trace/template/project"
	cmd.Env = append(lineEnvironment(), "HOME=/.trace/template", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("fill the template: %w\n%s", err, out)
	}
	return nil
}
