package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
)

//go:embed policies/policy.rego
var regoPolicy string

// opaEngine has a prepared query for each tool. The query returns the names of the
// rules that apply, and the lowest of their verdicts is the answer.
type opaEngine struct {
	queries  map[string]*rego.PreparedEvalQuery
	verdicts map[string]floodmark.Verdict
}

// An opaForm is an input in OPA's own values and the query that answers it.
type opaForm struct {
	query *rego.PreparedEvalQuery
	input ast.Value
}

func newOPA() (*opaEngine, error) {
	e := &opaEngine{queries: map[string]*rego.PreparedEvalQuery{}, verdicts: map[string]floodmark.Verdict{}}
	for _, t := range shapes() {
		q, err := prepare("data.floodmark." + t.name)
		if err != nil {
			return nil, err
		}
		e.queries[t.name] = q
	}
	words, err := prepare("data.floodmark.verdicts")
	if err != nil {
		return nil, err
	}
	result, err := words.Eval(context.Background())
	if err != nil {
		return nil, fmt.Errorf("opa: %w", err)
	}
	named, _ := result[0].Expressions[0].Value.(map[string]any)
	for name, word := range named {
		if e.verdicts[name], err = floodmark.ParseVerdict(fmt.Sprint(word)); err != nil {
			return nil, fmt.Errorf("rule %s: %w", name, err)
		}
	}
	return e, nil
}

func prepare(query string) (*rego.PreparedEvalQuery, error) {
	q, err := rego.New(rego.Query(query), rego.Module("policy.rego", regoPolicy)).PrepareForEval(context.Background())
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", query, err)
	}
	return &q, nil
}

func (*opaEngine) name() string { return "opa" }

func (e *opaEngine) build(c *call) form {
	args, arg := ast.NewObject(), ast.NewObject()
	for i, l := range c.leaves {
		a, path := c.args[i], ast.StringTerm(l.Path)
		args.Insert(path, ast.StringTerm(l.Value))
		arg.Insert(path, ast.ObjectTerm(
			ast.Item(ast.InternedTerm("stated"), ast.InternedTerm(a.Whence == floodmark.Stated)),
			ast.Item(ast.InternedTerm("seen"), ast.InternedTerm(a.Whence == floodmark.Seen)),
			ast.Item(ast.InternedTerm("trust"), ast.InternedTerm(int(a.Trust))),
		))
	}
	mark, has := c.session.Mark(), c.session.Levels()
	levels := ast.NewSet()
	for t := floodmark.Untrusted; t <= floodmark.System; t++ {
		if has.Has(t) {
			levels.Add(ast.InternedTerm(int(t)))
		}
	}
	input := ast.NewObject(
		ast.Item(ast.InternedTerm("agent"), ast.StringTerm(c.agent)),
		ast.Item(ast.InternedTerm("iteration"), ast.InternedTerm(c.iteration)),
		ast.Item(ast.InternedTerm("turn"), ast.InternedTerm(c.turn)),
		ast.Item(ast.InternedTerm("mark"), ast.ObjectTerm(
			ast.Item(ast.InternedTerm("trust"), ast.InternedTerm(int(mark.Trust))),
			ast.Item(ast.InternedTerm("secrecy"), ast.InternedTerm(int(mark.Secrecy))),
		)),
		ast.Item(ast.InternedTerm("levels"), ast.NewTerm(levels)),
		ast.Item(ast.InternedTerm("args"), ast.NewTerm(args)),
		ast.Item(ast.InternedTerm("arg"), ast.NewTerm(arg)),
	)
	return form{opa: &opaForm{query: e.queries[c.tool], input: input}}
}

func (e *opaEngine) decide(f form) (floodmark.Verdict, error) {
	ask := f.opa
	result, err := ask.query.Eval(context.Background(), rego.EvalParsedInput(ask.input))
	if err != nil {
		return floodmark.Restrict, fmt.Errorf("opa: %w", err)
	}
	if len(result) != 1 {
		return floodmark.Restrict, errors.New("opa: no answer")
	}
	verdict := floodmark.Allow
	names, _ := result[0].Expressions[0].Value.([]any)
	for _, n := range names {
		name, _ := n.(string)
		verdict = min(verdict, e.verdicts[name])
	}
	return verdict, nil
}
