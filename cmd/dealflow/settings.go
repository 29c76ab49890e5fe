package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"dealflow/extract"
	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/load/store/s3store"
	"dealflow/schemas/api"
)

// defaultConfig is the settings file that is read if --config names none and the file exists.
const defaultConfig = "dealflow.yaml"

// settings are the settings of several commands. The YAML file has the same names as the flags, with underscores, and
// also client_id and client_secret_file.
type settings struct {
	config  string
	lake    string
	api     string
	clock   string
	dayZone string
	workDir string
	caching string // folder
	cacheGB int
	json    bool
	verbose bool
	strict  bool

	clientID string
	secret   api.Secret

	pageMemory byteSize
	warnings   []string // about the settings, for commands that use the API
}

// byteSize is a number of bytes as a flag: a number with the unit MiB or GiB.
type byteSize int64

var byteUnits = []struct {
	name  string
	bytes byteSize
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}}

// String returns the number in the largest unit that divides it.
func (b *byteSize) String() string {
	for _, unit := range byteUnits {
		if *b > 0 && *b%unit.bytes == 0 {
			return fmt.Sprintf("%d%s", *b/unit.bytes, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", int64(*b))
}

// Set parses a number with a unit, such as 512MiB.
func (b *byteSize) Set(text string) error {
	for _, unit := range byteUnits {
		number, ok := strings.CutSuffix(text, unit.name)
		if n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 32); ok && err == nil && n > 0 {
			*b = byteSize(n) * unit.bytes
			return nil
		}
	}
	return fmt.Errorf("%q: want a number above 0 with the unit MiB or GiB, such as 512MiB", text)
}

// Type names the form of the value in the help text.
func (b *byteSize) Type() string { return "size" }

func (s *settings) addGlobal(flags *pflag.FlagSet) {
	flags.StringVar(&s.config, "config", "", "settings file, YAML (default: "+defaultConfig+" if it exists) [DEALFLOW_CONFIG]")
	flags.StringVar(&s.lake, "lake", "lake", "folder of the lake, or s3://bucket/prefix [DEALFLOW_LAKE]")
	flags.StringVar(&s.workDir, "work-dir", "", "local folder for unfinished files (default: the system's) [DEALFLOW_WORK_DIR]")
	flags.StringVar(&s.caching, "cache-dir", "", "local folder for copies of files of a lake on S3 (default: the user's cache folder) [DEALFLOW_CACHE_DIR]")
	flags.IntVar(&s.cacheGB, "cache-gb", 20, "maximum size of the cache folder, in GB [DEALFLOW_CACHE_GB]")
	flags.BoolVar(&s.json, "json", false, "print the result as one JSON object")
	flags.BoolVar(&s.strict, "strict", false, "end with exit code 9 if a command that writes, or status, has warnings")
	flags.BoolVarP(&s.verbose, "verbose", "v", false, "log each step")
}

func (s *settings) addAPI(flags *pflag.FlagSet) {
	flags.StringVar(&s.api, "api", "", "base URL of the API, such as https://host; …/v3 is under it [DEALFLOW_API]")
	flags.StringVar(&s.clock, "clock", "machine", "source of instants: machine, or server for a simulated market or a served lake [DEALFLOW_CLOCK]")
	s.pageMemory = extract.DefaultPageMemory
	flags.Var(&s.pageMemory, "page-memory", "most memory for pages that are being read, of all feeds together, uncompressed; pages wait for it [DEALFLOW_PAGE_MEMORY]")
}

func (s *settings) addDayZone(flags *pflag.FlagSet) {
	flags.StringVar(&s.dayZone, "day-zone", "", "time zone of the days of snapshots, such as America/New_York (default: the lake's; of a new lake, UTC) [DEALFLOW_DAY_ZONE]")
}

// load sets the settings that no flag has set: from the environment, or else from the file.
func (s *settings) load(cmd *cobra.Command, getenv func(string) string) error {
	file, err := s.readFile(getenv)
	if err != nil {
		return err
	}
	find := func(name string) (string, bool) {
		if value := getenv("DEALFLOW_" + strings.ToUpper(name)); value != "" {
			return value, true
		}
		value, ok := file[name]
		return value, ok
	}
	for _, flag := range []string{"lake", "api", "clock", "day-zone", "work-dir", "cache-dir", "cache-gb", "page-memory"} {
		f := cmd.Flags().Lookup(flag)
		if f == nil || f.Changed {
			continue
		}
		if value, ok := find(strings.ReplaceAll(flag, "-", "_")); ok {
			if err := f.Value.Set(value); err != nil {
				return usagef("setting %s: %w", flag, err)
			}
		}
	}
	for flag, path := range map[string]string{"lake": s.lake, "work-dir": s.workDir, "cache-dir": s.caching} {
		if strings.ContainsFunc(path, unicode.IsControl) {
			return usagef("--%s %q: want a path without control characters, such as a newline", flag, path)
		}
	}
	// Commands that do not run say whether the next run will be refused.
	if cmd.Flags().Lookup("clock") == nil {
		s.clock, _ = find("clock")
	}
	if cmd.Flags().Lookup("day-zone") == nil {
		s.dayZone, _ = find("day_zone")
	}
	if s.clock != "" && s.clock != "machine" && s.clock != "server" {
		return usagef("--clock %q: want machine or server", s.clock)
	}
	if _, err := load.Zone(s.dayZone); err != nil {
		return usagef("--day-zone: %w", err)
	}
	s.clientID, _ = find("client_id")
	return s.loadSecret(getenv("DEALFLOW_CLIENT_SECRET"), find)
}

// loadSecret reads the secret from the environment or from a file. There is no flag for it, because flags are visible
// in process lists.
func (s *settings) loadSecret(value string, find func(string) (string, bool)) error {
	if value != "" {
		s.secret = api.NewSecret(value)
		return nil
	}
	path, ok := find("client_secret_file")
	if !ok {
		return nil
	}
	data, warning, err := readSecretFile(path)
	if err != nil {
		return usagef("client secret file: %w", err)
	}
	if warning != "" {
		s.warnings = append(s.warnings, "client secret file "+warning)
	}
	s.secret = api.NewSecret(strings.TrimRight(string(data), "\r\n"))
	return nil
}

// readSecretFile reads a file that contains a secret. The warning is not empty if other users of the machine can read or
// write the file.
func readSecretFile(path string) (data []byte, warning string, err error) {
	data, err = os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		warning = fmt.Sprintf("%s: its mode is %04o, so that other users can open it: want 0600; run `chmod 600 %s`", path, info.Mode().Perm(), path)
	}
	return data, warning, err
}

// fileKeys are the settings that the file may contain.
var fileKeys = []string{"lake", "api", "clock", "day_zone", "work_dir", "cache_dir", "cache_gb", "page_memory", "client_id", "client_secret_file"}

// readFile reads the settings file as a map of names to texts.
func (s *settings) readFile(getenv func(string) string) (map[string]string, error) {
	path := s.config
	if path == "" {
		path = getenv("DEALFLOW_CONFIG")
	}
	named := path != ""
	if !named {
		path = defaultConfig
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, nil
	}
	if err != nil {
		return nil, usagef("settings file: %w", err)
	}
	var file map[string]string
	if err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, usagef("settings file %s: %w", path, err)
	}
	for key := range file {
		known := false
		for _, k := range fileKeys {
			known = known || k == key
		}
		if !known {
			return nil, usagef("settings file %s: unknown setting %q, want one of %s (set the secret itself in DEALFLOW_CLIENT_SECRET or a separate file)", path, key, strings.Join(fileKeys, ", "))
		}
	}
	return file, nil
}

// store opens the store of the lake. For S3 it uses the settings of the AWS tools: AWS_* in the environment, profiles,
// AWS_ENDPOINT_URL_S3.
func (s *settings) store(ctx context.Context) (store.Store, error) {
	scheme, _, remote := strings.Cut(s.lake, "://")
	switch {
	case s.lake == "":
		return nil, usagef("no lake: set --lake or DEALFLOW_LAKE to a folder or s3://bucket/prefix")
	case remote && scheme == "s3":
		return s3store.New(ctx, s3store.Config{URL: s.lake})
	case remote:
		return nil, usagef("--lake %s: want a local folder or s3://bucket/prefix", s.lake)
	}
	local, err := dirstore.New(s.lake)
	if err != nil {
		return nil, &usageError{err}
	}
	return local, nil
}

// cache opens the folder for copies of a lake's files. It returns nil if the lake is a local folder.
func (s *settings) cache(where store.Store) (*mirror.Cache, error) {
	if store.LocalPath(where) != "" {
		return nil, nil
	}
	if s.cacheGB < 0 {
		return nil, usagef("--cache-gb %d: want 0 or more", s.cacheGB)
	}
	folder, err := s.cacheFolder()
	if err != nil {
		return nil, err
	}
	return mirror.NewCache(folder, int64(s.cacheGB)*1e9)
}

// cacheFolder returns the folder for copies of the files of a lake that is no local folder.
func (s *settings) cacheFolder() (string, error) {
	if s.caching != "" {
		return s.caching, nil
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", usagef("no folder for the cache; set --cache-dir: %w", err)
	}
	return filepath.Join(user, "dealflow"), nil
}

// base parses the API's address. An absent or malformed address is a usage error.
func (s *settings) base() (api.Base, error) {
	if s.api == "" {
		return api.Base{}, usagef("no API: set --api or DEALFLOW_API to its base URL, such as https://host; `dealflow serve --sim` serves one to try")
	}
	base, err := api.ParseBase(s.api)
	if err != nil {
		return api.Base{}, usagef("--api: %w", err)
	}
	return base, nil
}

// credentials checks that id and secret are set.
func (s *settings) credentials() error {
	var missing []string
	if s.clientID == "" {
		missing = append(missing, "DEALFLOW_CLIENT_ID")
	}
	if s.secret.IsZero() {
		missing = append(missing, "DEALFLOW_CLIENT_SECRET (or DEALFLOW_CLIENT_SECRET_FILE)")
	}
	if len(missing) > 0 {
		return usagef("no credentials: set %s", strings.Join(missing, " and "))
	}
	return nil
}
