package truth

import (
	"flag"
	"os"
	"testing"
)

// The size of a run. The defaults are the gate's.
var (
	try = flag.String("try", "", "run this `LINE` and print what it did")
)

func TestMain(m *testing.M) {
	if root := os.Getenv(workerVariable); root != "" {
		os.Exit(work(root))
	}
	flag.Parse()
	os.Exit(m.Run())
}

func TestTry(t *testing.T) {
	if *try == "" {
		t.Skip("no line to try")
	}
	w, err := startWorker()
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	a, err := w.run(*try, lineTime)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("RAW") != "" {
		t.Log(a.Trace)
	}
	t.Logf("exit %d, timed out %t\n%s", a.Exit, a.TimedOut, a.Output)
	for _, e := range effectsOf(a.Trace) {
		t.Log(e)
	}
}
