package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// A Console is the console on the network, where the people of [Service.People] log in with a
// browser.
type Console struct {
	// URL is the console's address in browsers: https://host or https://host:port. It has no other
	// name, and the provider sends browsers back to it, with a slash behind it.
	URL string `yaml:"url"`
	// Listen is the address that the console has to itself, with TLS.
	Listen Listen `yaml:"listen"`
	// ClientID is the client that browsers log in to; empty: that of people.
	ClientID string `yaml:"clientId"`
	// ClientSecret is the client's secret; empty for a public client.
	ClientSecret Secret `yaml:"clientSecret"`
	// MaxAge is how long a page stays logged in; zero: until its token of the provider ends.
	MaxAge Days `yaml:"maxAge"`
	// PasswordAge is how long ago the provider may have asked a person for the password, or for what
	// it has in its place, at a login; zero: it need not say.
	PasswordAge Days `yaml:"passwordAge"`
}

// maxConsoleAge bounds how long a page stays logged in, because the provider is not asked again.
const (
	maxConsoleAge  = 24 * time.Hour
	minPasswordAge = time.Minute
)

// Origin returns the console's address as browsers write it: in small letters, without the port of
// https.
func (c Console) Origin() string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSuffix(c.URL, "/")), ":443")
}

// Redirect returns the address to which the provider sends browsers back.
func (c Console) Redirect() string { return c.Origin() + "/" }

func (s Service) checkConsole() error {
	c := s.Console
	if c == nil {
		return nil
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		u = &url.URL{}
	}
	_, _, bad := net.SplitHostPort(c.Listen.Address)
	switch {
	case s.People == nil:
		return errors.New("console: people log in there: say under people who they are")
	case u.Scheme != "https" || u.Hostname() == "" || c.Origin() != "https://"+strings.TrimSuffix(strings.ToLower(u.Host), ":443"):
		return fmt.Errorf("console.url: %.200q is no address such as https://console.firm.example", c.URL)
	case bad != nil:
		return fmt.Errorf("console.listen.address: %q is not host:port", c.Listen.Address)
	case c.Listen.Certificate == "" || c.Listen.Key == "":
		return errors.New("console.listen: it needs certificate and key: nothing is answered in the clear")
	case c.Listen.ClientCA != "":
		return errors.New("console.listen.clientCA: people log in at their provider there, and certificates count for nothing (leave it out)")
	case time.Duration(c.MaxAge) > maxConsoleAge:
		return fmt.Errorf("console.maxAge: at most %d hours", int(maxConsoleAge.Hours()))
	case c.PasswordAge != 0 && time.Duration(c.PasswordAge) < minPasswordAge:
		return fmt.Errorf("console.passwordAge: at least %s, or nobody types that fast", minPasswordAge)
	}
	return nil
}
