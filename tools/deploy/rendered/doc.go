// Package rendered holds what the fleet's settings become against the schemas of
// those who read them: Kubernetes, compose, Prometheus and Grafana. It has
// nothing but tests.
package rendered
