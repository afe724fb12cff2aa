package config

import (
	"errors"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/internal/ask/auditor"
)

// An Auditor is the model that gives a second opinion. The policy says whether it is asked.
type Auditor struct {
	// Endpoint is the address of its service. Kind is the protocol it speaks.
	Endpoint string       `yaml:"endpoint"`
	Kind     auditor.Kind `yaml:"kind"`
	Model    string       `yaml:"model"`
	// Key authenticates us. A model on this machine needs none.
	Key     Secret `yaml:"key"`
	Timeout Short  `yaml:"timeout"`
	// Content says whether it may see the content of files that calls would write. By default only
	// a model on this machine may.
	Content *bool  `yaml:"content"`
	Budget  Budget `yaml:"budget"`
}

// A Budget is what a session may ask of the auditor; zero: the default.
type Budget struct {
	Cases int   `yaml:"cases"`
	Time  Short `yaml:"time"`
}

// Short is a duration written as 5s or 10m.
type Short time.Duration

// UnmarshalYAML reads it.
func (d *Short) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v <= 0 {
		return fmt.Errorf("line %d: %.40q is no length of time (write 5s or 10m)", n.Line, n.Value)
	}
	*d = Short(v)
	return nil
}

// Local reports whether the model is on this machine.
func (a Auditor) Local() bool { return auditor.Local(a.Endpoint) }

// ShowsContent reports whether it may see the content of files that calls would write.
func (a Auditor) ShowsContent() bool {
	if a.Content != nil {
		return *a.Content
	}
	return a.Local()
}

func (a Auditor) check() error {
	if a.Endpoint == "" {
		return errors.New("endpoint: is missing (write the service's address, such as http://127.0.0.1:11434/v1)")
	}
	if err := auditor.Check(a.Endpoint, a.kind()); err != nil {
		return err
	}
	switch {
	case a.Model == "":
		return errors.New("model: is missing (write the name the service knows it by)")
	case a.Key.IsZero() && !a.Local():
		return errors.New("key: is missing (write ${AUDITOR_KEY} and set that variable where floodmark runs)")
	case time.Duration(a.Timeout) > auditor.MaxTimeout:
		return fmt.Errorf("timeout: at most %s", auditor.MaxTimeout)
	case a.Budget.Cases < 0 || a.Budget.Cases > auditor.MaxCases:
		return fmt.Errorf("budget.cases: want 1 to %d", auditor.MaxCases)
	case time.Duration(a.Budget.Time) > auditor.MaxTime:
		return fmt.Errorf("budget.time: at most %s", auditor.MaxTime)
	}
	return nil
}

func (a Auditor) kind() auditor.Kind {
	if a.Kind == "" {
		return auditor.OpenAI
	}
	return a.Kind
}

// Open returns the auditor's client. The key is looked up at every question, so that the program
// can start without it.
func (a Auditor) Open(now func() time.Time) (*auditor.Auditor, error) {
	c := auditor.Config{
		Endpoint: a.Endpoint, Kind: a.kind(), Model: a.Model, Timeout: time.Duration(a.Timeout), Content: a.ShowsContent(),
		Budget: auditor.Budget{Cases: a.Budget.Cases, Time: time.Duration(a.Budget.Time)}, Now: now,
	}
	if !a.Key.IsZero() {
		c.Key = a.Key.Reveal
	}
	return auditor.New(c)
}
