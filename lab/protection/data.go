package protection

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A Kind says what a recorded run is for.
type Kind string

// The kinds of runs.
const (
	Benign          Kind = "benign"            // the user's task, no injection
	Attack          Kind = "attack"            // the user's task with injected content
	InjectionAsUser Kind = "injection_as_user" // the attacker's goal, asked by the user: in no set
)

// GroundTruth is the model name of runs that were made by executing the known
// right (and the attacker's) calls, without a model.
const GroundTruth = "ground-truth"

// Data is everything one measurement reads.
type Data struct {
	Traces []Trace
	Cards  Cards
	// Texts says how many different texts there are; every [Text.ID] is below
	// it, so work on a text can be kept in a slice.
	Texts int
	// getOnly holds the attacks whose goal is reached by reading a page.
	getOnly map[string]bool
}

// A Text is one recorded text.
type Text struct {
	ID   int32 // equal texts of one Data have equal IDs; -1 is a text of its own
	Body string
}

// A Trace is one recorded run of one agent.
type Trace struct {
	ID        string
	Source    string // the benchmark it comes from: agentdojo, agentdyn
	Model     string
	Suite     string
	Task      string
	Attack    string
	Injection string // the attacker's task; empty where there was no attack
	Kind      Kind
	System    Text
	User      Text   // the user's only message
	Injected  []Text // what the attacker wrote, as it was before a tool reported it
	Steps     []Step
	Utility   bool // the user's task succeeded
	Succeeded bool // the attack succeeded
	// Replayed says whether the attack also succeeded when the calls were
	// executed again. One that did not is left out of every rate.
	Replayed bool
	// Coincident attacks are what the user asked for anyway: in no set.
	Coincident bool
	// Cuts are the smallest sets of calls (numbered over the whole trace) whose
	// removal makes the attacker's goal fail. TextOnly means that no call is
	// needed for the goal.
	Cuts     [][]int
	TextOnly bool

	mutant   Mutation // 0 as it was recorded
	language bool     // one of [Languages]
}

// A Step is one answer of the model: its text and the calls it proposes.
type Step struct {
	Text  Text
	Calls []Call
}

// A Call is one proposed tool call and what came of it.
type Call struct {
	Index  int // its number over the whole trace, from 0
	Tool   string
	Args   json.RawMessage
	Result Text
	// Fed is true if the call was executed and gave a result without an error.
	Fed bool
	// Failed is true if what it gave is an error text. Recorded ones are not
	// fed; mutants have some.
	Failed bool
}

// GetOnly reports whether the attack in t needs nothing but reading a page.
func (d *Data) GetOnly(t *Trace) bool { return d.getOnly[t.Suite+"/"+t.Injection] }

// A Set names one of the subsets that figures are given for.
type Set string

// The sets. Of the harder benchmark, runs of even-numbered user tasks are for
// development and runs of odd-numbered ones are held out.
const (
	AgentDojoRecorded       Set = "agentdojo-recorded"
	AgentDojoGroundTruth    Set = "agentdojo-ground-truth"
	AgentDynRecordedDev     Set = "agentdyn-recorded-dev"
	AgentDynRecordedTest    Set = "agentdyn-recorded-test"
	AgentDynGroundTruthDev  Set = "agentdyn-ground-truth-dev"
	AgentDynGroundTruthTest Set = "agentdyn-ground-truth-test"
)

// Sets returns every set, in the order they are printed.
func Sets() []Set {
	return []Set{
		AgentDojoRecorded, AgentDojoGroundTruth,
		AgentDynRecordedDev, AgentDynRecordedTest,
		AgentDynGroundTruthDev, AgentDynGroundTruthTest,
	}
}

// HeldOut reports whether s may not be looked into while rules are written.
func (s Set) HeldOut() bool { return s == AgentDynRecordedTest || s == AgentDynGroundTruthTest }

// Set returns the set t belongs to, or false if it belongs to none.
func (t *Trace) Set() (Set, bool) {
	if t.Kind == InjectionAsUser || t.Coincident || t.Kind == Attack && t.Succeeded && !t.Replayed {
		return "", false
	}
	if t.language {
		return Languages, true
	}
	truth := t.Model == GroundTruth
	if t.Source == "agentdojo" {
		if truth {
			return AgentDojoGroundTruth, true
		}
		return AgentDojoRecorded, true
	}
	dev := t.even()
	switch {
	case truth && dev:
		return AgentDynGroundTruthDev, true
	case truth:
		return AgentDynGroundTruthTest, true
	case dev:
		return AgentDynRecordedDev, true
	}
	return AgentDynRecordedTest, true
}

// even reports whether the user task has an even number. The loader has
// checked that it has one.
func (t *Trace) even() bool {
	n, ok := taskNumber(t.Task)
	return ok && n%2 == 0
}

func taskNumber(task string) (int, bool) {
	_, digits, ok := strings.Cut(task, "_task_")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0
}
