package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mainWith runs a command line with variables, and returns its exit code and what it printed.
func mainWith(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, said strings.Builder
	code = Main(t.Context(), args, environment{Environ: append(asQuick(), environ...), Now: time.Now, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said})
	return code, out.String(), said.String()
}

// wantRefused checks that a command line ends with 2 and prints these texts, and nothing on stdout.
func wantRefused(t *testing.T, environ, args []string, texts ...string) {
	t.Helper()
	code, stdout, stderr := mainWith(t, environ, args...)
	if code != 2 || stdout != "" {
		t.Errorf("%q %q ends with %d, want 2:\n%s%s", environ, args, code, stdout, stderr)
		return
	}
	for _, text := range texts {
		if !strings.Contains(stderr, text) {
			t.Errorf("%q %q says this, without %q:\n%s", environ, args, text, stderr)
		}
	}
}

// settingsFileWith writes a settings file.
func settingsFileWith(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNumbersAreDecimal checks that no flag reads a number in another base than ten, takes a negative one, or has a value
// that is not checked at all.
func TestNumbersAreDecimal(t *testing.T) {
	checked := 0
	eachFlag(new(app).root(), func(cmd *cobra.Command, f *pflag.Flag) {
		name := "--" + f.Name
		if cmd != nil {
			name = cmd.CommandPath() + " " + name
		}
		if _, ok := f.Value.(*flagValue); !ok {
			t.Fatalf("%s is a %T, want a flagValue", name, f.Value)
		}
		bad := []string{"-1", "0x2", "1_0", "x"}
		switch f.Value.Type() {
		case "int", "int64", "uint64":
			bad = append(bad, "1.5", "99999999999999999999")
			if err := f.Value.Set("00000000000000000010"); err != nil || f.Value.String() != "10" {
				t.Errorf("%s reads 00000000000000000010 as %s %v, want 10", name, f.Value, err)
			}
		case "float64":
			bad = append(bad, "NaN", "Inf", "0x1p4")
		case "duration":
			bad = append(bad, "-2h", "10")
		default:
			return
		}
		checked++
		for _, text := range bad {
			if err := f.Value.Set(text); err == nil {
				t.Errorf("%s accepts %s as %s", name, text, f.Value)
			}
		}
	})
	if checked < 40 {
		t.Errorf("%d flags were checked: the test sees too little", checked)
	}
}

// TestNumbersFromAnywhere checks that a number is read the same way on the command line, in the environment and in the file.
func TestNumbersFromAnywhere(t *testing.T) {
	lake := filepath.Join(t.TempDir(), "lake")
	wantRefused(t, nil, []string{"expire", "--lake", lake, "--keep-days", "0x23"}, `--keep-days "0x23": want a whole number`)
	wantRefused(t, []string{"DEALFLOW_EXPIRE_KEEP_DAYS=0x23"}, []string{"config", "show"}, `--keep-days, from DEALFLOW_EXPIRE_KEEP_DAYS: "0x23": want a whole number`)
	file := settingsFileWith(t, "expire:\n  keep_days: 3_5\n")
	wantRefused(t, nil, []string{"config", "show", "--config", file}, "--keep-days, from "+file+` line 2: "3_5": want a whole number`)
	wantRefused(t, nil, []string{"runs", "--last", "-1"}, `--last "-1"`)
	wantRefused(t, nil, []string{"run", "--page-size", "-5"}, `--page-size "-5"`)
}

// TestEmptyValues checks that no flag takes an empty value for its default: the variable of --drop-day "$DAY" may be unset.
func TestEmptyValues(t *testing.T) {
	eachFlag(new(app).root(), func(_ *cobra.Command, f *pflag.Flag) {
		for _, text := range []string{"", " ", "\t"} {
			if err := f.Value.Set(text); err == nil {
				t.Errorf("--%s accepts %q", f.Name, text)
			}
		}
	})
	for _, args := range [][]string{
		{"expire", "--apply", "--drop-day", ""}, {"expire", "--drop-day", "2026-01-07", "--feeds", ""}, {"serve", "--as-of", ""},
		{"report", "--out", "-", "--as-of="}, {"run", "--snapshot-date", ""}, {"status", "--profile", ""}, {"status", "--config", ""},
		{"verify", "--read-data="}, {"watch", "--listen="}, {"watch", "--maintenance", ""}, {"run", "--clock", ""}, {"status", "--lake="},
		{"query", "--out", "", "SELECT 1"},
	} {
		wantRefused(t, nil, args, " is empty: give it a value, or leave it out")
	}
	wantRefused(t, []string{"DEALFLOW_FEEDS= "}, []string{"config", "show"}, "--feeds, from DEALFLOW_FEEDS, is empty")
	for _, value := range []string{"[]", `[""]`, `" "`, `""`, ""} {
		file := settingsFileWith(t, "lake: x\nfeeds: "+value+"\n")
		wantRefused(t, nil, []string{"config", "show", "--config", file}, file+", line 2: feeds has no value: give it one, or remove it")
	}
	if code, _, stderr := mainWith(t, []string{"DEALFLOW_FEEDS="}, "config", "show"); code != 0 {
		t.Errorf("an empty variable ends with %d, want 0: %s", code, stderr)
	}
}

// TestDropDayAndGarbageOnly checks that a day to take back is refused where only garbage is removed, and that the error
// says where that comes from.
func TestDropDayAndGarbageOnly(t *testing.T) {
	line := []string{"expire", "--drop-day", "2026-02-01", "--apply", "--lake", filepath.Join(t.TempDir(), "lake")}
	wantRefused(t, nil, append(line, "--garbage-only"), "--garbage-only keeps all: leave it out")
	wantRefused(t, []string{"DEALFLOW_EXPIRE_GARBAGE_ONLY=true"}, line, "--garbage-only, from DEALFLOW_EXPIRE_GARBAGE_ONLY", "--garbage-only=false")
	file := settingsFileWith(t, "expire:\n  garbage_only: true\n")
	wantRefused(t, nil, append(line, "--config", file), "--garbage-only, from "+file+" line 2", "--garbage-only=false")
	if code, _, stderr := mainWith(t, nil, append(line, "--config", file, "--garbage-only=false")...); code != 10 {
		t.Errorf("with --garbage-only=false: got %d, want 10, no lake:\n%s", code, stderr)
	}
}

// TestNoCommand checks that a line without a command that it could run ends with 2: dealflow --lake $LAKE run, where LAKE
// is not set, has the lake "run" and no command.
func TestNoCommand(t *testing.T) {
	wantRefused(t, nil, []string{"--lake", "run"}, "no command", `--lake`, `"run"`)
	wantRefused(t, nil, []string{"--quiet"}, "no command")
	wantRefused(t, nil, []string{"config", "--lake", "show"}, "no command")
	wantRefused(t, nil, []string{"completion", "bsh"}, `unknown command "bsh"`, "did you mean bash, zsh, fish?")
	wantRefused(t, nil, []string{"help", "rn"}, `unknown command "rn"`, "did you mean man, run, runs, ui?")
	wantRefused(t, nil, []string{"help", "runs", "shw"}, `unknown command "runs shw"`, "did you mean show?")
	wantRefused(t, nil, []string{"quarantine", "lst"}, `unknown command "lst"`)
	for _, args := range [][]string{{}, {"--help"}, {"help"}, {"help", "run"}, {"help", "runs", "show"}, {"config"}, {"completion"}, {"completion", "bash"}, {"--version"}, {"run", "--help"}} {
		if code, stdout, stderr := mainWith(t, nil, args...); code != 0 || stdout == "" {
			t.Errorf("%q ends with %d, want 0:\n%s%s", args, code, stdout, stderr)
		}
	}
	if _, stdout, _ := mainWith(t, nil, "help", "runs", "show"); !strings.Contains(stdout, "dealflow runs show") {
		t.Errorf("help runs show prints\n%s", stdout)
	}
}

// TestRepeatedFlags checks that a list takes the entries of all its flags, and that no other flag is given twice with two
// values, of which one would be ignored.
func TestRepeatedFlags(t *testing.T) {
	lists := 0
	walkFlags(new(app).root(), func(_ *cobra.Command, f *pflag.Flag) {
		list := f.Annotations[listFlag] != nil
		if commas := strings.Contains(f.Usage, "comma-separated"); commas && !list {
			t.Errorf("--%s is no list: %s", f.Name, f.Usage)
		}
		if list {
			lists++
		}
	})
	if lists < 10 {
		t.Errorf("%d lists, want 10 or more", lists)
	}
	const two = "is given twice, with two values: give it once"
	wantRefused(t, nil, []string{"run", "--deadline", "1h", "--deadline", "2h"}, "--deadline "+two)
	wantRefused(t, nil, []string{"--lake", "a", "run", "--lake", "b"}, "--lake "+two)
	wantRefused(t, nil, []string{"expire", "--apply", "--apply=false"}, "--apply "+two)
	wantRefused(t, nil, []string{"run", "--on-failure", "canary", "--on-failure", "other"}, "--on-failure "+two)
	if _, _, stderr := mainWith(t, nil, "run", "--on-failure", "canary", "--on-failure", "other"); strings.Contains(stderr, "canary") {
		t.Errorf("the error shows a value that may be secret: %s", stderr)
	}
	root := new(app).root()
	run, _, err := root.Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.ParseFlags([]string{"--feeds", "bond/ig/priced", "-v", "--feeds=bond/hy/priced,loan/ll/priced", "-v", "--deadline", "1h", "--deadline", "1h"}); err != nil {
		t.Fatal(err)
	}
	if got := run.Flags().Lookup("feeds").Value.String(); got != "bond/ig/priced,bond/hy/priced,loan/ll/priced" {
		t.Errorf("--feeds twice: got %s, want all three", got)
	}
}

// TestSettingsOfOtherCommands checks that a value which a command would refuse is refused by all commands, wherever it is
// from, and that the error says where that is.
func TestSettingsOfOtherCommands(t *testing.T) {
	for _, c := range []struct{ section, name, value, want string }{
		{"run", "contract", "freze", `"freze": want report or freeze`},
		{"run", "rate", "-3", `"-3": want a number, 0 or more`},
		{"run", "rate", "NaN", `"NaN": want a number`},
		{"run", "feeds", "[bond/ig/pricd]", "bond/ig/pricd"},
		{"run", "deadline", "-2h", `"-2h": want a duration`},
		{"run", "attempts", "-1", `"-1": want a whole number`},
		{"run", "requests_per_day", "-4", `"-4": want a whole number`},
		{"run", "auth_encoding", "rfc", `"rfc": want raw or rfc6749`},
		{"run", "wait_for_lease", "-5m", `"-5m": want a duration`},
		{"run", "clock", "wall", `"wall": want machine or server`},
		{"run", "day_zone", "Mars", `time zone "Mars"`},
		{"run", "on_failure", `"https://"`, "want a URL"},
		{"run", "notify_timeout", "0", `"0": want a duration greater than 0`},
		{"expire", "keep_days", "0", `"0": want 1 or more`},
		{"verify", "read_data", "8/7", `"8/7": want all, or n/t`},
		{"watch", "run_at", "25:00", `"25:00": want a time of day`},
		{"watch", "maintain_at", "daily", "or none"},
		{"watch", "maintenance", "verify,repair", "want some of verify,compact,expire"},
		{"watch", "sync_every", "5s", "want 1m or more, or 0"},
		{"watch", "jitter", "2h", "want a duration from 0s to 1h0m0s"},
		{"watch", "command_limit", "5s", "want 1m0s or more"},
		{"watch", "listen", "8901", "want an address"},
		{"serve", "as_of", "today", "want an instant"},
		{"serve", "quirks", "undatde", `quirk "undatde"`},
		{"serve", "faults", "2", "want 0 to 1"},
		{"query", "format", "xls", `"xls": want`},
		{"files", "tables", "deals", `there is no table "deals"`},
		{"iceberg_on", "keep", "some", `"some": want usual or all`},
		{"demo", "nights", "2", `"2": want 3 or more`},
	} {
		flag := "--" + strings.ReplaceAll(c.name, "_", "-") + ", from "
		file := settingsFileWith(t, c.section+":\n  "+c.name+": "+c.value+"\n")
		wantRefused(t, nil, []string{"runs", "--config", file}, flag+file+" line 2: ", c.want)
		variable := "DEALFLOW_" + strings.ToUpper(c.section+"_"+c.name)
		wantRefused(t, []string{variable + "=" + strings.Trim(c.value, `[]"`)}, []string{"config", "show"}, flag+variable+": ", c.want)
	}
}

// TestReadData checks the values of a flag that may have none: true is the flag, false is its absence.
func TestReadData(t *testing.T) {
	for value, want := range map[string]string{"true": "all", "all": "all", "false": "", "2/7": "2/7"} {
		verify, _, err := new(app).root().Find([]string{"verify"})
		if err != nil {
			t.Fatal(err)
		}
		f := verify.Flags().Lookup("read-data")
		if err := f.Value.Set(value); err != nil || f.Value.String() != want {
			t.Errorf("read_data: %s is %q %v, want %q", value, f.Value, err, want)
		}
	}
}

// TestChecksHaveFlags checks that each entry of the tables of values and checks is of a flag.
func TestChecksHaveFlags(t *testing.T) {
	names := map[string]bool{}
	walkFlags(new(app).root(), func(cmd *cobra.Command, f *pflag.Flag) {
		_, words, _ := strings.Cut(cmd.CommandPath(), " ")
		names[f.Name], names[words+" "+f.Name] = true, true
	})
	for name := range flagChecks {
		if _, twice := fixedValues[name]; twice || !names[name] {
			t.Errorf("the check of %s is of no flag, or its values are fixed", name)
		}
	}
	for name := range fixedValues {
		if !names[name] {
			t.Errorf("the values of %s are of no flag", name)
		}
	}
}

// TestInitOfNamedFile checks that init writes the file that DEALFLOW_CONFIG names, which is not there yet.
func TestInitOfNamedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.yaml")
	environ := []string{"DEALFLOW_CONFIG=" + path}
	wantRefused(t, environ, []string{"config", "show"}, "settings file: ")
	if code, _, stderr := mainWith(t, environ, "init", path); code != 0 {
		t.Fatalf("init ends with %d: %s", code, stderr)
	}
	if code, _, stderr := mainWith(t, environ, "config", "show"); code != 0 {
		t.Errorf("config show ends with %d: %s", code, stderr)
	}
}
