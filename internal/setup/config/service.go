package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/internal/agents"
)

// A Service holds the daemon's settings, except the rules. The zero value is for a laptop: one
// file, two local sockets, nothing on the network.
type Service struct {
	Version int     `yaml:"version"`
	Journal Journal `yaml:"journal"`
	// Listen are the addresses on the network, each with TLS.
	Listen []Listen `yaml:"listen"`
	// Keys is a mounted folder of keys that nodes share; empty: this installation has keys of its
	// own.
	Keys string `yaml:"keys"`
	// Metrics is the loopback address at which counters are shown, or [MetricsListen]; empty:
	// nowhere.
	Metrics string `yaml:"metrics"`
	// Traces is where spans are sent (OTLP over HTTP); empty: nowhere.
	Traces string `yaml:"traces"`
	// Events is the file that gets security events, one OCSF object a line.
	Events string `yaml:"events"`
	// Tokens is the file of tokens, if several nodes share one; empty: the file of the
	// installation.
	Tokens string `yaml:"tokens"`
	// Tenants are the tenants by name, whose sessions are kept apart. If there are none, all
	// sessions belong to the empty tenant.
	Tenants map[string]Tenant `yaml:"tenants"`
	// Bundles are the settings for signed rules, for tenants without settings of their own; nil:
	// they use policy.yaml.
	Bundles *Bundles `yaml:"bundles"`
	// People are the people that an identity provider knows; nil: none.
	People *People `yaml:"people"`
	// Console serves the console to these people over the network; nil: to nobody.
	Console *Console `yaml:"console"`
	// Answers says which groups answer which questions.
	Answers []Answer `yaml:"answers"`
	// Owners are the users whose agents may report in system mode.
	Owners []string `yaml:"owners"`
	// Verifier are external gates that calls have to pass.
	Verifier *Verifier `yaml:"verifier"`
	// Agents are settings of single agents, by name.
	Agents map[string]Agent `yaml:"agents"`
	// Telegram is the bot that asks the owner on the phone; nil: none.
	Telegram *Telegram `yaml:"telegram"`
	// Desktop is [DesktopOff] if questions are not shown as notifications; else empty.
	Desktop string `yaml:"desktop"`
	// Packages says where boxes get packages from; nil: from the public registries.
	Packages *Packages `yaml:"packages"`
	// Auditor is the model that gives a second opinion; nil: none.
	Auditor *Auditor `yaml:"auditor"`
}

// DesktopOff turns off questions on the owner's desktop.
const DesktopOff = "off"

// Bus returns the session bus on which questions are shown; empty: none. A monitor that agents
// reach over the network has no owner at this desktop.
func (s Service) Bus(p Paths) string {
	if s.Desktop == DesktopOff || len(s.Listen) > 0 {
		return ""
	}
	return p.Bus
}

// MetricsListen shows counters at the addresses of Listen. It requires a token that may view and
// belongs to no tenant.
const MetricsListen = "listen"

// An Agent holds the settings of one agent.
type Agent struct {
	// Ask says where its owner is asked: [AskNative], [AskElicitation], or empty for our own
	// channels.
	Ask string `yaml:"ask"`
	// Verifier tightens the settings for all agents.
	Verifier *Verifier `yaml:"verifier"`
}

// AskNative means the agent's own window. By setting it, the owner confirms that the agent asks
// there and does not answer by itself.
const AskNative = "native"

// AskElicitation means the window of an MCP client whose servers go through the gateway. The client
// is identified by its program, or by the name of its token. By setting it, the owner confirms that
// the client asks a person there and does not answer by itself.
const AskElicitation = "elicitation"

// Native returns the agents that ask in their own window.
func (s Service) Native() []string { return s.asking(AskNative) }

// Elicits returns the clients of the gateway that ask in their own window.
func (s Service) Elicits() []string { return s.asking(AskElicitation) }

func (s Service) asking(where string) []string {
	var list []string
	for name, a := range s.Agents {
		if a.Ask == where {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// agentNames returns the agents with settings of their own, sorted.
func (s Service) agentNames() []string { return slices.Sorted(maps.Keys(s.Agents)) }

// Journal says where facts are stored and for how long.
type Journal struct {
	// Store is postgres://…, or empty for the file on this machine.
	Store string `yaml:"store"`
	// Shards are the databases of a fleet, instead of Store.
	Shards []Shard `yaml:"shards"`
	// Keep is how long a session is kept after its last entry; zero: for ever.
	Keep Days `yaml:"keep"`
	// Witness is the folder for signed heads. It should be a folder that agents cannot write to.
	Witness string `yaml:"witness"`
	// Checkpoint is how often heads are signed.
	Checkpoint Days `yaml:"checkpoint"`
}

// A Listen is one address on the network.
type Listen struct {
	Address     string `yaml:"address"`
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
	// ClientCA, if set, requires clients to authenticate with certificates.
	ClientCA string `yaml:"clientCA"`
}

// Days is a duration written as 90d, 36h or 10m.
type Days time.Duration

// UnmarshalYAML reads it.
func (d *Days) UnmarshalYAML(n *yaml.Node) error {
	text := n.Value
	if whole, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.Atoi(whole)
		if err != nil || days <= 0 || days > maxKeepDays {
			return fmt.Errorf("line %d: %q is no number of days (write 90d)", n.Line, text)
		}
		*d = Days(time.Duration(days) * 24 * time.Hour)
		return nil
	}
	v, err := time.ParseDuration(text)
	if err != nil || v <= 0 {
		return fmt.Errorf("line %d: %q is no length of time (write 90d, 36h or 10m)", n.Line, text)
	}
	*d = Days(v)
	return nil
}

const (
	maxServiceBytes = 64 << 10
	maxKeepDays     = 36500
	maxListen       = 16
	maxClientName   = 64
)

// ParseService reads the text of service.yaml. An empty text is the settings of a laptop.
func ParseService(name string, data []byte) (Service, error) {
	if len(data) > maxServiceBytes {
		return Service{}, fmt.Errorf("%s: %d bytes, at most %d", name, len(data), maxServiceBytes)
	}
	var s Service
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return Service{}, fmt.Errorf("%s: %s", name, plain(err))
	}
	if err := dec.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return Service{}, fmt.Errorf("%s: more than one document", name)
	}
	if err := s.check(); err != nil {
		return Service{}, fmt.Errorf("%s: %w", name, err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return Service{}, fmt.Errorf("%s: %s", name, plain(err))
	}
	if err := s.checkVerifiers(&root); err != nil {
		return Service{}, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func (s Service) check() error {
	if s.Version != 0 && s.Version != 1 {
		return fmt.Errorf("version: %d is not known (write version: 1)", s.Version)
	}
	if len(s.Listen) > maxListen {
		return fmt.Errorf("listen: %d addresses, at most %d", len(s.Listen), maxListen)
	}
	for i, l := range s.Listen {
		if _, _, err := net.SplitHostPort(l.Address); err != nil {
			return fmt.Errorf("listen[%d].address: %q is not host:port", i, l.Address)
		}
		if l.Certificate == "" || l.Key == "" {
			return fmt.Errorf("listen[%d]: a network door needs certificate and key: nothing is answered in the clear", i)
		}
	}
	for name, a := range s.Agents {
		switch {
		case a.Ask != "" && a.Ask != AskNative && a.Ask != AskElicitation:
			return fmt.Errorf("agents.%s.ask: %q is not known (write ask: native or ask: elicitation, or leave it out)", name, a.Ask)
		case a.Ask == AskElicitation && (name == "" || len(name) > maxClientName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })):
			return fmt.Errorf("agents.%.20q.ask: the name of a client has 1 to %d characters that can be printed", name, maxClientName)
		case a.Ask == AskNative && !agents.CanAsk(name):
			return fmt.Errorf("agents.%s.ask: it is not known to ask by itself and wait for the answer (leave it out)", name)
		}
	}
	if err := errors.Join(s.checkTenants(), s.Bundles.check(), s.checkPeople(), s.checkConsole(), s.checkAnswers(), s.checkPackages()); err != nil {
		return err
	}
	if s.Auditor != nil {
		if err := s.Auditor.check(); err != nil {
			return fmt.Errorf("auditor: %w", err)
		}
	}
	if s.Desktop != "" && s.Desktop != DesktopOff {
		return fmt.Errorf("desktop: %.20q is nothing to set; write «off», or leave it out", s.Desktop)
	}
	if s.Telegram != nil {
		if err := s.Telegram.check(); err != nil {
			return fmt.Errorf("telegram.%w", err)
		}
	}
	switch {
	case s.Metrics == "", loopback(s.Metrics):
	case s.Metrics != MetricsListen:
		return fmt.Errorf("metrics: %q is not a loopback address (write 127.0.0.1:9464, or listen for the network doors)", s.Metrics)
	case len(s.Listen) == 0:
		return errors.New("metrics: there is no network door to show them at (write listen, or 127.0.0.1:9464 here)")
	}
	if err := s.checkKeys(); err != nil {
		return err
	}
	return s.Journal.check()
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && loopbackHost(host)
}

func loopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
