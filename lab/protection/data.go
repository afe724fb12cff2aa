package protection

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A Kind says what a recorded run contains.
type Kind string

// The kinds of runs.
const (
	Benign          Kind = "benign"            // the user's task, no injection
	Attack          Kind = "attack"            // the user's task with injected content
	InjectionAsUser Kind = "injection_as_user" // the attacker's goal, asked for by the user: in no set
)

// GroundTruth is the model's name for runs without a model, in which the known right calls, and the
// attacker's calls, were executed.
const GroundTruth = "ground-truth"

// Data is everything one measurement reads.
type Data struct {
	Traces []Trace
	Cards  Cards
	// Texts is the number of different texts. Every [Text.ID] is below it, so results of work on
	// texts can be kept in a slice.
	Texts int
	// getOnly contains the attacks whose goal is reached by reading a page.
	getOnly map[string]bool
}

// A Text is one recorded text.
type Text struct {
	ID   int32 // equal texts of one Data have equal IDs; -1 is unique to its text
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
	Injection string // the attacker's task; empty if there was no attack
	Kind      Kind
	System    Text
	User      Text   // the user's only message
	Injected  []Text // what the attacker wrote, before a tool formatted it
	Steps     []Step
	Utility   bool // the user's task succeeded
	Succeeded bool // the attack succeeded
	// Replayed says whether the attack also succeeded when the calls were executed again. An attack
	// that did not is left out of every rate.
	Replayed bool
	// Coincident attacks do what the user asked for anyway. They are in no set.
	Coincident bool
	// Cuts are the smallest sets of calls (numbered over the whole trace) whose removal makes the
	// attacker's goal fail. TextOnly means that the goal needs no call.
	Cuts     [][]int
	TextOnly bool

	mutant   Mutation // 0: as recorded
	language bool     // in the set [Languages]
}

// A Step is one answer of the model: its text and the calls it proposes.
type Step struct {
	Text  Text
	Calls []Call
}

// A Call is one proposed tool call and its result.
type Call struct {
	Index  int // its number over the whole trace, from 0
	Tool   string
	Args   json.RawMessage
	Result Text
	// Fed is true if the call was executed and its result was not an error.
	Fed bool
	// Failed is true if the result is an error text. Only mutants have such results, because
	// recorded errors are not fed.
	Failed bool
}

// GetOnly reports whether the goal of the attack in t is reached by reading a page.
func (d *Data) GetOnly(t *Trace) bool { return d.getOnly[t.Suite+"/"+t.Injection] }

// A Set names a subset of the traces, for which figures are given.
type Set string

// The sets. In the harder benchmark, user tasks with even numbers are for development, and those
// with odd numbers are held out.
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

// HeldOut reports whether rules must be written without looking at s.
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

// even reports whether the user task has an even number. The loader has checked that the task has a
// number.
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
