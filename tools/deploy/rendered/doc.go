// Package rendered tests the fleet's rendered settings against the schemas of the programs that
// read them: Kubernetes, compose, Prometheus and Grafana. It contains only tests.
package rendered
