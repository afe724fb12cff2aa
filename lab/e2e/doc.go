// Package e2e runs real agents against a scripted model and an injected page, to test what is
// stopped. It contains only tests; .ci/agents installs the agents they need.
package e2e
