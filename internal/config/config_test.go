package config

import (
	"fmt"
	"strings"
	"testing"
)

// all are the settings of a program with four commands.
var all = []Setting{
	{Name: "lake"}, {Name: "strict"}, {Name: "config", Kind: NotInFile}, {Name: "profile", Kind: NotInFile},
	{Command: "run", Name: "lake", Shared: true}, {Command: "sync", Name: "lake", Shared: true},
	{Command: "run", Name: "feeds", Shared: true, List: true}, {Command: "sync", Name: "feeds", Shared: true, List: true},
	{Command: "run", Name: "deadline", Shared: true}, {Command: "sync", Name: "deadline", Shared: true},
	{Command: "run", Name: "accept_removals", Kind: CommandLine},
	{Command: "expire", Name: "keep_days"}, {Command: "expire", Name: "apply", Kind: CommandLine}, {Command: "serve", Name: "listen"},
	{Name: "client_id"}, {Name: "client_secret", Kind: NotInFile}, {Name: "client_secret_file"}, {Name: "client_secret_command"},
}

func read(t *testing.T, cfg Config) *Sources {
	t.Helper()
	cfg.Settings = all
	if cfg.Path == "" {
		cfg.Path = "d.yaml"
	}
	s, err := Read(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPrecedence checks the order of the places of a setting: its variable, the profile, the rest of the file; in each
// of them the name with the command comes first.
func TestPrecedence(t *testing.T) {
	deadline := Setting{Command: "sync", Name: "deadline", Shared: true}
	places := []struct{ place, from string }{
		{"variable DEALFLOW_SYNC_DEADLINE", "DEALFLOW_SYNC_DEADLINE"},
		{"variable DEALFLOW_DEADLINE", "DEALFLOW_DEADLINE"},
		{"profiles: {p: {sync: {deadline: %}}}", "d.yaml line %, profile p"},
		{"profiles: {p: {deadline: %}}", "d.yaml line %, profile p"},
		{"sync: {deadline: %}", "d.yaml line %"},
		{"deadline: %", "d.yaml line %"},
	}
	// All from the i-th place on say something: the i-th counts.
	for i := range places {
		var environ []string
		var profile, rest string
		wantLine := ""
		for k, p := range places {
			text := "%"
			if k >= i {
				text = string(rune('a' + k))
			}
			name, isVariable := strings.CutPrefix(p.place, "variable ")
			switch {
			case isVariable:
				if k >= i {
					environ = append(environ, name+"="+text)
				}
			case k < i:
			case strings.HasPrefix(p.place, "profiles"):
				inside := strings.TrimSuffix(strings.TrimPrefix(p.place, "profiles: {p: {"), "}}")
				profile += "    " + strings.ReplaceAll(inside, "%", text) + "\n"
			default:
				rest += strings.ReplaceAll(p.place, "%", text) + "\n"
			}
		}
		text := rest
		if profile != "" {
			text += "profiles:\n  p:\n" + profile
		}
		for n, l := range strings.Split(text, "\n") {
			if strings.Contains(l, ": "+string(rune('a'+i))) {
				wantLine = fmt.Sprint(n + 1)
			}
		}
		cfg := Config{Environ: environ, Text: []byte(text)}
		if profile != "" {
			cfg.Profile = "p"
		}
		found, ok := read(t, cfg).Find(deadline)
		want := strings.ReplaceAll(places[i].from, "%", wantLine)
		if !ok || found.Text != string(rune('a'+i)) || found.From != want {
			t.Errorf("%s: got %q from %q, want %q from %q; file:\n%s", places[i].place, found.Text, found.From, string(rune('a'+i)), want, text)
		}
	}
	if _, ok := read(t, Config{Environ: []string{"DEALFLOW_DEADLINE="}}).Find(deadline); ok {
		t.Error("an empty variable counts")
	}
	other := Setting{Command: "run", Name: "deadline", Shared: true}
	if v, _ := read(t, Config{Text: []byte("deadline: 2h\nsync: {deadline: 4m}")}).Find(other); v.Text != "2h" {
		t.Errorf("run has the deadline of sync: %v", v)
	}
	if v, _ := read(t, Config{Text: []byte("feeds: [a, b]")}).Find(all[6]); v.Text != "a,b" {
		t.Errorf("a list is %q, want a,b", v.Text)
	}
	named := read(t, Config{Text: []byte("profile: q\nprofiles: {p: {lake: x}, q: {lake: y}}")})
	if v, _ := named.Find(all[0]); v.Text != "y" || named.Profile() != "q" {
		t.Errorf("the profile that the file names is not used: %v", v)
	}
}

// TestFaults checks that each fault of a file or of the environment is refused, and named.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		file, environ, profile string
		chosen                 bool
		want                   string // parts of the error, separated by |
	}{
		{file: "laek: x", want: `line 1|unknown setting "laek"|did you mean lake?`},
		{file: "lake: x\nlisten: x", want: `line 2|unknown setting "listen"|did you mean serve.listen?`},
		{file: "expire:\n  kep_days: 1", want: `line 2|unknown setting "expire.kep_days"|did you mean expire.keep_days?`},
		{file: "sync: {keep_days: 1}", want: `unknown setting "sync.keep_days"|did you mean expire.keep_days?`},
		{file: "zzzzz: 1", want: `unknown setting "zzzzz";`},
		{file: "profiles: {p: {laek: 1}}", want: `unknown setting "laek"`}, // also in a profile that is not used
		{file: "laek: 1\nfeds: 2", want: `"laek"|"feds"`},                  // all faults at once
		{file: "lake: 1\nlake: 2", want: `"lake" already defined`},
		{file: "expire.keep_days: 90\nlake: x\nexpire: {keep_days: 5}", want: "line 3: expire.keep_days is in line 1 already"},
		{file: "expire:\n  keep_days: 5\nexpire.keep_days: 90", want: "line 3: expire.keep_days is in line 2 already"},
		{file: "profiles:\n  p:\n    run.deadline: 1h\n    run: {deadline: 2h}", want: "line 4: run.deadline is in line 3 already"},
		{file: "lake: x\nnull: canary", want: "line 2: a value has no name"},
		{file: "run:\n  ~: canary", want: "line 2: a value has no name"},
		{file: "feeds: []", want: "feeds has no value"},
		{file: "canary", want: "want names and values"},
		{file: "- canary", want: "want names and values"},
		{file: "lake:", want: "lake has no value"},
		{file: "lake: [a, b]", want: "lake: want one value"},
		{file: "run: fast", want: "run: want names and values"},
		{file: "run:", want: "run: want names and values"},
		{file: "lake: x\n---\nlake: y", want: "second document"},
		{file: "client_secret: canary", want: "client_secret cannot be in the file|DEALFLOW_CLIENT_SECRET|client_secret_file|client_secret_command"},
		{file: "config: x", want: "config cannot be in the file"},
		{file: "run: {config: x}", want: `unknown setting "run.config"`},

		{file: "accept_removals: true", want: "line 1|accept_removals is given once|--accept-removals"},
		{file: "run: {accept_removals: false}", want: "run.accept_removals is given once"},
		{file: "profiles: {p: {run: {accept_removals: true}}}", want: "run.accept_removals is given once"},
		{file: "expire: {apply: true}", want: "expire.apply is given once"},
		{file: "expire: {feeds: x}", want: "expire.feeds is given once"},
		{file: "accept_anything: true", want: "accept_anything is given once"}, // before a command has it
		{environ: "DEALFLOW_ACCEPT_REMOVALS=true", want: "DEALFLOW_ACCEPT_REMOVALS: this is given once"},
		{environ: "DEALFLOW_RUN_ACCEPT_REMOVALS=0", want: "DEALFLOW_RUN_ACCEPT_REMOVALS"},
		{environ: "DEALFLOW_EXPIRE_APPLY=1", want: "DEALFLOW_EXPIRE_APPLY"},
		{environ: "DEALFLOW_NOW=2026-01-01", want: "DEALFLOW_NOW"},
		{environ: "DEALFLOW_SYNC_FORCE=1", want: "DEALFLOW_SYNC_FORCE"},

		{profile: "p", want: `profile "p": the settings file d.yaml has no profiles`},
		{file: "profiles: {prod: {lake: x}}", profile: "pord", want: `profile "pord" (did you mean prod?)`},
		{file: "profile: gone\nprofiles: {prod: {lake: x}}", want: `profile "gone"`},
		{file: "profiles: {p: {lake: x}}", environ: "DEALFLOW_LAKE=y", profile: "p", chosen: true, want: "DEALFLOW_LAKE contradicts the profile p|line 1"},
		{file: "profiles: {p: {lake: x}}", environ: "DEALFLOW_RUN_LAKE=y", profile: "p", chosen: true, want: "DEALFLOW_RUN_LAKE contradicts"},
		{file: "profiles: {p: {client_secret_file: x}}", environ: "DEALFLOW_CLIENT_SECRET=y", profile: "p", chosen: true, want: "DEALFLOW_CLIENT_SECRET contradicts"},
	} {
		_, err := Read(Config{Settings: all, Path: "d.yaml", Text: []byte(c.file), Environ: strings.Fields(c.environ), Profile: c.profile, Chosen: c.chosen})
		if err == nil {
			t.Errorf("%q %s: no error, want %s", c.file, c.environ, c.want)
			continue
		}
		for _, part := range strings.Split(c.want, "|") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q %s: %v: want %s", c.file, c.environ, err, part)
			}
		}
		if strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error has a value or a second line: %v", c.file, err)
		}
	}
	// What is no fault: a name in a section that a merge brings a second time, and the same name for all commands.
	merged := read(t, Config{Text: []byte("deadline: 3h\nrun: &r {deadline: 1h, lake: x}\nsync:\n  <<: *r\n  deadline: 2h\n")})
	if found, _ := merged.Find(Setting{Command: "sync", Name: "deadline", Shared: true}); found.Text != "2h" {
		t.Errorf("a section that merges another one: got %+v, want 2h", found)
	}
	// What is no contradiction.
	read(t, Config{Text: []byte("profiles: {p: {lake: x}}"), Environ: []string{"DEALFLOW_LAKE=x", "DEALFLOW_FEEDS=y"}, Profile: "p", Chosen: true})
	read(t, Config{Text: []byte("profiles: {p: {lake: x}}"), Environ: []string{"DEALFLOW_LAKE=y"}, Profile: "p"})
}

// TestUnknownVariables checks the names that are reported for variables that no setting has.
func TestUnknownVariables(t *testing.T) {
	s := read(t, Config{Environ: []string{
		"DEALFLOW_PORT=tcp://10.0.0.1:80", "DEALFLOW_FEED=x", "DEALFLOW_LISTEN=x", "DEALFLOW_lake=x", "DEALFLOW_GONE=", "PATH=x", "DEALFLOW_RUN_DEADLINE=1h",
	}})
	var got []string
	for _, u := range s.Unknown() {
		got = append(got, u.String())
	}
	want := "DEALFLOW_FEED (did you mean DEALFLOW_FEEDS?), DEALFLOW_LISTEN (did you mean DEALFLOW_SERVE_LISTEN?), DEALFLOW_PORT, DEALFLOW_lake (did you mean DEALFLOW_LAKE?)"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestFindOne checks which of the forms of a secret is used.
func TestFindOne(t *testing.T) {
	forms := []Setting{{Name: "client_secret", Kind: NotInFile}, {Name: "client_secret_file"}, {Name: "client_secret_command"}}
	for _, c := range []struct{ environ, file, want, fault string }{
		{"", "", "", ""},
		{"DEALFLOW_CLIENT_SECRET=v DEALFLOW_CLIENT_SECRET_FILE=f", "client_secret_command: c", "v", ""},
		{"DEALFLOW_CLIENT_SECRET_COMMAND=c", "client_secret_file: f", "c", ""},
		{"", "client_secret_command: c\nprofile: p\nprofiles: {p: {client_secret_file: f}}", "f", ""},
		{"", "client_secret_command: c\nclient_secret_file: f", "", "got both d.yaml line 2 and d.yaml line 1, want one of them"},
		{"DEALFLOW_CLIENT_SECRET_COMMAND=c DEALFLOW_CLIENT_SECRET_FILE=f", "", "", "DEALFLOW_CLIENT_SECRET_FILE and DEALFLOW_CLIENT_SECRET_COMMAND"},
	} {
		_, found, err := read(t, Config{Environ: strings.Fields(c.environ), Text: []byte(c.file)}).FindOne(forms...)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s, %q: %v, want %s", c.environ, c.file, err, c.fault)
			}
		} else if err != nil || found.Text != c.want {
			t.Errorf("%s, %q: got %q, %v, want %q", c.environ, c.file, found.Text, err, c.want)
		}
	}
}
