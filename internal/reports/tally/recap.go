package tally

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/report"
)

// A Fate is what happened to a call that was not simply allowed, or what would have happened to it
// without a pause or the observe mode.
type Fate string

// The fates, the most serious first.
const (
	Stopped   Fate = "stopped"
	Asked     Fate = "asked"
	Contained Fate = "contained"
)

// A Deed is a call that was made once or several times, with its fate.
type Deed struct {
	Fate Fate `json:"fate"`
	// Would says that the call was allowed nevertheless, because the owner observed or had paused.
	Would bool `json:"would"`
	// What is the command, or the tool with its important arguments.
	What string `json:"what"`
	// Why and Rule say why the call was not simply allowed.
	Why  string `json:"why,omitempty"`
	Rule string `json:"rule,omitempty"`
	// Behind are the sources that were blamed.
	Behind []string `json:"behind,omitempty"`
	Secret bool     `json:"secret,omitempty"` // a secret would have left
	// Blamed are the same sources in all the times, each content once.
	Blamed []floodmark.Source `json:"-"`
	// Key says that the call only looks at keys or passwords on this machine.
	Key bool `json:"-"`
	// Grave says what else would have been lasting harm, or "": see [grave]. By is who refused the
	// call, if a person did.
	Grave string `json:"-"`
	By    string `json:"-"`
	// Code is that of the reason in Why.
	Code floodmark.Code `json:"-"`
	// Times is how often the call was made, in the given Sessions and between First and Last.
	Times    int       `json:"times"`
	Sessions []string  `json:"sessions"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
}

// A Recap lists what was stopped, asked about and run in a box, or would have been.
type Recap struct {
	Since     time.Time `json:"since,omitzero"`
	Sessions  int       `json:"sessions"`
	Decisions int       `json:"decisions"`
	Deeds     []Deed    `json:"deeds"`
}

// Recall returns the fates of the calls of some sessions since a time. Stopped calls come first,
// within a fate those with a secret, and then the most frequent ones.
func Recall(sessions []Session, since time.Time) (*Recap, error) {
	out := &Recap{Since: since, Deeds: []Deed{}}
	at := map[string]int{}
	for _, s := range sessions {
		state, counted, said := kernel.NewState(), false, newRefusals()
		if s.Erased != nil {
			state = kernel.Forgotten(*s.Erased)
		}
		for _, f := range s.Facts {
			d, ok := f.Fact.(floodmark.ActionDecided)
			if ok && !f.At.Before(since) {
				out.Decisions++
				counted = true
				out.add(at, s.Name, f.At, d, state, said)
			}
			said.take(f.Fact)
			if err := state.Apply(f.Fact); err != nil {
				return nil, err
			}
		}
		if counted {
			out.Sessions++
		}
	}
	slices.SortStableFunc(out.Deeds, func(a, b Deed) int {
		return cmp.Or(cmp.Compare(gravity(a), gravity(b)), cmp.Compare(b.Times, a.Times), a.First.Compare(b.First))
	})
	return out, nil
}

// gravity returns the rank of a deed by its fate, Would and Secret; the most serious have the
// lowest.
func gravity(d Deed) int {
	n := slices.Index([]Fate{Stopped, Asked, Contained}, d.Fate) * 4
	if !d.Would {
		n += 2
	}
	if !d.Secret {
		n++
	}
	return n
}

func (r *Recap) add(at map[string]int, session string, when time.Time, f floodmark.ActionDecided, state *kernel.State, said refusals) {
	d := Deed{What: What(&f.Action)}
	var ok bool
	if d.Fate, d.Would, ok = fate(f); !ok {
		return
	}
	key := string(d.Fate) + "\x00" + d.What
	if d.Would {
		key += "\x00would"
	}
	i, known := at[key]
	if !known {
		for _, reason := range f.Decision.Reasons {
			if reason.Verdict < floodmark.Allow && d.Rule == "" {
				d.Rule, d.Why, d.Code = cmp.Or(reason.Rule, string(reason.Code)), reason.Text, reason.Code
			}
			d.Secret = d.Secret || reason.Code == floodmark.FlowSecret
		}
		if d.Rule == "" && len(f.Decision.Reasons) > 0 {
			last := f.Decision.Reasons[len(f.Decision.Reasons)-1]
			d.Rule, d.Why = cmp.Or(last.Rule, string(last.Code)), last.Text
		}
		d.Behind, d.First = report.Retell(&state.Ledger, f).Sources, when
		d.Key = !d.Secret && looksAtKey(f)
		if !d.Would {
			d.Grave, d.By = grave(f), said.of(f)
		}
		i = len(r.Deeds)
		at[key], r.Deeds = i, append(r.Deeds, d)
	}
	one := &r.Deeds[i]
	if one.Times++; !slices.Contains(one.Sessions, session) {
		one.Sessions = append(one.Sessions, session)
	}
	one.Last = when
	for _, n := range f.Decision.Blame {
		if src, ok := state.Ledger.Source(n); ok && !slices.ContainsFunc(one.Blamed, func(s floodmark.Source) bool { return s.Digest == src.Digest && s.Origin == src.Origin }) {
			one.Blamed = append(one.Blamed, src)
		}
	}
}

// looksAtKey reports whether a call reads a path of secrets, and does nothing else by which they
// would leave.
func looksAtKey(f floodmark.ActionDecided) bool {
	b, effects := f.Basis, f.Action.Effects
	return b != nil && b.SecretPath && !b.Network && len(effects) > 0 &&
		!slices.ContainsFunc(effects, func(e floodmark.Effect) bool { return e != floodmark.Observe })
}

// fate returns the fate of a call of a tool or of an answer to others, whether it is only what
// would have happened, and whether there is one.
func fate(f floodmark.ActionDecided) (Fate, bool, bool) {
	if f.Action.Kind == floodmark.CallModel {
		return "", false, false
	}
	word, would := f.Decision.Word(), f.Decision.Would != ""
	if would {
		word = f.Decision.Would
	}
	switch word {
	case floodmark.Restrict.String():
		return Stopped, would, true
	case floodmark.Confirm.String(), floodmark.Audit.String():
		return Asked, would, true
	case floodmark.Contain:
		return Contained, would, true
	}
	return "", false, false
}

// maxWhat bounds the characters of a call in a line.
const maxWhat = 160

// What returns a short form of a call: the command, or the tool and its important arguments,
// without content and secrets.
func What(a *floodmark.Action) string {
	var said []string
	does := ""
	for _, arg := range a.Arguments {
		if arg.Role != floodmark.Content && arg.Shown != "" && arg.Path != floodmark.CommandAddress {
			if one := strings.Join(strings.Fields(listed(arg.Shown)), " "); arg.Path == "action" {
				does = " " + one // what the tool does, and no destination
			} else {
				said = append(said, one)
			}
		}
	}
	name := a.Tool.Name
	if a.Tool.Server != "" {
		name = a.Tool.Server + "/" + name
	}
	switch {
	case a.Kind == floodmark.SendReply:
		return "an answer to others"
	case len(said) == 1 && a.Arguments[0].Path == "command":
		return floodmark.Shorten(said[0], maxWhat)
	}
	return floodmark.Shorten(strings.TrimSpace(name+does+" "+strings.Join(said, ", ")), maxWhat)
}

// listed returns a list of texts without the signs of JSON, and any other text as it is.
func listed(shown string) string {
	var list []string
	if strings.HasPrefix(shown, `["`) && json.Unmarshal([]byte(shown), &list) == nil {
		return strings.Join(list, ", ")
	}
	return shown
}
