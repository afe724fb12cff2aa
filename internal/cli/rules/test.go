package rules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/story"
	"github.com/floodmark/floodmark/internal/text/linetext"
)

// storyEnd is the extension of stories. storyDir is the folder in which they are searched first.
const (
	storyEnd = ".txtar"
	storyDir = "stories"
)

// testOptions are the flags of «floodmark policy test».
type testOptions struct {
	run     string
	update  bool
	verbose bool
}

func newTest(c *cli.Console) *cobra.Command {
	var opt testOptions
	cmd := &cobra.Command{
		Use:   "test [FILE or FOLDER]...",
		Short: "Play stories and check what is answered",
		Long: `Play stories: small texts that say what happened to an agent and what the monitor
must answer. Each story can contain its own policy; without one the shipped profile
«assistant» applies.

Without an argument the stories in the folder ./stories are played, or, if there
is none, every *.txtar here. A folder stands for all *.txtar in it and below.

A story may end with a part «-- journal --»: the entries that the journal must have.
With --update that part is replaced with the entries of this run. To begin, add an
empty part.`,
		Example: `  floodmark policy test
  floodmark policy test stories/payment.txtar -v
  floodmark policy test --run mail --output json
  floodmark policy test --update`,
		Annotations: cli.Exits("every story passed", "a story failed"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			return test(c, opt, cli.Format(cmd), args)
		}),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{strings.TrimPrefix(storyEnd, ".")}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	cmd.Flags().StringVar(&opt.run, "run", "", "play only stories whose file or title matches this `REGEXP`")
	cmd.Flags().BoolVar(&opt.update, "update", false, "rewrite the journals that the stories have")
	cmd.Flags().BoolVarP(&opt.verbose, "verbose", "v", false, "show each story's title and journal")
	return cmd
}

func test(c *cli.Console, opt testOptions, format string, args []string) error {
	match, err := regexp.Compile(opt.run)
	if err != nil {
		return cli.Refuse("write a regular expression, such as «mail|payment»", "--run %q: %s", opt.run, cli.Reason(err))
	}
	files, err := stories(c, args)
	if err != nil {
		return err
	}
	shipped, err := c.ShippedCatalog()
	if err != nil {
		return err
	}
	r := report{Stories: []played{}}
	for _, file := range files {
		p, ok := play(c, file, opt, match, shipped)
		if !ok {
			continue
		}
		r.add(p)
		if format == cli.AsText {
			printStory(c, p, opt.verbose)
		}
	}
	if len(r.Stories) == 0 {
		return cli.Refuse("«floodmark policy test» without --run plays them all", "no story matches --run %q", opt.run)
	}
	return conclude(c, r, format)
}

// play plays one story. It reports whether the story was selected.
func play(c *cli.Console, file string, opt testOptions, match *regexp.Regexp, shipped *catalog.Catalog) (played, bool) {
	p := played{File: file}
	data, err := c.Read(file)
	if err != nil {
		return p.unreadable(err), match.MatchString(file)
	}
	p.Title = story.Title(data)
	if !match.MatchString(filepath.ToSlash(file)) && !match.MatchString(p.Title) {
		return p, false
	}
	res, err := story.Play(file, data, shipped)
	if err != nil {
		return p.unreadable(inArchive(file, err, data)), true
	}
	p.Checks, p.Mistakes, p.journal = res.Checks, res.Mistakes, res.Journal
	if res.Differs && opt.update {
		if err := rewrite(c, file, story.WithJournal(data, res.Journal)); err != nil {
			return p.unreadable(err), true
		}
		p.Updated, res.Differs = true, false
	}
	if res.Differs {
		p.Diff = linetext.Diff(part(data, "journal"), res.Journal)
	}
	p.Result = passed
	if len(p.Mistakes) > 0 || res.Differs {
		p.Result = failed
	}
	return p, true
}

// rewrite writes a second file and renames it over the story, so that a full disk leaves the old
// one intact.
func rewrite(c *cli.Console, file string, data []byte) error {
	path := c.Path(file)
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	next := path + ".new"
	if err := os.WriteFile(next, data, mode); err != nil {
		return cli.Refuse("check that you may write there", "write %s: %s", file, cli.Reason(err))
	}
	if err := os.Rename(next, path); err != nil {
		return cli.Refuse("check that you may write there", "write %s: %s", file, cli.Reason(err))
	}
	return nil
}

// stories returns the story files that the arguments name.
func stories(c *cli.Console, args []string) ([]string, error) {
	if len(args) == 0 {
		if info, err := os.Stat(c.Path(storyDir)); err == nil && info.IsDir() {
			args = []string{storyDir}
		} else {
			args = []string{"."}
		}
	}
	var files []string
	for _, arg := range args {
		info, err := os.Stat(c.Path(arg))
		if err != nil {
			return nil, cli.Unreadable(arg, err)
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		found, err := storiesIn(c, arg, arg != ".")
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, cli.Refuse("write one (docs/guide/test-your-policy.md) or name a file or folder", "there are no stories (*%s) in %s", storyEnd, strings.Join(args, ", "))
	}
	return unique(files), nil
}

// storiesIn returns the stories in a folder and, if deep, in its subfolders. Hidden folders are
// skipped.
func storiesIn(c *cli.Console, folder string, deep bool) ([]string, error) {
	var files []string
	root := c.Path(folder)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (!deep || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(d.Name(), storyEnd):
			rel, err := filepath.Rel(root, path)
			files = append(files, filepath.Join(folder, rel))
			return err
		}
		return nil
	})
	if err != nil {
		return nil, cli.Unreadable(folder, err)
	}
	return files, nil
}

func unique(files []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f string) bool {
		again := seen[filepath.Clean(f)]
		seen[filepath.Clean(f)] = true
		return again
	})
}

// inArchive changes the places of problems in a part of a story to places in the story's file,
// because that is the file an editor opens. The problems name the part as in the file, or as the
// file's name, «#» and the part.
func inArchive(file string, err error, data []byte) error {
	problems, ok := errors.AsType[floodmark.Problems](err)
	if !ok {
		return err
	}
	problems = slices.Clone(problems)
	for i, p := range problems {
		if at := partLine(data, strings.TrimPrefix(p.File, file+"#")); at > 0 {
			problems[i].File, problems[i].Line = file, p.Line+at
		}
	}
	return problems
}
