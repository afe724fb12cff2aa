package condition

import (
	"math"
	"slices"
	"strconv"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// celArgument is what a condition sees of where one argument came from.
type celArgument struct {
	Stated bool  `cel:"stated"`
	Seen   bool  `cel:"seen"`
	Trust  int64 `cel:"trust"`
}

// celSource is what a condition sees of one source.
type celSource struct {
	Kind  string `cel:"kind"`
	Tool  string `cel:"tool"`
	Trust int64  `cel:"trust"`
	Place string `cel:"place"`
}

// variables answers the CEL library's questions from a Question, one by one,
// so that nothing is built that no condition mentions.
type variables struct {
	q      *Question
	source string // the name of the source that is asked about; empty if none is
}

// ResolveName returns the value of a variable.
func (v variables) ResolveName(name string) (any, bool) {
	if read, ok := textVariable(name); ok {
		return read(v.q), true
	}
	if read, ok := numberVariable(name); ok {
		return read(v.q), true
	}
	if name == v.source {
		return celSourceOf(v.q.about.origin, v.q.about.trust), true
	}
	switch name {
	case "call.args":
		args := make(map[string]any, len(v.q.Leaves))
		for _, l := range v.q.Leaves {
			if _, twice := args[l.Path]; twice {
				args[l.Path] = types.NewErr("two arguments have the path %s", l.Path)
				continue
			}
			args[l.Path] = leafValue(l)
		}
		return args, true
	case "arg":
		args := make(map[string]any, len(v.q.Args))
		for _, a := range v.q.Args {
			if _, twice := args[a.Path]; twice {
				args[a.Path] = types.NewErr("two arguments have the path %s", a.Path)
				continue
			}
			args[a.Path] = celArgument{Stated: a.Whence == floodmark.Stated, Seen: a.Whence == floodmark.Seen, Trust: int64(a.Trust)}
		}
		return args, true
	case "sources":
		sources := []celSource{}
		v.q.Sources.each(func(o *floodmark.Origin, trust floodmark.Trust) { sources = append(sources, celSourceOf(o, trust)) })
		return sources, true
	}
	return nil, false
}

func celSourceOf(o *floodmark.Origin, trust floodmark.Trust) celSource {
	return celSource{Kind: string(o.Kind), Tool: toolOf(o), Trust: int64(trust), Place: o.Place}
}

// Parent is nil: there are no other variables.
func (v variables) Parent() cel.Activation { return nil }

// textVariable returns how a text variable is read.
func textVariable(name string) (func(*Question) string, bool) {
	switch name {
	case "agent":
		return func(q *Question) string { return floodmark.Program(q.Agent) }, true
	case "call.agent":
		return func(q *Question) string { return floodmark.Program(q.Tool.Agent) }, true
	case "call.server":
		return func(q *Question) string { return q.Tool.Server }, true
	case "call.tool":
		return func(q *Question) string { return q.Tool.Name }, true
	case "call.effect":
		return func(q *Question) string { return q.effect().String() }, true
	}
	return nil, false
}

// effect returns the most guarded effect of the call.
func (q *Question) effect() floodmark.Effect {
	if len(q.Effects) == 0 {
		return floodmark.Admin
	}
	return slices.Min(q.Effects)
}

// numberVariable returns how a number variable is read.
func numberVariable(name string) (func(*Question) int64, bool) {
	switch name {
	case "mark.trust":
		return func(q *Question) int64 { return int64(q.Mark.Trust) }, true
	case "mark.secrecy":
		return func(q *Question) int64 { return int64(q.Mark.Secrecy) }, true
	case "trust":
		return func(q *Question) int64 { return int64(q.Trust) }, true
	case "iteration":
		return func(q *Question) int64 { return int64(q.Iteration) }, true
	case "turn":
		return func(q *Question) int64 { return int64(q.Turn) }, true
	}
	return nil, false
}

// leafValue returns an argument as CEL sees it.
func leafValue(l hook.Leaf) any {
	switch l.Kind {
	case hook.Bool:
		return l.Value == "true"
	case hook.Null:
		return types.NullValue
	case hook.Number:
		if n, err := strconv.ParseInt(l.Value, 10, 64); err == nil {
			return n
		}
		f, err := strconv.ParseFloat(l.Value, 64)
		if err != nil {
			return math.NaN()
		}
		return f
	case hook.String:
	}
	return l.Value
}
