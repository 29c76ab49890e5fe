package main

import (
	"fmt"
	"net"
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
	"dealflow/load"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// flagChecks are the checks of values by themselves, by the flag, or by its command and the flag; those of fixedValues are
// not here. They run where a value is read, also for a command that does not run now: a setting is mended when it is
// written, not on the night of its command. Their errors show no value of a secret flag.
var flagChecks = map[string]func(text string) error{
	"lake": checkFolder, "work-dir": checkWorkFolder, "cache-dir": checkFolder, "demo dir": checkFolder, "upgrade to": checkFolder,
	"metrics-file": checkPrintable,
	"feeds":        parsed(api.ParseFeeds), "day-zone": parsed(load.Zone),
	"ddl tables": parsed(tablesOf), "export tables": parsed(tablesOf), "files tables": parsed(fileTables),
	"on-success": notify.Check, "on-failure": notify.Check, "openlineage": notify.Check,

	"snapshot-date": checkDay, "drop-day": checkDay, "files day": checkDay,
	"now": checkInstant, "as-of": checkInstant, "start": checkInstant,
	"export since": parsed(export.ParseSince), "verify read-data": checkReadData,

	"expire keep-days": atLeast(1), "deals": atLeast(1), "nights": atLeast(3),
	"notify-timeout": between(1, 0), "status timeout": between(1, 0),
	"watch jitter": between(0, time.Hour), "watch command-limit": between(time.Minute, 0), "watch sync-every": checkSyncEvery,

	"watch run-at": parsed(schedule.ParseTimeOfDay), "watch maintain-at": orNone(parsed(schedule.ParseTimeOfWeek)), "watch maintenance": checkMaintenance,
	"watch listen": orNone(checkAddress), "serve listen": checkAddress,
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

func checkAddress(text string) error {
	if _, _, err := net.SplitHostPort(text); err != nil {
		return fmt.Errorf("%q: want an address such as 127.0.0.1:8900", text)
	}
	return nil
}

func checkPrintable(text string) error {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%q: want a path without control characters, such as a newline", text)
	}
	return nil
}
