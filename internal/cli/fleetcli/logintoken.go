package fleetcli

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/internal/store/wholefile"
	"github.com/floodmark/floodmark/wire"
)

// maxTokenFile bounds a file with a token and a line break. It is more than needed.
const maxTokenFile = 4 << 10

// loginToken logs in with a token that the fleet's operator made. The token is sent only to the
// named fleet.
func loginToken(ctx context.Context, c *cli.Console, f loginFlags, book *people.Book, fleet people.Fleet) (err error) {
	if fleet.Pass, err = givenToken(c, f.token); err != nil {
		return err
	}
	fleet.Given = &people.Given{}
	if err := apart(book, fleet); err != nil { // before the token is sent
		return err
	}
	return keepLogin(ctx, c, f.Place, book, fleet)
}

// givenToken reads a token from a file that only its owner can read, or from standard input. A
// token on the command line is refused, because every user could see it in the list of processes.
// The error does not repeat it.
func givenToken(c *cli.Console, name string) (people.Pass, error) {
	if err := notTheToken(name); err != nil {
		return people.Pass{}, err
	}
	data, err := ownBytes(c, name)
	if err != nil {
		return people.Pass{}, err
	}
	pass, err := people.ParseGiven(string(data))
	if err != nil {
		return people.Pass{}, cli.Refuse("it is what «floodmark fleet token create NAME --kind owner» printed, at the fleet", "%s: %s", inputName(name), err)
	}
	return pass, nil
}

// notTheToken refuses a token that was given instead of a file name.
func notTheToken(name string) error {
	if strings.HasPrefix(name, "fm_") {
		return cli.Refuse("take it back with «floodmark fleet token revoke», where it was made; others on this machine could see it", "--token wants the file with the token, not the token")
	}
	return nil
}

func inputName(name string) string {
	if name == cli.StdinName {
		return "standard input"
	}
	return name
}

// ownBytes reads standard input, or a file that only its owner can read.
func ownBytes(c *cli.Console, name string) ([]byte, error) {
	if name == cli.StdinName {
		if c.StdinTerminal {
			return nil, cli.Refuse("name a file, or send it: «floodmark fleet login URL --token - < FILE»", "a token that is typed here is shown on the screen")
		}
		data, err := io.ReadAll(io.LimitReader(c.Stdin, maxTokenFile))
		if err != nil {
			return nil, cli.Unreadable(inputName(name), err)
		}
		return data, nil
	}
	data, err := wholefile.ReadOwn(c.Path(name), maxTokenFile)
	if _, shown := errors.AsType[*wholefile.ShownError](err); shown {
		return nil, cli.Refuse("run chmod 600 on it, or have a new token made if it may have been read", "%s: it is no plain file that you alone can read", name)
	}
	if err != nil {
		return nil, cli.Unreadable(name, err)
	}
	return data, nil
}

// takeSaid stores what the fleet says about the token.
func takeSaid(fleet *people.Fleet, s *wire.StatusResponse) {
	var ends time.Time
	if s.GetEnds() != nil {
		ends = s.GetEnds().AsTime()
	}
	fleet.Take(s.GetCaller(), s.GetTenant(), s.GetMay(), ends)
}

// mayText says what a login may do.
func mayText(may []string) string {
	if len(may) == 0 {
		return "do what the fleet lets it"
	}
	words := strings.Join(may, ", ")
	if i := strings.LastIndex(words, ", "); i >= 0 {
		words = words[:i] + " and " + words[i+2:]
	}
	return words
}

// endsText says when a token ends.
func endsText(at time.Time) string {
	if at.IsZero() {
		return "never ends by itself"
	}
	return "ends " + at.Local().Format("2006-01-02 15:04")
}
