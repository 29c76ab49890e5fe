package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dealflow/internal/config"
	"dealflow/internal/testkit"
)

// flagClasses has each flag of each command: a flag of "once" accepts, dates or destroys something once, and has neither
// a variable nor a key in the settings file; a flag of "setting" has both. A new flag belongs into one of them: if it
// should not count for each later night, it is one of "once".
var flagClasses = map[string]map[string]string{
	"":                {"setting": "cache-dir cache-gb config json lake log-format profile quiet strict verbose work-dir"},
	"pull":            {"setting": "api attempts auth-encoding clock contract deadline feeds page-memory page-size rate requests-per-day", "once": "accept-checks accept-clock accept-lost-commit"},
	"tell":            {"setting": "metrics-file notify-timeout on-failure on-success openlineage openlineage-namespace"},
	"compact":         {"once": "accept-lost-commit"},
	"config show":     {"setting": "origin"},
	"copy":            {"once": "until"},
	"demo":            {"setting": "deals dir nights seed"},
	"doctor":          {"setting": "day-zone require-lake"},
	"expire":          {"setting": "garbage-only keep-days keep-month-ends", "once": "accept-lost-commit apply drop-day feeds"},
	"ddl":             {"setting": "tables", "once": "iceberg load"},
	"export":          {"setting": "format tables", "once": "full include-restated since to"},
	"files":           {"setting": "format tables", "once": "commit day since"},
	"iceberg on":      {"setting": "every keep"},
	"init":            {"setting": "api clock page-memory"},
	"quarantine list": {"setting": "all"},
	"query":           {"setting": "file format out safe time-limit"},
	"replay":          {"setting": "snapshots", "once": "accept-lost-commit force"},
	"report":          {"setting": "as-of out"},
	"run":             {"setting": "day-zone keep-days keep-month-ends maintain require-lake single-writer wait-for-lease", "once": "accept-day-zone accept-removals dry-run snapshot-date"},
	"runs":            {"setting": "last"},
	"serve":           {"setting": "access-log accounts as-of base-url behind-proxy deals faults insecure-http listen quirks retry-after seed sim speed start tls-cert tls-key years"},
	"status":          {"setting": "feeds max-age timeout", "once": "now"},
	"ui":              {"setting": "behind-proxy host insecure-http listen max-age tls-cert tls-key token-file", "once": "now"},
	"upgrade":         {"setting": "to"},
	"verify":          {"setting": "read-data"},
	"watch":           {"setting": "api clock command-limit day-zone feeds jitter listen maintain-at maintenance page-memory require-lake run-at sync-every"},
}

var (
	pulling = []string{"doctor", "quarantine retry", "run", "sync"}
	tellers = []string{"compact", "expire", "quarantine retry", "replay", "run", "status", "sync", "verify"}
)

// classOf returns the class that flagClasses has for a flag, "" if none.
func classOf(command, flag string) string {
	rows := []map[string]string{flagClasses[command], flagClasses[""]}
	if slices.Contains(pulling, command) {
		rows = append(rows, flagClasses["pull"])
	}
	if slices.Contains(tellers, command) {
		rows = append(rows, flagClasses["tell"])
	}
	for _, row := range rows {
		for class, flags := range row {
			if slices.Contains(strings.Fields(flags), flag) {
				return class
			}
		}
	}
	return ""
}

// TestFlagsAreClassified fails for a flag that is in no class, or in another one than the program has it in.
func TestFlagsAreClassified(t *testing.T) {
	root := new(app).root()
	checked := 0
	eachFlag(root, func(cmd *cobra.Command, f *pflag.Flag) {
		command := ""
		if cmd != nil {
			_, command, _ = strings.Cut(cmd.CommandPath(), " ")
		}
		want, got := classOf(command, f.Name), "setting"
		if settingOf(cmd, f).Kind == config.CommandLine {
			got = "once"
		}
		switch {
		case want == "":
			t.Errorf("dealflow %s --%s is in no class: add it to flagClasses; if it accepts, dates or destroys something once, also to once in internal/config", command, f.Name)
		case want != got:
			t.Errorf("dealflow %s --%s is of class %s, want %s", command, f.Name, got, want)
		}
		checked++
	})
	if checked < 200 {
		t.Errorf("%d flags were checked: the test sees too little", checked)
	}
}

// TestNamesAreUnique checks that no two settings have the same variable or key.
func TestNamesAreUnique(t *testing.T) {
	variables, keys := map[string]config.Setting{}, map[string]config.Setting{}
	for _, s := range declared(new(app).root()) {
		for _, form := range []config.Setting{s, s.Plain()} {
			if form.Command == "" && s.Command != "" && !s.Shared {
				continue
			}
			plain := form
			plain.Shared, plain.Kind, plain.List = false, 0, false
			if other, ok := variables[form.Variable()]; ok && other != plain {
				t.Errorf("%+v and %+v have the variable %s", plain, other, form.Variable())
			}
			if other, ok := keys[form.Key()]; ok && other != plain {
				t.Errorf("%+v and %+v have the key %s", plain, other, form.Key())
			}
			variables[form.Variable()], keys[form.Key()] = plain, plain
		}
	}
	for key := range keys {
		if section, _, nested := strings.Cut(key, "."); nested {
			if _, ok := keys[section]; ok {
				t.Errorf("%s is a setting and a section", section)
			}
		}
	}
}

// checkedValues are values of flags that do not take every text.
var checkedValues = map[string]string{
	"quiet":      "false",                                                      // not with --verbose
	"on-success": "https://hooks.test/…", "on-failure": "https://hooks.test/…", // of which the host is shown
	"day-zone": "America/New_York", "feeds": "bond/ig/priced", "verify read-data": "2/7",
	"snapshot-date": "2026-01-07", "drop-day": "2026-01-07", "files day": "2026-01-07",
	"now": "2026-01-07T06:00:00Z", "as-of": "2026-01-07T06:00:00Z", "start": "2026-01-07T06:00:00Z", "export since": "7",
	"ddl tables": "bond_priced_deals", "export tables": "bond_priced_deals", "files tables": "bond_priced_deals",
	"watch run-at": "21:00", "watch maintain-at": "Sun 03:00", "watch maintenance": "compact", "watch listen": "127.0.0.1:7", "serve listen": "127.0.0.1:7", "ui listen": "127.0.0.1:7",
	"serve quirks": "undated", "serve faults": "500=0.01",
}

// valueOf returns a value that a flag accepts and that is not its default.
func valueOf(cmd *cobra.Command, f *pflag.Flag) string {
	if value, ok := forFlag(checkedValues, cmd, f); ok {
		return value
	}
	values, fixed := forFlag(fixedValues, cmd, f)
	switch {
	case fixed:
		return values[len(values)-1]
	case f.Value.Type() == "bool":
		return fmt.Sprint(f.DefValue != "true")
	}
	return map[string]string{"int": "7", "int64": "7", "uint64": "9", "float64": "0.5", "duration": "61s", "size": "7MiB", "string": "text"}[f.Value.Type()]
}

// TestEverySetting gives each flag of each command a value by its variable, by its key in the file, and by its key under
// the command's name. `config show` for that command says that it would be used, and where it is from. A flag of class
// "once" is refused in all of them.
func TestEverySetting(t *testing.T) {
	type flag struct{ variable, key, value, class string }
	flags := map[string][]flag{} // by command
	eachFlag(new(app).root(), func(cmd *cobra.Command, f *pflag.Flag) {
		if cmd == nil || f.Name == "config" || f.Name == "profile" || f.Name == "json" {
			return
		}
		_, command, _ := strings.Cut(cmd.CommandPath(), " ")
		name := strings.ReplaceAll(f.Name, "-", "_")
		section := strings.NewReplacer(" ", "_", "-", "_").Replace(command)
		plain := classOf("", f.Name) != "" || (slices.Contains(pulling, command) || command == "watch") && classOf("sync", f.Name) != "" || f.Name == "day-zone" || command == "init" ||
			slices.Contains(strings.Fields(flagClasses["tell"]["setting"]), f.Name)
		found := flag{"DEALFLOW_" + strings.ToUpper(section+"_"+name), section + "." + name, valueOf(cmd, f), classOf(command, f.Name)}
		flags[command] = append(flags[command], found)
		if plain {
			found.variable, found.key = "DEALFLOW_"+strings.ToUpper(name), name
			flags[command] = append(flags[command], found)
		}
	})
	dir := t.TempDir()
	file := filepath.Join(dir, "all.yaml")
	show := func(command, text string, environ ...string) (string, string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr strings.Builder
		args := append([]string{"config", "show", "--json", "--config", file}, strings.Fields(command)...)
		code := Main(t.Context(), args, environment{Environ: environ, Now: time.Now, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		if code != 0 {
			return fmt.Sprint(code), stderr.String()
		}
		return stdout.String(), stderr.String()
	}
	used := func(command, text, said string, f flag, from string) {
		t.Helper()
		var all []shownSetting
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatalf("%s: %q %s", command, text, said)
		}
		_, name, nested := strings.Cut(f.key, ".")
		if !nested {
			name = f.key
		}
		for _, s := range all {
			if s.Setting == name || strings.HasSuffix(s.Setting, "."+name) {
				if s.Value != f.value || !strings.HasPrefix(s.Origin, from) || said != "" {
					t.Errorf("%s: %s has the value %q from %s, want %q from %s\n%s", command, f.key, s.Value, s.Origin, f.value, from, said)
				}
				return
			}
		}
		t.Errorf("%s: %s is not shown", command, f.key)
	}
	tried := 0
	for command, all := range flags {
		for _, nested := range []bool{false, true} { // by the names with the command, and without
			var some []flag
			var environ []string
			section := strings.NewReplacer(" ", "_", "-", "_").Replace(command)
			text := ""
			for _, f := range all {
				if strings.Contains(f.key, ".") != nested {
					continue
				}
				tried++
				_, name, _ := strings.Cut(f.key, ".")
				line := f.key + ": " + f.value + "\n"
				if nested {
					line = "  " + name + ": " + f.value + "\n"
				}
				if f.class != "once" {
					some, environ, text = append(some, f), append(environ, f.variable+"="+f.value), text+line
					continue
				}
				if nested {
					line = section + ":\n" + line
				}
				byVariable, said1 := show(command, "", f.variable+"="+f.value)
				byKey, said2 := show(command, line)
				if byVariable != "2" || byKey != "2" || !strings.Contains(said1, f.variable) || !strings.Contains(said2, f.key+" is given once") {
					t.Errorf("%s: %s ends with %s and %s, want 2:\n%s%s", command, f.key, byVariable, byKey, said1, said2)
				}
			}
			if nested && text != "" {
				text = section + ":\n" + text
			}
			byVariable, said1 := show(command, "", environ...)
			byKey, said2 := show(command, text)
			for _, f := range some {
				used(command, byVariable, said1, f, f.variable)
				used(command, byKey, said2, f, file+" line ")
			}
		}
	}
	if tried < 300 {
		t.Errorf("%d settings were tried: the test sees too little", tried)
	}
}

// commented is a setting that is a comment in the file that init writes.
var commented = regexp.MustCompile(`(?m)^#((?:  )*[a-z_]+:)`)

// TestInitFile checks that the file that init writes is valid, as it is and with all of its comments removed, and that
// it then has the defaults.
func TestInitFile(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(want int, args ...string) string {
		t.Helper()
		var stdout, stderr strings.Builder
		code := Main(t.Context(), args, environment{Now: time.Now, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		if code != want {
			t.Fatalf("%q ends with %d, want %d:\n%s", args, code, want, stderr.String())
		}
		return stdout.String() + stderr.String()
	}
	run(0, "init")
	text, err := os.ReadFile("dealflow.yaml")
	if err != nil {
		t.Fatal(err)
	}
	without := run(0, "config", "show")
	text = commented.ReplaceAll(text, []byte("$1"))
	chosen := map[string]string{} // values of settings without a default that do not take every text
	for name, value := range map[string]string{
		"day_zone": "UTC", "feeds": "bond/ig/priced", "tables": "bond_priced_deals", "as_of": "2026-01-07T06:00:00Z", "start": "2026-01-07T06:00:00Z",
		"format": "parquet", "faults": "500=0.01", "read_data": "2/7",
	} {
		text, chosen[name] = bytes.ReplaceAll(text, []byte(name+": …"), []byte(name+": "+value)), value
	}
	if err := os.WriteFile("dealflow.yaml", text, 0o600); err != nil {
		t.Fatal(err)
	}
	with := run(0, "config", "show", "--json")
	var all []shownSetting
	if err := json.Unmarshal([]byte(with), &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		fromFile := strings.HasPrefix(s.Origin, "dealflow.yaml line ")
		if !fromFile && s.Setting != "config" && s.Setting != "profile" && s.Setting != "json" && !strings.HasSuffix(s.Variable, "_SECRET") && !strings.HasSuffix(s.Variable, "_KEY") && !strings.HasSuffix(s.Variable, "_TOKEN") {
			t.Errorf("%s is not in the file of init: its origin is %s", s.Setting, s.Origin)
		}
		if name := s.Setting[strings.LastIndexByte(s.Setting, '.')+1:]; fromFile && s.Value != "…" && s.Value != chosen[name] && s.Value != hidden && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(s.Setting)+` +`+regexp.QuoteMeta(s.Value)+`$`).MatchString(without) {
			t.Errorf("%s is %q in the file of init, which is not its default", s.Setting, s.Value)
		}
	}
	if said := run(2, "init"); !strings.Contains(said, "it exists") {
		t.Errorf("a second init says %s", said)
	}
	run(0, "init", "other.yaml", "--lake", "/data/my lake", "--api", "https://api.example.com", "--cache-gb", "7")
	if shown := run(0, "config", "show", "--config", "other.yaml", "--origin"); !regexp.MustCompile(`lake +/data/my lake +other.yaml line`).MatchString(shown) ||
		!regexp.MustCompile(`api +https://api.example.com +other.yaml`).MatchString(shown) || !regexp.MustCompile(`cache_gb +7 +other.yaml`).MatchString(shown) {
		t.Errorf("the flags of init are not in its file:\n%s", shown)
	}
}

// TestSettingsDoc compares docs/generated/settings.md with the flags of the commands.
func TestSettingsDoc(t *testing.T) {
	var shared, single, once strings.Builder
	seen := map[string]bool{}
	row := func(b *strings.Builder, s config.Setting, flag, usage, byDefault string) {
		if seen[s.Key()] {
			return
		}
		seen[s.Key()] = true
		key := "`" + s.Key() + "`"
		if s.Kind == config.NotInFile {
			key = ""
		}
		if byDefault != "" && byDefault != "false" && byDefault != "0" && byDefault != "0s" {
			usage += "; default `" + byDefault + "`"
		}
		fmt.Fprintf(b, "| %s | `%s` | %s | %s |\n", flag, s.Variable(), key, strings.ReplaceAll(usage, "|", `\|`))
	}
	eachFlag(new(app).root(), func(cmd *cobra.Command, f *pflag.Flag) {
		s := settingOf(cmd, f)
		usage, _, _ := strings.Cut(f.Usage, " [DEALFLOW_")
		usage = strings.ReplaceAll(usage, "DEALFLOW_…", "`DEALFLOW_…`")
		switch {
		case s.Kind == config.CommandLine:
			if line := fmt.Sprintf("| `%s` | `--%s` | %s |\n", strings.TrimPrefix(cmd.CommandPath(), "dealflow "), f.Name, usage); !seen[line] {
				seen[line] = true
				once.WriteString(line)
			}
		case s.Shared || s.Command == "":
			row(&shared, s.Plain(), "`--"+f.Name+"`", usage, f.DefValue)
		default:
			row(&single, s, "`"+strings.TrimPrefix(cmd.CommandPath(), "dealflow ")+" --"+f.Name+"`", usage, f.DefValue)
		}
	})
	for _, s := range unflaggedSettings {
		row(&shared, s.Setting, "", s.usage, "")
	}
	page := testkit.Generated + "# All settings\n\n" +
		testkit.Wrap("Made from the flags of the program. [Settings](../reference/settings.md) says which value counts, how secrets come in, and what profiles are.", "") + "\n\n" +
		"## Of several commands\n\n" +
		testkit.Wrap("For one command alone, its name comes first: `DEALFLOW_SYNC_DEADLINE`, and `deadline` in the section `sync`.", "") + "\n\n" +
		"| flag | environment | in the file | what |\n|---|---|---|---|\n" + shared.String() +
		"\n## Of one command\n\n| flag | environment | in the file | what |\n|---|---|---|---|\n" + single.String() +
		"\n## On the command line alone\n\n" +
		testkit.Wrap("These accept, date or destroy something once. In the environment or a file they would do so in all later runs: found there, they end with exit code 2.", "") +
		"\n\n| command | flag | what |\n|---|---|---|\n" + once.String()
	testkit.Golden(t, "../../docs/generated/settings.md", []byte(page))
}
