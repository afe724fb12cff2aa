package soak

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/internal/setup/config"
)

const (
	// shutdownRequest is FS_IOC_SHUTDOWN, which stops the file system as a power cut does.
	shutdownRequest = 0x8004587d
	// withoutFlush says not to write what is not yet on the disk, not even the log.
	withoutFlush = 2
	// cutsPerDisk is how many cuts are made on one file system.
	cutsPerDisk = 5
)

// powerFigures are the figures of a run.
type powerFigures struct {
	Commit       string  `json:"commit"`
	Seed         uint64  `json:"seed"`
	Sessions     int     `json:"concurrentSessions"`
	Cuts         int     `json:"cuts"`
	Disks        int     `json:"fileSystems"`
	Acknowledged int     `json:"acknowledged"`
	Late         int     `json:"answeredWithoutPower"`
	Lost         int     `json:"lost"`
	Verified     int64   `json:"entriesVerified"`
	Seconds      float64 `json:"seconds"`
}

// A disk is a small ext4 file system in a file.
type disk struct {
	t     *testing.T
	image string
	place string // where it is mounted
}

// newDisk makes and mounts a disk. If that is not possible here, it skips the test and says why.
func newDisk(t *testing.T, megabytes int64) *disk {
	t.Helper()
	dir := folder(t)
	d := &disk{t: t, image: filepath.Join(dir, "image"), place: filepath.Join(dir, "m")}
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: a file system of one's own needs root")
	}
	f, err := os.Create(d.image)
	if err == nil {
		err = errors.Join(f.Truncate(megabytes<<20), f.Close(), os.Mkdir(d.place, 0o700))
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mkfs.ext4", "-q", d.image).CombinedOutput(); err != nil {
		t.Skipf("NOT RUN: mkfs.ext4: %v: %s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop", d.image, d.place).CombinedOutput(); err != nil {
		t.Skipf("NOT RUN: a loop device is needed: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = unix.Unmount(d.place, unix.MNT_DETACH) }) // it may be unmounted already
	return d
}

// cut stops the file system as a power cut does.
func (d *disk) cut() {
	d.t.Helper()
	f, err := os.Open(d.place)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	if err := unix.IoctlSetPointerInt(int(f.Fd()), shutdownRequest, withoutFlush); err != nil {
		d.t.Skipf("NOT RUN: this file system cannot be stopped: %v", err)
	}
}

// restart mounts the file system again, as a machine does when the power is back.
func (d *disk) restart() {
	d.t.Helper()
	for _, args := range [][]string{{"umount", d.place}, {"mount", "-o", "loop", d.image, d.place}} {
		if out, err := exec.CommandContext(d.t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			d.t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
}

// TestPowerCut cuts the power under load. When the power is back, everything acknowledged must be
// there, and every chain must verify against its signed heads.
func TestPowerCut(t *testing.T) {
	long(t)
	began := time.Now()
	var d *disk
	s := newSoak(t)
	fig := powerFigures{Commit: commit(t), Seed: *seed, Sessions: sessions}
	for n := range *cuts {
		if n%cutsPerDisk == 0 {
			d = newDisk(t, 256)
			s.newStoreIn(filepath.Join(d.place, "f"))
			unix.Sync() // so that the owner's files are on the disk before the cut
			fig.Disks++
		}
		r := serve(t, s.dir, "")
		if !s.check(r, false) {
			t.Fatalf("the monitor ended while it was looked at:\n%s", r.out)
		}
		fmt.Fprintf(s.agents, "go g%03d %s\n", s.store, r.paths.HookSocket)
		time.Sleep(time.Duration(50+s.random.IntN(900)) * time.Millisecond)
		s.ledger.powerGone()
		d.cut()
		time.Sleep(time.Duration(s.random.IntN(100)) * time.Millisecond) // now it refuses everything
		r.kill()
		<-s.idle
		s.ledger.powerBack()
		d.restart()
		fig.Cuts++
		if last := n+1 == *cuts || (n+1)%cutsPerDisk == 0; last {
			r := serve(t, s.dir, "")
			if !s.check(r, true) {
				t.Fatalf("the monitor ended while it was looked at:\n%s", r.out)
			}
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			d.cut() // the disk is not needed any more
			if err := unix.Unmount(d.place, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	fig.Late = s.ledger.late
	fig.Acknowledged, fig.Lost, fig.Verified = s.ledger.acked, s.figure.Lost, s.figure.Verified
	fig.Seconds = time.Since(began).Seconds()
	if fig.Acknowledged == 0 {
		t.Error("nothing was ever acknowledged")
	}
	writeEvidence(t, "service.json", "powerCuts", fig)
}

// newStoreIn begins with an empty store in dir.
func (s *soak) newStoreIn(dir string) {
	s.newStore()
	s.dir = dir
	paths := config.DirPaths(dir)
	put(s.t, paths.Service, service)
	put(s.t, paths.Policy, "version: 1\n")
}
