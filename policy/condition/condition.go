// Package condition decides when a rule of a policy applies: it compiles the CEL expression of the
// rule and evaluates it for a call.
package condition

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/format/yamlplace"
	"github.com/floodmark/floodmark/internal/text/spelling"
	"github.com/floodmark/floodmark/policy/policyfile"
)

// The limits of a condition. The cost is CEL's own measure. A condition over the
// limit is taken for true.
const (
	maxCost    = 100_000
	maxNesting = 64
	maxRegex   = 2000 // instructions of a compiled pattern
	// maxPatterns bounds the instructions of all patterns of a policy, which are kept.
	maxPatterns = 50_000
	// MaxConditions bounds the bytes of all conditions in CEL of a policy: each is
	// parsed, checked and kept, at up to 50 µs a byte.
	MaxConditions = 64 << 10
)

// A truth is the outcome of a condition. Besides true and false CEL has a third one, the error.
type truth uint8

const (
	no truth = iota
	yep
	failed
)

// A Condition decides whether a rule applies. The zero Condition is true for every question.
type Condition struct {
	eval func(*Question) truth
	// NeedsCall: it mentions the tool call, so it cannot be answered at a model call.
	// NeedsArgs: it mentions what may differ between two calls of the same tool.
	// byEffect: it mentions what the call does.
	NeedsCall, NeedsArgs, byEffect bool
	// values are the paths of the arguments whose values it looks at. anyValue says
	// that it may look at the values of all arguments.
	values   []string
	anyValue bool
	compiled bool // by us, not by the CEL library
}

// Holds reports whether the rule applies to the call, or to a call with only one of its effects,
// so that no rule is avoided by a further effect. An error is taken for true: rules only tighten.
func (c *Condition) Holds(q *Question) bool {
	return c.eval == nil || c.eval(q) != no || c.byEffect && slices.ContainsFunc(q.Effects, func(e floodmark.Effect) bool {
		one := *q
		one.Effects = []floodmark.Effect{e}
		return c.eval(&one) != no
	})
}

// Blind reports whether the condition looks at a value that was not recorded.
func (c *Condition) Blind(q *Question) bool {
	return len(q.Unkept) > 0 && (c.anyValue || slices.ContainsFunc(c.values, func(path string) bool { return slices.Contains(q.Unkept, path) }))
}

// A Set compiles the conditions of one policy. Building the environment is slow, so that it is
// built once, and only if a policy has a CEL rule.
type Set struct {
	env      *cel.Env
	patterns int // instructions of the patterns that were read
	bytes    int // of the conditions that were read
}

func (cs *Set) environment() *cel.Env {
	if cs.env != nil {
		return cs.env
	}
	// Time zones would be read from the disk, and rules have no times.
	subset := env.NewLibrarySubset()
	for _, name := range timeFunctions() {
		subset.AddExcludedFunctions(env.NewFunction(name))
	}
	opts := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(subset)), cel.ASTValidators(cel.ValidateRegexLiterals()),
		cel.Types(
			cel.NativeTypeFor[celArgument](cel.NativeTypeAlias("argument"), types.ParseStructTags(true)),
			cel.NativeTypeFor[celSource](cel.NativeTypeAlias("source"), types.ParseStructTags(true)),
		),
		cel.ParserRecursionLimit(maxNesting), cel.ParserExpressionSizeLimit(policyfile.MaxCondition),
		cel.RegexProgramSizeLimit(maxRegex), cel.CrossTypeNumericComparisons(true),
		cel.Variable("call.args", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("arg", cel.MapType(cel.StringType, cel.ObjectType("argument"))),
		cel.Variable("sources", cel.ListType(cel.ObjectType("source"))),
	}
	for _, name := range textVariables() {
		opts = append(opts, cel.Variable(name, cel.StringType))
	}
	for _, name := range numberVariables() {
		opts = append(opts, cel.Variable(name, cel.IntType))
	}
	for name, n := range constants() {
		opts = append(opts, cel.Constant(name, cel.IntType, types.Int(n)))
	}
	made, err := cel.NewCustomEnv(opts...)
	if err != nil {
		panic(fmt.Sprintf("policy: conditions: %v", err)) // our own tables do not fit together
	}
	cs.env = made
	return made
}

func timeFunctions() []string {
	return []string{
		"timestamp", "getFullYear", "getMonth", "getDayOfYear", "getDayOfMonth", "getDate", "getDayOfWeek", "getHours",
		"getMinutes", "getSeconds", "getMilliseconds",
	}
}

func textVariables() []string {
	return []string{"agent", "call.agent", "call.server", "call.tool", "call.effect"}
}

func numberVariables() []string {
	return []string{"mark.trust", "mark.secrecy", "trust", "iteration", "turn"}
}

// constants returns the words of trust and secrecy, as numbers that can be compared.
func constants() map[string]int64 {
	out := map[string]int64{}
	for t := floodmark.Untrusted; t <= floodmark.System; t++ {
		out[t.String()] = int64(t)
	}
	for s := floodmark.Secret; s <= floodmark.Public; s++ {
		out[s.String()] = int64(s)
	}
	return out
}

// Compile reads a rule's condition in either form.
func Compile(r *policyfile.Reader, n *yaml.Node, cs *Set) (Condition, bool) {
	if n.Kind == yaml.MappingNode {
		return shortForm(n), true
	}
	if cs.patterns > maxPatterns || cs.bytes > MaxConditions {
		return Condition{}, false // the limit was reported before, and the rest would take long to read
	}
	if cs.bytes += len(n.Value); cs.bytes > MaxConditions {
		r.Fault(n, "condition", fmt.Sprintf("the conditions of this policy have more than %d bytes together", MaxConditions),
			"write fewer or shorter ones; one rule can name many tools, and toolOverrides or conditions without CEL are not counted")
		return Condition{}, false
	}
	e := cs.environment()
	parsed, issues := e.Parse(n.Value)
	if issues.Err() != nil {
		noteProblems(r, n, issues.Errors())
		return Condition{}, false
	}
	if cs.patterns += patternsOf(parsed.NativeRep()); cs.patterns > maxPatterns {
		r.Fault(n, "condition", "the patterns of this policy are too large together", "write fewer, or repeat less in them, as in {10}")
		return Condition{}, false
	}
	checked, issues := e.Check(parsed)
	if issues.Err() != nil {
		noteProblems(r, n, issues.Errors())
		return Condition{}, false
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		r.Fault(n, "condition", "the condition is not a question", "it should be true or false; compare something, as in mark.trust <= external")
		return Condition{}, false
	}
	checkCompared(r, n, checked.NativeRep())
	c := dependsOn(checked.NativeRep())
	var plan planner
	if mentions(checked.NativeRep().Expr(), "sources") {
		plan = planned(e, checked.NativeRep())
	}
	if compiled, ok := compile(checked.NativeRep(), plan); ok {
		c.eval, c.compiled = compiled, true
		return c, true
	}
	var err error
	if c.eval, err = celEval(e, checked); err != nil {
		r.Fault(n, "condition", "the condition cannot be used: "+cleanCEL(err.Error()), "")
		return Condition{}, false
	}
	return c, true
}

// celEval lets the CEL library answer a condition.
func celEval(e *cel.Env, checked *cel.Ast) (func(*Question) truth, error) {
	eval, err := planned(e, checked.NativeRep())(checked.NativeRep().Expr())
	return func(q *Question) truth { return truthFrom(eval(variables{q: q})) }, err
}

// planned lets the CEL library answer parts of a condition.
func planned(e *cel.Env, checked *ast.AST) planner {
	return func(part ast.Expr) (func(variables) (ref.Val, error), error) {
		program, err := e.PlanProgram(ast.NewCheckedAST(ast.NewAST(part, checked.SourceInfo()), checked.TypeMap(), checked.ReferenceMap()),
			cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize))
		if err != nil {
			return nil, err
		}
		return func(v variables) (ref.Val, error) {
			out, _, err := program.Eval(v)
			return out, err
		}, nil
	}
}

// truthFrom reads what the library answers to a question.
func truthFrom(out ref.Val, err error) truth {
	switch {
	case err == nil && out == types.True:
		return yep
	case err == nil && out == types.False:
		return no
	}
	return failed
}

// shortForm reads the RFC's words. All given conditions must hold.
func shortForm(n *yaml.Node) Condition {
	var levels []floodmark.Trust
	for _, w := range policyfile.Strings(policyfile.Value(n, "context_taint_includes")) {
		if t, err := floodmark.ParseTrust(w); err == nil {
			levels = append(levels, t)
		}
	}
	round := policyfile.Number(policyfile.Value(n, "iteration_gte"))
	return Condition{compiled: true, eval: func(q *Question) truth {
		if q.Iteration < round {
			return no
		}
		if len(levels) == 0 || slices.ContainsFunc(levels, q.contains) {
			return yep
		}
		return no
	}}
}

// contains reports whether the context has content of a level. It also looks at the mark, in case
// the levels are unknown.
func (q *Question) contains(t floodmark.Trust) bool { return q.Levels.Has(t) || q.Mark.Trust == t }

// dependsOn looks for what a condition depends on.
func dependsOn(a *ast.AST) Condition {
	var c Condition
	c.values, c.anyValue = valuesOf(a)
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.IdentKind {
			return
		}
		name := e.AsIdent()
		c.byEffect = c.byEffect || name == "call.effect"
		c.NeedsCall = c.NeedsCall || strings.HasPrefix(name, "call.") || name == "arg" || name == "trust"
		c.NeedsArgs = c.NeedsArgs || c.byEffect || name == "call.args" || name == "arg" || name == "trust"
	}))
	return c
}

// patternsOf returns how many instructions the patterns in a condition have.
func patternsOf(a *ast.AST) (size int) {
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "matches" || len(e.AsCall().Args()) == 0 {
			return
		}
		args := e.AsCall().Args()
		text, ok := constantText(args[len(args)-1])
		if !ok {
			return
		}
		if parsed, err := syntax.Parse(text, syntax.Perl); err == nil {
			if program, err := syntax.Compile(parsed.Simplify()); err == nil {
				size += len(program.Inst)
			}
		}
	}))
	return size
}

// valuesOf returns the arguments whose values a condition looks at. anyOf means that it may look at
// all, because it uses call.args in another way than with a constant name.
func valuesOf(a *ast.AST) (paths []string, anyOf bool) {
	const mapping = "call.args"
	named, all := 0, 0
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			if e.AsIdent() == mapping {
				all++
			}
		case ast.SelectKind:
			if s := e.AsSelect(); isIdent(s.Operand(), mapping) {
				named++
				paths = append(paths, s.FieldName())
			}
		case ast.CallKind:
			if c := e.AsCall(); c.FunctionName() == operators.Index && isIdent(c.Args()[0], mapping) {
				if key, ok := constantText(c.Args()[1]); ok {
					named++
					paths = append(paths, key)
				}
			}
		}
	}))
	return paths, all > named
}

// noteProblems notes what the CEL library found, each at its place in the file.
func noteProblems(r *policyfile.Reader, n *yaml.Node, errs []*common.Error) {
	for i, e := range errs {
		if i == 3 { // the rest follows from the first
			return
		}
		line, column := yamlplace.Find(r.Data, n, e.Location.Line(), e.Location.Column())
		text := cleanCEL(e.Message)
		r.Note(floodmark.Error, line, column, "condition", text, celHint(text, n.Value))
		if strings.Contains(text, "error at: '=") {
			return // the other errors are consequences of this one
		}
	}
}

// cleanCEL takes the library's own words out of a message.
func cleanCEL(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	s = regexp.MustCompile(` \((in container '[^']*'|did you mean '[^']*'\?)\)`).ReplaceAllString(s, "")
	s = strings.ReplaceAll(s, "invalid matches argument", "this pattern is not a regular expression")
	s = regexp.MustCompile(`'_(\S+?)_'`).ReplaceAllString(s, "'$1'")
	s = regexp.MustCompile(`[Ss]yntax error: ([^']*'[^']*').*`).ReplaceAllString(s, "this is not CEL: $1")
	return strings.ReplaceAll(s, "found no matching overload for", "these types do not go together:")
}

// checkCompared checks the words that a condition compares variables with. A rule that
// compares with an unknown effect, or with one agent of a program, never applies.
func checkCompared(r *policyfile.Reader, n *yaml.Node, a *ast.AST) {
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		c := e.AsCall()
		if !slices.Contains([]string{operators.Equals, operators.NotEquals, operators.In}, c.FunctionName()) {
			return
		}
		x, y := c.Args()[0], c.Args()[1]
		if y.Kind() == ast.IdentKind {
			x, y = y, x
		}
		for _, word := range constantTexts(y) {
			text, _ := constantText(word)
			at := a.SourceInfo().GetStartLocation(word.ID())
			line, column := yamlplace.Find(r.Data, n, at.Line(), at.Column())
			switch {
			case isIdent(x, "call.tool"):
				r.MentionAt(text, line, column, false)
			case (isIdent(x, "agent") || isIdent(x, "call.agent")) && floodmark.Program(text) != text:
				r.Note(floodmark.Error, line, column, "one-agent", fmt.Sprintf("agent is the program, so it is never %q", text), "write the rule into a section of its own: agents: {"+text+": {rules: …}}")
			case isIdent(x, "call.effect") && !slices.Contains(policyfile.EffectWords(), text):
				hint := "write one of " + policyfile.OneOf(policyfile.EffectWords())
				if near, ok := spelling.Word(text, policyfile.EffectWords()); ok {
					hint = fmt.Sprintf("did you mean %q? It is one of %s", near, policyfile.OneOf(policyfile.EffectWords()))
				}
				r.Note(floodmark.Warning, line, column, "unknown-word", fmt.Sprintf("%q is not known as an effect, so this is never equal", text), hint)
			}
		}
	}))
}

// constantTexts returns a text, or the texts in a list.
func constantTexts(e ast.Expr) []ast.Expr {
	list := []ast.Expr{e}
	if e.Kind() == ast.ListKind {
		list = slices.Clone(e.AsList().Elements())
	}
	return slices.DeleteFunc(list, func(e ast.Expr) bool {
		_, ok := constantText(e)
		return !ok
	})
}
