package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"dealflow/internal/notify"
)

// takeOver gives doctor the settings with which a run would begin.
func (a *app) takeOver(r *rehearsed, o *pullOptions) {
	s, runs := &a.settings, &r.settings
	s.lake, s.api, s.clock, s.dayZone, s.requireLake = runs.lake, runs.api, runs.clock, runs.dayZone, runs.requireLake
	s.workDir, s.caching, s.cacheGB, s.pageMemory = runs.workDir, runs.caching, runs.cacheGB, runs.pageMemory
	o.feeds, o.authEncoding = r.cmd.Flag("feeds").Value.String(), r.cmd.Flag("auth-encoding").Value.String()
}

// diagnoseTelling looks at whom a run tells how it ended, without telling anyone: what fails there is only a warning of the run.
func (r *rehearsed) diagnoseTelling(ctx context.Context) (all []diagnosis) {
	tell := &r.settings.tell
	add := func(check, target string, look func() error) {
		if target == "" {
			return
		}
		if err := look(); err != nil {
			all = append(all, problem(check, "correct this setting: a run ends as it does without, and warns that it could not tell", err))
			return
		}
		what := "the command can be started"
		switch {
		case notify.IsURL(target):
			what = "it is " + notify.Shown(target)
		case check == "metrics file", check == "openlineage":
			what = target
		}
		all = append(all, found(check, "%s; nothing was sent", what))
	}
	add("metrics file", tell.metricsFile, func() error { return canCreate(tell.metricsFile) })
	add("openlineage", tell.openLineage, func() error {
		if !notify.IsURL(tell.openLineage) {
			return canCreate(tell.openLineage)
		}
		_, err := r.secret(ctx, "openlineage_token")
		return err
	})
	for _, hook := range []struct{ name, target string }{{"on-success", tell.onSuccess}, {"on-failure", tell.onFailure}} {
		add(hook.name, hook.target, func() error {
			if !notify.IsURL(hook.target) {
				return checkCommand(ctx, hook.target)
			}
			_, err := r.secret(ctx, "webhook_token")
			return err
		})
	}
	return all
}

// canCreate reports whether a file can be created in its folder.
func canCreate(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".dealflow-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// plainWord matches the first word of a shell command if it is the name of a program or a path of one.
var plainWord = regexp.MustCompile(`^\s*([A-Za-z0-9_./+-]+)(\s|;|$)`)

// checkCommand has a shell read a command without starting it, and look for the program that is its first word. The error does not have the command,
// which may contain a secret.
func checkCommand(ctx context.Context, command string) error {
	if err := notify.CheckScript(ctx, command); err != nil {
		return fmt.Errorf("no shell can read the command: %w", err)
	}
	word := plainWord.FindStringSubmatch(command)
	if word == nil {
		return nil
	}
	if err := exec.CommandContext(ctx, "sh", "-c", `command -v -- "$1" >/dev/null`, "sh", word[1]).Run(); err != nil {
		return fmt.Errorf("the command begins with %s, which is no program here", word[1])
	}
	return nil
}
