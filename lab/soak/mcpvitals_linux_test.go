package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A mcpSample holds the vital figures of one program at one moment.
type mcpSample struct {
	at         float64 // minutes since the start of the watch
	goroutines float64
	heap       float64 // MB in use after a collection
	rss        float64 // MB
	files      float64
	zombies    int
	cpu        float64 // seconds so far
}

// watch takes samples of the three programs until ctx ends.
func (w *mcpWorld) watch(ctx context.Context) map[string][]mcpSample {
	all := map[string][]mcpSample{}
	began := time.Now()
	for ctx.Err() == nil {
		rest(ctx, min(2*time.Second, *mcpTime/20))
		for name, r := range map[string]*running{"monitor": w.monitor, "gateway": w.together.running, "gatewayAlone": w.alone.running} {
			s, err := w.sample(name, r.cmd.Process.Pid)
			if err != nil {
				w.t.Errorf("%s: %v", name, err)
				continue
			}
			s.at = time.Since(began).Minutes()
			all[name] = append(all[name], s)
		}
	}
	return all
}

func (w *mcpWorld) sample(name string, pid int) (mcpSample, error) {
	var said struct{ Goroutines, Heap float64 }
	data, err := os.ReadFile(w.vitals(name))
	if err == nil {
		err = json.Unmarshal(data, &said)
	}
	if err != nil {
		return mcpSample{}, err
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return mcpSample{}, err
	}
	s := mcpSample{goroutines: said.Goroutines, heap: said.Heap / 1e6, files: float64(len(files)), rss: rssOf(pid), cpu: cpuOf(pid)}
	for _, child := range childrenOf(pid) {
		if stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child)); strings.Contains(string(stat), ") Z ") {
			s.zombies++
		}
	}
	return s, nil
}

// rssOf returns the resident memory of a process in MB, or 0 if the process has ended.
func rssOf(pid int) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindStringSubmatch(string(status))
	if found == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(found[1], 64)
	return n / 1000
}

// cpuOf returns the computing time of a process in seconds, or 0 if the process has ended.
func cpuOf(pid int) float64 {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

// A mcpFlat says how a figure developed after the warm-up: a line through its samples, and how much
// the line may rise.
type mcpFlat struct {
	First     float64 `json:"first"`
	Mean      float64 `json:"mean"`
	Last      float64 `json:"last"`
	Most      float64 `json:"most"`
	PerMinute float64 `json:"slopePerMinute"`
	Rise      float64 `json:"rise"`      // of the line, from the first sample to the last
	Limit     float64 `json:"riseLimit"` // the most that Rise may be
}

// warmUp is the least part of a run in which clients connect and caches fill. It lasts longer if
// not all clients have connected by then, but at most until mostWarm of the run.
const (
	warmUp   = 0.4
	mostWarm = 0.67
)

// flat fits a line through the samples after the warm-up. A rise of a tenth of the mean, or of
// little if that is more, may come from clients that connect and disconnect.
func flat(samples []mcpSample, warm float64, of func(mcpSample) float64, little float64) mcpFlat {
	samples = samples[int(float64(len(samples))*warm):]
	var f mcpFlat
	var n, x, y, xx, xy float64
	for _, s := range samples {
		v := of(s)
		n, x, y, xx, xy = n+1, x+s.at, y+v, xx+s.at*s.at, xy+s.at*v
		f.Most = max(f.Most, v)
	}
	if n < 3 {
		return f
	}
	f.First, f.Last, f.Mean = of(samples[0]), of(samples[len(samples)-1]), y/n
	f.PerMinute = (n*xy - x*y) / (n*xx - x*x)
	f.Rise = f.PerMinute * (samples[len(samples)-1].at - samples[0].at)
	f.Limit = max(f.Mean/10, little)
	return f
}

// A mcpProgram holds the figures of one program.
type mcpProgram struct {
	Goroutines mcpFlat `json:"goroutines"`
	HeapMB     mcpFlat `json:"heapMBAfterCollection"`
	RSSMB      mcpFlat `json:"residentMB"`
	Files      mcpFlat `json:"openFiles"`
	Samples    int     `json:"samples"`
	CPUSeconds float64 `json:"cpuSeconds"`
}

// mcpFigures are the published figures of a run.
type mcpFigures struct {
	Commit          string                `json:"commit"`
	Go              string                `json:"go"`
	Cores           int                   `json:"cores"`
	Load            string                `json:"loadAtTheEnd"`
	Seed            uint64                `json:"seed"`
	Seconds         int                   `json:"seconds"`
	Clients         int                   `json:"clientsOfSharedServers"`
	SharedServers   int                   `json:"sharedServers"`
	ClientsAlone    int                   `json:"clientsWithServersOfTheirOwn"`
	OwnServers      int                   `json:"serversOfEachOfThose"`
	Sessions        int                   `json:"sessionsBegun"`
	Calls           int                   `json:"calls"`
	Definitions     int                   `json:"definitionsAccepted"`
	Kills           int                   `json:"kills"`
	Waiting         int                   `json:"killsWhoseWaitingCallGotTheError"`
	Others          int                   `json:"killsAfterWhichOthersWentOn"`
	Again           int                   `json:"killsAfterWhichTheServerCameAgain"`
	Expected        int                   `json:"otherErrorsThatNamedAKilledServer"`
	Unjudged        int                   `json:"callsRefusedBecauseTheMonitorWasTooSlow"`
	SlowestCall     float64               `json:"slowestCallSeconds"`
	SlowestComingIn float64               `json:"slowestComingInSeconds"`
	SlowestAgain    float64               `json:"slowestReturnAfterAKillSeconds"`
	WarmUp          float64               `json:"warmUpPart"`
	Programs        map[string]mcpProgram `json:"programs"`
	PerClient       float64               `json:"gatewayHeapKBPerClient"`
	GoroutinesAfter float64               `json:"goroutinesOfBothGatewaysWithoutClients"`
	StopSeconds     float64               `json:"stopSeconds"`
	ChildrenBefore  int                   `json:"serversRunningBeforeTheStop"`
	ChildrenLeft    int                   `json:"processesLeftAfterTheStop"`
}

// figures returns the figures of the run. It fails the test if a goal is not met.
func (w *mcpWorld) figures(samples map[string][]mcpSample, began time.Time, lasted time.Duration) *mcpFigures {
	c := &w.counts
	warm := max(warmUp, float64(c.allIn.Sub(began))/float64(lasted))
	long := lasted > 2*time.Minute // a shorter run says nothing about a slope
	if long && (c.allIn.IsZero() || warm > mostWarm) {
		w.t.Errorf("%d clients had come in, the last at %v", len(c.in), c.allIn.Sub(began))
	}
	warm = min(warm, mostWarm)
	if long && c.unjudged*20 > c.calls {
		w.t.Errorf("%d of %d calls were not judged in time", c.unjudged, c.calls)
	}
	load, _ := os.ReadFile("/proc/loadavg") // empty if it cannot be read
	seconds := func(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
	f := &mcpFigures{
		Commit: w.commit, Go: runtime.Version(), Cores: runtime.NumCPU(), Load: strings.TrimSpace(string(load)), Seed: *seed, Seconds: int(lasted.Seconds()),
		Clients: *mcpClients, SharedServers: len(w.together.servers), ClientsAlone: *mcpAlone, OwnServers: len(w.alone.servers),
		Sessions: c.lives, Calls: c.calls, Definitions: c.definitions, Kills: c.kills, Waiting: c.waiting, Others: c.others, Again: c.again,
		Expected: c.expected, SlowestCall: seconds(c.slowest), SlowestComingIn: seconds(c.tookToConnect), SlowestAgain: seconds(c.tookAgain),
		Unjudged: c.unjudged, WarmUp: warm, Programs: map[string]mcpProgram{},
	}
	for name, list := range samples {
		p := mcpProgram{
			Samples: len(list), CPUSeconds: list[len(list)-1].cpu - list[0].cpu,
			Goroutines: flat(list, warm, func(s mcpSample) float64 { return s.goroutines }, 60),
			HeapMB:     flat(list, warm, func(s mcpSample) float64 { return s.heap }, 8),
			RSSMB:      flat(list, warm, func(s mcpSample) float64 { return s.rss }, 60),
			Files:      flat(list, warm, func(s mcpSample) float64 { return s.files }, 30),
		}
		f.Programs[name] = p
		for what, line := range map[string]mcpFlat{"goroutines": p.Goroutines, "heap": p.HeapMB, "memory": p.RSSMB, "files": p.Files} {
			if long && line.Rise > line.Limit {
				w.t.Errorf("%s: %s rise by %.1f after the warm-up (from %.1f to %.1f), at most %.1f", name, what, line.Rise, line.First, line.Last, line.Limit)
			}
		}
	}
	f.PerClient = f.Programs["gateway"].HeapMB.Mean * 1000 / float64(*mcpClients)
	if c.kills > 0 && (c.waiting != c.kills || c.others != c.kills || c.again != c.kills) {
		w.t.Errorf("%d kills: %d errors to who waited, %d others went on, %d came again", c.kills, c.waiting, c.others, c.again)
	}
	return f
}

// end stops the gateways, which must leave no process behind, and then the monitor.
func (w *mcpWorld) end(f *mcpFigures) {
	time.Sleep(5 * time.Second) // until the last clients have gone
	for name, g := range map[string]*mcpGateway{"gateway": w.together, "gatewayAlone": w.alone} {
		s, err := w.sample(name, g.cmd.Process.Pid)
		if err != nil || s.zombies > 0 {
			w.t.Errorf("%s: %d children were not reaped, %v", name, s.zombies, err)
		}
		f.GoroutinesAfter += s.goroutines
	}
	f.ChildrenBefore = len(w.marked())
	began := time.Now()
	for _, g := range []*mcpGateway{w.together, w.alone} {
		if err := g.stop(); err != nil {
			w.t.Error(err)
		}
	}
	f.StopSeconds = time.Since(began).Seconds()
	if f.ChildrenLeft = len(w.marked()); f.ChildrenLeft > 0 {
		w.t.Errorf("%d processes are left: %v", f.ChildrenLeft, w.marked())
	}
	if err := w.monitor.stop(); err != nil {
		w.t.Error(err)
	}
}

// marked returns the processes of all servers, which have our folder in their command lines.
func (w *mcpWorld) marked() []string {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var list []string
	for _, line := range lines {
		text, _ := os.ReadFile(line) // the process may have ended
		if strings.Contains(string(text), w.dir) && !strings.Contains(string(text), "--dir") {
			list = append(list, filepath.Base(filepath.Dir(line)))
		}
	}
	return list
}
