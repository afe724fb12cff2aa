// Package policycheck finds what is wrong in the text of a policy. The command line and the console
// both use it, so that they show the same problems.
package policycheck

import (
	"cmp"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/policy"
)

// Check returns the problems of a policy and of the project files below it, in the order of their
// places. The policy is nil if a layer has an error.
func Check(shipped *catalog.Catalog, layers ...policy.Layer) (*policy.Policy, floodmark.Problems) {
	p, problems := policy.Load(layers...)
	problems = append(problems, strangers(p, shipped)...)
	slices.SortStableFunc(problems, func(a, b floodmark.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p, problems
}
