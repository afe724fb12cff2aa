package soak

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// The size of a run. The defaults are the gate's.
var (
	kills   = flag.Int("kills", 24, "how often the monitor is killed in all")
	each    = flag.Int("each", 1, "how often at each named point")
	cuts    = flag.Int("cuts", 2, "how often the power is cut")
	tickets = flag.Int("tickets", 100, "how many questions are open at once")
	// A fleet's drills need servers that .ci/fleet installs.
	fleetRounds = flag.Int("fleet", 0, "how many rounds of drills a fleet goes through")
	fleetDrills = flag.String("drills", "", "only these drills of a round, with commas between them")
	fleetOlder  = flag.String("older", "", "the `COMMIT` whose program the fleet begins as, to be upgraded under load")
	fleetWithin = flag.Duration("within", 0, "begin no drill after this time")
	fleetPace   = flag.Duration("pace", 200*time.Millisecond, "between two events of one agent, on average")
	wakes       = flag.Int("wakes", 16, "how many questions wait at one node and are answered at another")
	wakeWatch   = flag.Duration("watch", 2*time.Second, "how long it is counted how often those who wait look")
	fleetCalm   = flag.Duration("calm", 2*time.Second, "between what happens in a drill")

	// Laptops that join a fleet need PostgreSQL.
	laptops   = flag.Int("laptops", 0, "how many laptops join a fleet")
	laptopsIn = flag.Duration("laptops-pause", 2*time.Second, "between what happens to them")

	seed     = flag.Uint64("seed", 1, "chooses what happens when")
	evidence = flag.String("evidence", "", "write what was measured into this `FOLDER`")
)

// loadVariable makes this program the agents: see load_test.go.
const loadVariable = "FLOODMARK_SOAK_LOAD"

func TestMain(m *testing.M) {
	if from := os.Getenv(loadVariable); from != "" {
		runLoad(from)
		return
	}
	if dsn := os.Getenv(checkVariable); dsn != "" {
		runCheck(dsn)
		return
	}
	if socket := os.Getenv(relayVariable); socket != "" {
		runRelay(socket)
		return
	}
	if socket := os.Getenv(converseVariable); socket != "" {
		runConversation(socket)
		return
	}
	if name := os.Getenv(mcpVariable); name != "" {
		runMCPServer(name)
		return
	}
	flag.Parse()
	code := m.Run()
	if made, err := programs(); err == nil {
		_ = os.RemoveAll(made)
	}
	os.Exit(code)
}

// programs builds the monitor, with its faults, and the hook program, once.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fmsoak")
	if err != nil {
		return "", err
	}
	for name, args := range map[string][]string{
		"floodmark":      {"-tags", "faults", "./cmd/floodmark"},
		"floodmark-hook": {"./cmd/floodmark-hook"},
	} {
		cmd := exec.Command("go", append([]string{"-C", "../..", "build", "-o", filepath.Join(dir, name)}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
})

// program returns the path of a program of ours.
func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// long skips what takes seconds, and needs no race detector: what runs is
// another program.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the real program for a while")
	}
}

// patience ends shortly before the go command would end the test: what is waited for
// may take as long as the machine needs, and a wait in vain still says what for.
func patience(t *testing.T) time.Time {
	t.Helper()
	end, ok := t.Deadline()
	if !ok {
		return time.Now().Add(24 * time.Hour)
	}
	return end.Add(-10 * time.Second)
}

// folder is a short-named folder on a disk: a socket's path must be short, and
// a store in memory is refused.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fm") //nolint:usetesting // said above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
