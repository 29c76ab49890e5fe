package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"dealflow/internal/metrics"
	"dealflow/internal/notify"
)

// diagnoseTelling looks at whom a run tells how it ended, without telling anyone: what fails there is only a warning of the run.
func (a *app) diagnoseTelling(ctx context.Context) (all []diagnosis) {
	tell := &a.settings.tell
	add := func(check, target, ok string, look func() error) {
		if target == "" {
			return
		}
		if err := look(); err != nil {
			all = append(all, problem(check, "correct this setting: a run ends as it does without, and warns that it could not tell", err))
			return
		}
		if notify.IsURL(target) {
			ok = "it is " + notify.Shown(target)
		}
		all = append(all, found(check, "%s; nothing was sent", ok))
	}
	add("metrics file", tell.metricsFile, tell.metricsFile, func() error {
		if err := metrics.CheckFile(tell.metricsFile); err != nil {
			return err
		}
		return canCreate(tell.metricsFile) // it is replaced
	})
	add("openlineage", tell.openLineage, tell.openLineage, func() error {
		if notify.IsURL(tell.openLineage) {
			_, err := a.secret(ctx, "openlineage_token")
			return err
		}
		if _, err := os.Stat(tell.openLineage); err == nil {
			return notify.CanAppend(tell.openLineage)
		}
		return canCreate(tell.openLineage)
	})
	for _, hook := range []struct{ name, target string }{{"on-success", tell.onSuccess}, {"on-failure", tell.onFailure}} {
		add(hook.name, hook.target, "the command can be started", func() error {
			if !notify.IsURL(hook.target) {
				return checkCommand(ctx, hook.target)
			}
			_, err := a.secret(ctx, "webhook_token")
			return err
		})
	}
	return all
}

// canCreate returns why a file cannot be created. A link is a file where it leads.
func canCreate(path string) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".dealflow-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// plainWord matches the first word of a shell command if it is the name of a program or a path of one; with what follows it if that makes it the name of
// a function or a variable.
var plainWord = regexp.MustCompile(`^\s*([A-Za-z0-9_./+-]+)(\s*\(|=)?`)

// checkCommand has a shell read a command without starting it, and look for the program that is its first word. The error shows nothing of the command,
// which may contain a secret.
func checkCommand(ctx context.Context, command string) error {
	if err := notify.CheckScript(ctx, command); err != nil {
		return fmt.Errorf("no shell can read the command: %w", err)
	}
	word := plainWord.FindStringSubmatch(command)
	if word == nil || word[2] != "" {
		return nil
	}
	if err := exec.CommandContext(ctx, "sh", "-c", `command -v -- "$1" >/dev/null`, "sh", word[1]).Run(); err != nil {
		return errors.New("its first word is no program here")
	}
	return nil
}
