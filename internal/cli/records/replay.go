package records

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/reports/rejudge"
	"github.com/floodmark/floodmark/kernel"
)

// replayFlags are the flags of «floodmark policy replay».
type replayFlags struct {
	cli.Place
	policy, then, from, session, since string
	endorse, withdraw                  []string
	limit                              int
}

// NewReplay is the command «floodmark policy replay».
func NewReplay(c *cli.Console) *cobra.Command {
	var opt replayFlags
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Say what another policy would have decided",
		Long: `Judge every decision in the journal again, under another policy or as if you had
endorsed something, and say which would have been different, and how many
questions you would have been asked. Nothing is asked, sent or written down.

Each decision is judged in the context it was made in: what the agent read and
tried, and what you answered, is as it was. Where an answer depends on content
that was not kept, it says so. A task is a turn in which something was decided.

Without --policy the policy in force is asked again: it must find no difference in
what was decided under it.`,
		Example: `  floodmark policy replay --policy new.yaml
  floodmark policy replay --policy new.yaml --since 7d --limit 100
  floodmark policy replay --endorse codex:0199:3f2a91c0
  floodmark policy replay --from journal.jsonl --policy new.yaml --output json`,
		Annotations: cli.Exits("no decision would have been different", "a decision would have been different or cannot be told, or no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return runReplay(cmd.Context(), c, opt, cli.Format(cmd))
		}),
	}
	cli.AddPlace(cmd, &opt.Place)
	f := cmd.Flags()
	f.StringVar(&opt.policy, "policy", "", "the policy `FILE` to judge by, instead of the one in force")
	f.StringVar(&opt.then, "then", "", "the policy `FILE` it was recorded under, if not the one in force")
	f.StringVar(&opt.from, "from", "", "read this `FILE`, written by «floodmark journal export», instead of asking the monitor")
	f.StringVar(&opt.session, "session", "", "only this `SESSION`")
	f.StringVar(&opt.since, "since", "", "only what was decided in this `TIME`, such as 7d or 12h")
	f.StringArrayVar(&opt.endorse, "endorse", nil, "judge as if you had trusted this content: `SESSION:DIGEST`; may be given more than once")
	f.StringArrayVar(&opt.withdraw, "withdraw", nil, "judge as if you had never trusted this content: `SESSION:DIGEST`; may be given more than once")
	f.IntVar(&opt.limit, "limit", 50, "show at most this many decisions; 0 shows all")
	return cmd
}

func runReplay(ctx context.Context, c *cli.Console, opt replayFlags, form string) error {
	r := &replayer{opt: opt, session: opt.session}
	var err error
	if r.trial.Now, r.trial.Then, err = replayRules(c, opt); err != nil {
		return err
	}
	if r.trial.Since, err = sinceTime(opt.since, time.Now()); err != nil {
		return err
	}
	if r.endorse, err = contentNames("endorse", opt.endorse); err != nil {
		return err
	}
	if r.withdraw, err = contentNames("withdraw", opt.withdraw); err != nil {
		return err
	}
	if opt.limit < 0 {
		return cli.Refuse("0 shows all", "--limit %d: want 0 or more", opt.limit)
	}
	if opt.from != "" {
		err = replayFile(c, r, opt.from)
	} else {
		err = replayLive(ctx, c, r, opt)
	}
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return err
	}
	return replayed(c, r, form)
}

// replayRules loads the new rules and the rules under which the journal was recorded: those of
// --then, else the policy in force. Both use the same catalog, so that tools which neither of them
// describes compare as equal, with the files of this installation, as the monitor does.
func replayRules(c *cli.Console, opt replayFlags) (now kernel.Rules, then *kernel.Rules, err error) {
	shipped, err := c.ShippedCatalog()
	if err != nil {
		return now, nil, err
	}
	var own []*catalog.File
	paths, err := c.Paths(opt.Place)
	if err != nil && (opt.then == "" || opt.policy == "") {
		return now, nil, err
	}
	if err == nil {
		if file, err := paths.Guarded(); err == nil { // without it less can be told
			own = append(own, file)
		}
		if opt.then == "" {
			opt.then = paths.Policy
			if _, err := os.Stat(paths.Policy); errors.Is(err, fs.ErrNotExist) {
				opt.then = ""
			}
		}
	}
	old, err := rulesIn(c, opt.then, shipped, own...)
	if err != nil {
		return now, nil, err
	}
	if opt.policy == "" {
		return old, &old, nil
	}
	now, err = rulesIn(c, opt.policy, shipped, own...)
	return now, &old, err
}

// rulesIn loads the policy in a file; an empty name means the shipped profile.
func rulesIn(c *cli.Console, name string, shipped *catalog.Catalog, own ...*catalog.File) (kernel.Rules, error) {
	var text []byte
	if name != "" {
		var err error
		if text, err = c.Read(name); err != nil {
			return kernel.Rules{}, err
		}
	}
	rules, problems := rejudge.Rules(name, text, shipped, own...)
	if problems.Failed() {
		return kernel.Rules{}, cli.Refuse("«floodmark policy check» shows the lines", "%s", problems.Error())
	}
	return rules, nil
}

// sinceTime returns the time that is «7d» or «12h» before now; an empty text means from the
// beginning.
func sinceTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d <= 0 || d > 100*365*24*time.Hour {
		return time.Time{}, cli.Refuse("write 7d, 12h or 30m", "--since %q is not a time", cli.Shorten(text))
	}
	return now.Add(-d), nil
}

// A contentName identifies content of a session by the beginning of its digest.
type contentName struct{ session, digest string }

// contentNames parses «SESSION:DIGEST». A session's name may contain colons.
func contentNames(flag string, texts []string) ([]contentName, error) {
	var list []contentName
	for _, text := range texts {
		at := strings.LastIndexByte(text, ':')
		digest := text[at+1:]
		if at <= 0 || len(digest) < minDigest || len(digest) > 64 || strings.Trim(digest, "0123456789abcdef") != "" {
			return nil, cli.Refuse("«floodmark why SESSION» shows the digests of what came in; give 8 digits or more", "--%s %q: want SESSION:DIGEST", flag, cli.Shorten(text))
		}
		list = append(list, contentName{session: text[:at], digest: digest})
	}
	return list, nil
}

// minDigest is how many digits of a digest are shown to people, and required from them.
const minDigest = 8
