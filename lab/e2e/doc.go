// Package e2e runs real agents against a scripted model and an injected page,
// to see what is stopped and what is not. It has only tests; .ci/agents
// installs the agents they need.
package e2e
