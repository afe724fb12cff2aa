package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/internal/mcp/upstream"
)

// A Gateway says how «floodmark mcp serve» runs.
//
// Rules for changing it: keys are only added, and a missing key must mean the safest value.
type Gateway struct {
	Version int `yaml:"version"`
	// Listen is a loopback address; empty: [GatewayAddress].
	Listen string `yaml:"listen"`
	// Idle is how long a client may be silent; zero: 30 minutes.
	Idle Days `yaml:"idle"`
	// Servers are the servers behind it, in the order in which clients see them.
	Servers []GatewayServer `yaml:"servers"`
}

// GatewayAddress is the gateway's default address.
const GatewayAddress = "127.0.0.1:7437"

// A GatewayServer is one server: a command, or an address.
type GatewayServer struct {
	// Name is the owner's name for it. It prefixes the names of its tools.
	Name string `yaml:"name"`
	// Command with Args is started in Dir, with Env added to the usual variables.
	Command string            `yaml:"command"`
	Args    []string          `yaml:"args"`
	Env     map[string]Secret `yaml:"env"`
	Dir     string            `yaml:"dir"`
	// URL is its address. Headers are sent with every request.
	URL     string            `yaml:"url"`
	Headers map[string]Secret `yaml:"headers"`
	// OAuth says how to log in at the server; nil: only Headers are sent, unless the server asks
	// for a login.
	OAuth *GatewayLogin `yaml:"oauth"`
	// Shared lets all clients use one instance of the server. Its answers then carry the marks of
	// all sessions that wrote to it.
	Shared bool `yaml:"shared"`
}

// A GatewayLogin says how to log in at a server. All of it may be left out. Then the server names
// the issuer at which the owner logs in, and floodmark registers there by itself.
type GatewayLogin struct {
	// Issuer is the only issuer at which the owner may log in.
	Issuer string `yaml:"issuer"`
	// ClientID and ClientSecret are from a registration by hand.
	ClientID     string `yaml:"client_id"`
	ClientSecret Secret `yaml:"client_secret"`
	// Scopes replace the scopes that the server asks for.
	Scopes []string `yaml:"scopes"`
	// Grant is browser, the default, or client-credentials.
	Grant string `yaml:"grant"`
}

// ByMachine is the grant that needs no person.
const ByMachine = "client-credentials"

const maxGatewayScopes = 64

func (l GatewayLogin) check() error {
	switch {
	case l.Grant != "" && l.Grant != "browser" && l.Grant != ByMachine:
		return fmt.Errorf("grant: %.40q is not known (write browser or %s)", l.Grant, ByMachine)
	case l.Grant == ByMachine && (l.Issuer == "" || l.ClientID == "" || l.ClientSecret.IsZero()):
		return fmt.Errorf("grant: %s needs issuer, client_id and client_secret", ByMachine)
	case l.ClientID == "" && !l.ClientSecret.IsZero():
		return errors.New("client_secret: it belongs to a client_id")
	case len(l.Scopes) > maxGatewayScopes || slices.ContainsFunc(l.Scopes, func(s string) bool { return !regexp.MustCompile(`^[\x21\x23-\x5B\x5D-\x7E]{1,256}$`).MatchString(s) }):
		return fmt.Errorf("scopes: at most %d, each a word", maxGatewayScopes)
	case len(l.ClientID) > maxSecretBytes || strings.ContainsFunc(l.ClientID, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("client_id: want one word")
	case l.Issuer == "":
		return nil
	}
	if err := upstream.CheckURL(l.Issuer); err != nil {
		return fmt.Errorf("issuer: %w", err)
	}
	if strings.HasPrefix(l.Issuer, "http:") && !localURL(l.Issuer) {
		return errors.New("issuer: http goes no further than this machine (write https)")
	}
	return nil
}

const (
	maxGatewayBytes = 256 << 10
	maxGatewayArgs  = 256
	maxGatewayPairs = 64
)

// ReadGateway reads the gateway's file. It refuses a file that other users can read or write,
// because the file names programs to start and contains credentials.
func ReadGateway(path string) (Gateway, error) {
	f, err := os.Open(path)
	if err != nil {
		return Gateway{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Gateway{}, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return Gateway{}, fmt.Errorf("%s: others can read or write it (mode %v), and it names programs and credentials: run chmod 600 on it", path, info.Mode())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxGatewayBytes+1))
	if err != nil {
		return Gateway{}, err
	}
	return ParseGateway(path, data)
}

// ParseGateway reads the text of the gateway's file.
func ParseGateway(name string, data []byte) (Gateway, error) {
	if len(data) > maxGatewayBytes {
		return Gateway{}, fmt.Errorf("%s: more than %d bytes", name, maxGatewayBytes)
	}
	var g Gateway
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&g); err != nil && !errors.Is(err, io.EOF) {
		return Gateway{}, fmt.Errorf("%s: %s", name, plain(err))
	}
	if err := dec.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return Gateway{}, fmt.Errorf("%s: more than one document", name)
	}
	if g.Listen == "" {
		g.Listen = GatewayAddress
	}
	if err := g.check(); err != nil {
		return Gateway{}, fmt.Errorf("%s: %w", name, err)
	}
	return g, nil
}

func (g Gateway) check() error {
	switch {
	case g.Version != 0 && g.Version != 1:
		return fmt.Errorf("version: %d is not known (write version: 1)", g.Version)
	case !loopback(g.Listen):
		return fmt.Errorf("listen: %q is not a loopback address (write %s; from elsewhere go through a tunnel)", g.Listen, GatewayAddress)
	case len(g.Servers) == 0:
		return errors.New("servers: there is none (write servers: [{name: files, command: npx, args: […]}])")
	case len(g.Servers) > upstream.MaxServers:
		return fmt.Errorf("servers: %d, at most %d", len(g.Servers), upstream.MaxServers)
	}
	var names []string
	for i, s := range g.Servers {
		if err := s.check(); err != nil {
			return fmt.Errorf("servers[%d]: %w", i, err)
		}
		if slices.Contains(names, s.Name) {
			return fmt.Errorf("servers[%d].name: %q is there already", i, s.Name)
		}
		names = append(names, s.Name)
	}
	return nil
}

func (s GatewayServer) check() error {
	if err := upstream.CheckName(s.Name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	switch {
	case (s.Command == "") == (s.URL == ""):
		return errors.New("a server has either a command or a url")
	case s.URL == "" && s.Headers != nil:
		return errors.New("headers: a command has none (write env)")
	case s.Command == "" && (s.Args != nil || s.Env != nil || s.Dir != ""):
		return errors.New("args, env and dir belong to a command (write headers for a url)")
	case len(s.Args) > maxGatewayArgs:
		return fmt.Errorf("args: %d, at most %d", len(s.Args), maxGatewayArgs)
	case len(s.Env) > maxGatewayPairs || len(s.Headers) > maxGatewayPairs:
		return fmt.Errorf("env and headers have at most %d each", maxGatewayPairs)
	case s.Dir != "" && !filepath.IsAbs(s.Dir):
		return fmt.Errorf("dir: %q is not a full path", s.Dir)
	case strings.Contains(s.Command+strings.Join(s.Args, ""), "\x00"):
		return errors.New("command: no program takes a NUL")
	}
	if s.URL != "" {
		if err := upstream.CheckURL(s.URL); err != nil {
			return fmt.Errorf("url: %w", err)
		}
		if strings.HasPrefix(s.URL, "http:") && !localURL(s.URL) {
			return errors.New("url: http goes no further than this machine (write https)")
		}
	}
	if s.OAuth != nil {
		if s.URL == "" {
			return errors.New("oauth: a command has none (write env)")
		}
		for name := range s.Headers {
			if strings.EqualFold(name, "Authorization") {
				return errors.New("oauth: the header Authorization is there already (leave one of them out)")
			}
		}
		if err := s.OAuth.check(); err != nil {
			return fmt.Errorf("oauth: %w", err)
		}
	}
	return s.checkPairs()
}

func (s GatewayServer) checkPairs() error {
	for name := range s.Env {
		if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name) {
			return fmt.Errorf("env: %q is no name of a variable", name)
		}
	}
	for name := range s.Headers {
		if !regexp.MustCompile(`^[A-Za-z0-9-]+$`).MatchString(name) {
			return fmt.Errorf("headers: %q is no name of a header", name)
		}
		if slices.ContainsFunc([]string{"Host", "Accept", "Content-Type", "Content-Length", "Transfer-Encoding", "Connection"}, func(taken string) bool { return strings.EqualFold(taken, name) }) || len(name) >= 4 && strings.EqualFold(name[:4], "mcp-") {
			return fmt.Errorf("headers: %q belongs to the protocol", name)
		}
	}
	return nil
}

// localURL reports whether an address names this machine.
func localURL(address string) bool {
	rest := strings.TrimPrefix(address, "http://")
	host, _, _ := strings.Cut(rest, "/")
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// At returns the same gateway, listening at another address.
func (g Gateway) At(address string) (Gateway, error) {
	g.Listen = address
	return g, g.check()
}
