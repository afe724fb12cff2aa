package codingday

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// in returns the world with another of its projects as the current one.
func (w *world) in(repo string) *world {
	at := *w
	at.project = filepath.Join(w.home, repo)
	return &at
}

// script runs commands in the project.
func (w *world) script(env []string, text string) error {
	ctx, cancel := context.WithTimeout(w.t.Context(), setupWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-ec", text)
	cmd.Dir, cmd.Env = w.project, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(err, errors.New(string(out)))
	}
	return nil
}

// found makes a repository of a week: its history, its server, and the owner's own copy or clone.
func (w *world) found(r Repository, people map[string]string) {
	desk := *w
	desk.project = filepath.Join(w.root, "desk", r.Name)
	for _, name := range w.below("repo/" + r.Name + "/") {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(w.files[name], "#!") {
			mode = 0o755
		}
		w.write(filepath.Join(desk.project, strings.TrimPrefix(name, "repo/"+r.Name+"/")), w.files[name], mode)
	}
	who, from := "owner", "anna"
	switch r.Kind {
	case "team":
		who, from = "by "+r.Author+" "+people[r.Author], "team"
	case "fork":
		who, from = "by "+r.Author+" "+people[r.Author], r.Name
	}
	address := "git@git.example:" + from + "/" + r.Name + ".git"
	desk.prepare(who + "\ngit init -q -b main && save 'Initial import'\n" + w.files["setup/"+r.Name+".sh"])
	desk.prepare("git init -q --bare -b main $SRV/git/" + from + "/" + r.Name + ".git && git remote add origin " + address + " && git push -qu origin main --tags")
	home := *w
	home.project = w.home
	switch r.Kind {
	case "fork":
		own := "git@git.example:anna/" + r.Name + ".git"
		desk.prepare("mkdir -p $SRV/git/anna && git clone -q --bare $SRV/git/" + from + "/" + r.Name + ".git $SRV/git/anna/" + r.Name + ".git")
		home.prepare("git clone -q " + own + " && cd " + r.Name + " && git remote add upstream " + address)
	case "team":
		home.prepare("git clone -q " + address)
	default:
		home.prepare("cp -a " + desk.project + " " + r.Name)
	}
	for _, name := range w.below("local/" + r.Name + "/") {
		w.write(filepath.Join(w.home, strings.TrimPrefix(name, "local/")), w.files[name], 0o644)
	}
}

// arrive makes a colleague's or a stranger's commit and pushes it. If the repository is a fork, the
// commit is pushed to the original project.
func (w *world) arrive(h *Happening, week *Week, files map[string]string) error {
	desk := *w
	desk.project = filepath.Join(w.root, "desk", h.Repo)
	var text []string
	for name := range files {
		if strings.HasPrefix(name, h.Folder+"/") {
			text = append(text, name)
		}
	}
	if len(text) == 0 {
		return nil // the commit belongs to an attack, and there are no attacks
	}
	if err := desk.script(w.env(), "git fetch -q origin && git checkout -q -f -B "+h.Branch+" $(git rev-parse -q --verify origin/"+h.Branch+" || echo origin/main)"); err != nil {
		return err
	}
	for _, name := range text {
		w.write(filepath.Join(desk.project, strings.TrimPrefix(name, h.Folder+"/")), files[name], 0o644)
	}
	who := week.People[h.Who]
	env := append(w.env(), "GIT_AUTHOR_NAME="+h.Who, "GIT_AUTHOR_EMAIL="+who, "GIT_COMMITTER_NAME="+h.Who, "GIT_COMMITTER_EMAIL="+who, "MESSAGE="+h.Text)
	return desk.script(env, `git add -A && git commit -qm "$MESSAGE" && git push -q origin `+h.Branch)
}
