package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

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
	workDir string
	caching string // folder
	cacheGB int
	json    bool
	verbose bool

	clientID string
	secret   api.Secret
}

func (s *settings) addGlobal(flags *pflag.FlagSet) {
	flags.StringVar(&s.config, "config", "", "settings file (YAML; default "+defaultConfig+" if it is there)")
	flags.StringVar(&s.lake, "lake", "lake", "folder of the lake, or s3://bucket/prefix [DEALFLOW_LAKE]")
	flags.StringVar(&s.workDir, "work-dir", "", "local folder for unfinished files (default: the system's) [DEALFLOW_WORK_DIR]")
	flags.StringVar(&s.caching, "cache-dir", "", "local folder for copies of the files of a lake on S3 (default: the user's cache folder) [DEALFLOW_CACHE_DIR]")
	flags.IntVar(&s.cacheGB, "cache-gb", 20, "size of that folder at most, in GB [DEALFLOW_CACHE_GB]")
	flags.BoolVar(&s.json, "json", false, "print the result as one JSON object")
	flags.BoolVarP(&s.verbose, "verbose", "v", false, "log what is being done")
}

func (s *settings) addAPI(flags *pflag.FlagSet) {
	flags.StringVar(&s.api, "api", "", "base URL of the API, such as https://host (…/v3 lies under it) [DEALFLOW_API]")
	flags.StringVar(&s.clock, "clock", "machine", "where instants come from: machine, or server for simulated and replayed markets [DEALFLOW_CLOCK]")
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
	for _, flag := range []string{"lake", "api", "clock", "work-dir", "cache-dir", "cache-gb"} {
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
	if s.clock != "" && s.clock != "machine" && s.clock != "server" {
		return usagef("--clock %q: want machine or server", s.clock)
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
	data, err := os.ReadFile(path)
	if err != nil {
		return usagef("client secret file: %w", err)
	}
	s.secret = api.NewSecret(strings.TrimRight(string(data), "\r\n"))
	return nil
}

// fileKeys are the settings that the file may contain.
var fileKeys = []string{"lake", "api", "clock", "work_dir", "cache_dir", "cache_gb", "client_id", "client_secret_file"}

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
			return nil, usagef("settings file %s: unknown setting %q; it may hold %s (the secret itself belongs into DEALFLOW_CLIENT_SECRET or a file of its own)", path, key, strings.Join(fileKeys, ", "))
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
	return dirstore.New(s.lake)
}

// cache opens the folder for copies of a lake's files. It returns nil if the lake is a local folder.
func (s *settings) cache(where store.Store) (*mirror.Cache, error) {
	if store.LocalPath(where) != "" {
		return nil, nil
	}
	if s.cacheGB < 0 {
		return nil, usagef("--cache-gb %d: want 0 or more", s.cacheGB)
	}
	folder := s.caching
	if folder == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, usagef("no folder for the cache: set --cache-dir (%w)", err)
		}
		folder = filepath.Join(user, "dealflow")
	}
	return mirror.NewCache(folder, int64(s.cacheGB)*1e9)
}

// base parses the API's address. An absent or malformed address is a usage error.
func (s *settings) base() (api.Base, error) {
	if s.api == "" {
		return api.Base{}, usagef("no API: set --api or DEALFLOW_API to its base URL, such as https://host; `dealflow serve --sim` gives one to try")
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
