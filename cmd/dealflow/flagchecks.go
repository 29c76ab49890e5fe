package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"dealflow/internal/attempts"
	"dealflow/internal/export"
	"dealflow/internal/notify"
	"dealflow/internal/watch/schedule"
	"dealflow/internal/workfolder"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// flagChecks are the checks of values by themselves, by the flag, or by its command and the flag; those of fixedValues are
// not here. They run where a value is read, also for a command that does not run now: a setting is mended when it is
// written, not on the night of its command. Their errors show no value of a secret flag.
var flagChecks = map[string]func(text string) error{
	"lake": checkFolder, "work-dir": checkWorkFolder, "cache-dir": checkFolder, "demo dir": checkFolder, "upgrade to": checkFolder,
	"metrics-file": checkPath, "query out": checkOutPath, "report out": checkOutPath,
	"feeds": parsed(api.ParseFeeds), "day-zone": parsed(lake.Zone),
	"ddl tables": parsed(tablesOf), "export tables": parsed(tablesOf), "files tables": parsed(fileTables),
	"on-success": notify.Check, "on-failure": notify.Check, "openlineage": checkEvents,

	"snapshot-date": checkDay, "drop-day": checkDay, "files day": checkDay,
	"now": checkInstant, "as-of": checkInstant, "start": checkInstant,
	"export since": parsed(export.ParseSince), "verify read-data": checkReadData,

	"expire keep-days": atLeast(1), "deals": atLeast(1), "nights": atLeast(3),
	"notify-timeout": between(1, 0), "status timeout": between(1, 0),
	"watch jitter": between(0, time.Hour), "watch command-limit": between(time.Minute, 0), "watch sync-every": checkSyncEvery,

	"watch run-at": parsed(schedule.ParseTimeOfDay), "watch maintain-at": orNone(parsed(schedule.ParseTimeOfWeek)), "watch maintenance": checkMaintenance,
	"watch listen": orNone(checkAddress), "serve listen": checkAddress, "ui listen": checkAddressOrSocket,
	"serve quirks": parsed(sim.ParseQuirks), "serve faults": parsed(func(text string) (serve.Faults, error) { return serve.ParseFaults(0, text) }),
}

// parsed returns a check: that a parser accepts the text.
func parsed[T any](parse func(string) (T, error)) func(string) error {
	return func(text string) error {
		_, err := parse(text)
		return err
	}
}

// checkFolder checks the path of a lake or of a work folder.
func checkFolder(text string) error {
	if err := dirstore.CheckPath(text); err != nil {
		return fmt.Errorf("%q: %w", shownAddress(strings.Trim(text, " '\"")), err)
	}
	return checkWritten(text)
}

// unreplaced matches what a shell, systemd or a template replaces where it is asked to: $HOME, ${LAKE}, %S.
var unreplaced = regexp.MustCompile(`\$[{A-Za-z_]|^%[A-Za-z](/|$)`)

// unseen is a character at the end of a path that cannot be seen: a no-break space, a byte order mark.
func unseen(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// checkWritten refuses a path that is a folder of another name than its writer meant. An address of S3 may be one, too.
func checkWritten(text string) error {
	switch shown := shownAddress(text); {
	case text == "~" || strings.HasPrefix(text, "~/"):
		return fmt.Errorf("%q: only a shell knows ~: write the whole path", shown)
	case unreplaced.MatchString(text) && !exists(text):
		return fmt.Errorf("%q: nothing replaces variables here: write the whole path, or have a shell replace them (if this is the name, create it first)", shown)
	case strings.TrimFunc(text, unseen) != text:
		return fmt.Errorf("%q: want a path without a character around it that cannot be seen", shown)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// checkOutPath checks the path of a file that a person asks for once, and sees.
func checkOutPath(text string) error {
	switch {
	case strings.Trim(text, " '\"") != text:
		return fmt.Errorf("%q: want a path without quotes or blanks around it", text)
	case strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("%q: want a path without control characters, such as a newline", text)
	}
	return nil
}

// checkPath checks the path of a file of the settings.
func checkPath(text string) error {
	if err := checkOutPath(text); err != nil {
		return err
	}
	return checkWritten(text)
}

// hostPort matches the address of a server without its scheme.
var hostPort = regexp.MustCompile(`^[A-Za-z0-9.-]+:[0-9]+(/|$)`)

// checkEvents checks where events of OpenLineage go. Its errors do not show the text, which may have a token.
func checkEvents(text string) error {
	switch {
	case notify.IsURL(text) || notify.Check(text) != nil:
		return notify.Check(text)
	case hostPort.MatchString(text):
		return errors.New("is it a server? Want a URL such as http://host:5000, or the path of a file")
	case checkPath(text) != nil:
		return errors.New("want a URL, or the whole path of a file as it is, without quotes, blanks around it, ~ and variables")
	}
	return nil
}

// checkWorkFolder checks the path of a folder in which DuckDB makes files; see workfolder.Alias.
func checkWorkFolder(text string) error {
	err := checkFolder(text)
	if err == nil && strings.ContainsAny(text, workfolder.Special) {
		return fmt.Errorf("%q: want a path without the characters %s: DuckDB would misread it", text, workfolder.Special)
	}
	return err
}

func oneOf(values []string) func(string) error {
	return func(text string) error {
		if slices.Contains(values, text) {
			return nil
		}
		last := len(values) - 1
		return fmt.Errorf("%q: want %s or %s", text, strings.Join(values[:last], ", "), values[last])
	}
}

// orNone returns a check that also accepts none.
func orNone(check func(string) error) func(string) error {
	return func(text string) error {
		if text == none {
			return nil
		}
		if err := check(text); err != nil {
			return fmt.Errorf("%w; or none", err)
		}
		return nil
	}
}

func atLeast(least int) func(string) error {
	return func(text string) error {
		if n, err := strconv.Atoi(text); err != nil || n < least {
			return fmt.Errorf("%q: want %d or more", text, least)
		}
		return nil
	}
}

// between checks a duration. most is 0 for none.
func between(least, most time.Duration) func(string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		switch {
		case err == nil && d >= least && (most == 0 || d <= most):
			return nil
		case most > 0:
			return fmt.Errorf("%q: want a duration from %s to %s", text, least, most)
		case least == 1:
			return fmt.Errorf("%q: want a duration greater than 0", text)
		}
		return fmt.Errorf("%q: want %s or more", text, least)
	}
}

func checkSyncEvery(text string) error {
	if d, err := time.ParseDuration(text); err != nil || d != 0 && d < time.Minute {
		return fmt.Errorf("%q: want 1m or more, or 0 for no syncs", text)
	}
	return nil
}

func checkMaintenance(text string) error {
	for _, name := range entriesOf(text) {
		if !slices.Contains(upkeep, name) {
			return fmt.Errorf("%q: want some of %s", text, strings.Join(upkeep, ","))
		}
	}
	return nil
}

func checkDay(text string) error {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return fmt.Errorf("%q: want YYYY-MM-DD", text)
	}
	return nil
}

func checkInstant(text string) error {
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return fmt.Errorf("%q: want an instant such as 2026-11-01T06:00:00Z", text)
	}
	return nil
}

func checkReadData(text string) error {
	if text == attempts.ReadAll {
		return nil
	}
	_, _, err := parsePart(text)
	return err
}

func checkAddressOrSocket(text string) error {
	if strings.HasPrefix(text, "unix:") {
		return nil
	}
	return checkAddress(text)
}

func checkAddress(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("%q: want an address such as 127.0.0.1:8900", text)
	}
	if _, err := new(net.Resolver).LookupPort(context.Background(), "tcp", port); err != nil {
		return fmt.Errorf("%q: want a port from 0 to 65535, such as in 127.0.0.1:8900", text)
	}
	return nil
}
