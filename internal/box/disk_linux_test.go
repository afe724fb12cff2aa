package box

import (
	"os"
	"testing"
)

// A box is ended when a disk that it writes to becomes full, also if only its /tmp is on that disk.
func TestDiskIsGuarded(t *testing.T) {
	s := &Spec{Folder: t.TempDir(), Temp: t.TempDir() + "/tmp"}
	if _, err := s.guardDisk(func() {}); err == nil {
		t.Error("a folder that is not there is not looked at")
	}
	if err := os.Mkdir(s.Temp, 0o700); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	stop, err := s.guardDisk(func() { close(ended) })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.Temp); err != nil { // now nothing is known of this disk
		t.Fatal(err)
	}
	<-ended
	if !stop() {
		t.Error("it is not said why the box was ended")
	}
}
