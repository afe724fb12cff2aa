package config

import (
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/verify"
)

// An Answer says which groups answer certain questions. The first Answer that fits a call is used.
// A question that no Answer fits may be answered by every approver.
type Answer struct {
	// Tenant and Agent say whose questions it concerns; empty: all.
	Tenant string `yaml:"tenant"`
	Agent  string `yaml:"agent"`
	// Tools are the tools of the calls it concerns, named as in a verifier's scope; none: all.
	Tools []string `yaml:"tools"`
	// Groups are the groups whose members may answer.
	Groups []string `yaml:"groups"`
}

const maxAnswers = 256

func (s Service) checkAnswers() error {
	if len(s.Answers) > maxAnswers {
		return fmt.Errorf("answers: %d, at most %d", len(s.Answers), maxAnswers)
	}
	for i, a := range s.Answers {
		switch {
		case len(a.Groups) == 0 || len(a.Groups) > maxRoleGroups || slices.Contains(a.Groups, ""):
			return fmt.Errorf("answers[%d].groups: name 1 to %d groups, or no one could ever answer", i, maxRoleGroups)
		case !s.HasTenant(a.Tenant):
			return fmt.Errorf("answers[%d].tenant: %.100q is not under tenants", i, a.Tenant)
		case len(a.Tools) > maxScope || slices.Contains(a.Tools, ""):
			return fmt.Errorf("answers[%d].tools: name at most %d tools, or leave it out for all", i, maxScope)
		}
	}
	return nil
}

// MayAnswer reports whether a member of some groups may answer a question about calls of these
// tools. An unknown agent could be any agent, and a question without tools is about all tools. So
// leaving either out gives no right: then the person must be allowed to answer for every agent or
// tool in question.
func (s Service) MayAnswer(groups []string, tenant, agent string, tools []floodmark.ToolRef) bool {
	if len(tools) == 0 {
		return s.mayAnswer(groups, tenant, agent, nil)
	}
	return !slices.ContainsFunc(tools, func(t floodmark.ToolRef) bool { return !s.mayAnswer(groups, tenant, agent, &t) })
}

func (s Service) mayAnswer(groups []string, tenant, agent string, tool *floodmark.ToolRef) bool {
	for _, a := range s.Answers {
		if a.Tenant != "" && a.Tenant != tenant || a.Agent != "" && agent != "" && a.Agent != agent && a.Agent != floodmark.Program(agent) {
			continue
		}
		if len(a.Tools) > 0 && tool != nil && !slices.ContainsFunc(a.Tools, func(n string) bool { return verify.Lists(n, *tool) }) {
			continue
		}
		if !slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(a.Groups, g) }) {
			return false
		}
		if (a.Agent == "" || agent != "") && (len(a.Tools) == 0 || tool != nil) {
			return true // it certainly fits, so later ones are not used
		}
	}
	return true
}

// AnswersFor returns the groups whose members answer the questions of an agent's sessions; nil if every
// approver may. Answers for some tools only say nothing about a whole session, so they are not used.
func (s Service) AnswersFor(tenant, agent string) []string {
	for _, a := range s.Answers {
		if len(a.Tools) == 0 && (a.Tenant == "" || a.Tenant == tenant) && (a.Agent == "" || a.Agent == agent || a.Agent == floodmark.Program(agent)) {
			return a.Groups
		}
	}
	return nil
}

// AnswerGroups returns all groups that AnswersFor can return for a tenant, sorted.
func (s Service) AnswerGroups(tenant string) []string {
	var list []string
	for _, a := range s.Answers {
		if len(a.Tools) == 0 && (a.Tenant == "" || a.Tenant == tenant) {
			list = append(list, a.Groups...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
