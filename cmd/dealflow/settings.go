package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dealflow/extract"
	"dealflow/internal/config"
	"dealflow/load/mirror"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/load/store/s3store"
	"dealflow/schemas/api"
)

// defaultConfig is the settings file that is read if --config names none and the file exists.
const defaultConfig = "dealflow.yaml"

// likeConfig is a name that is meant as that of the settings file.
const likeConfig = "dealflow.yml"

// lakeSetting is the address of the lake.
var lakeSetting = config.Setting{Name: "lake"}

// settings are the settings of several commands, and where the settings of all commands are found.
type settings struct {
	config  string
	profile string
	strict  bool
	lake    string
	api     string
	clock   string
	dayZone string

	requireLake bool // the command does not begin a new lake
	workDir     string
	caching     string // folder
	cacheGB     int
	json        bool
	verbose     bool
	quiet       bool
	format      string // of lines on stderr
	log         *slog.Logger

	pageMemory byteSize
	tell       tellSettings

	sources settingSources
	s3      func(address string) store.Store // environment.S3
}

// settingSources say where the settings of all commands are found.
type settingSources struct {
	*config.Sources
	command *cobra.Command // the one that runs; nil before the settings are read
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

// addGlobal adds the flags of all commands.
func (s *settings) addGlobal(flags *pflag.FlagSet) {
	flags.StringVar(&s.config, "config", "", "settings file, YAML (default: "+defaultConfig+" if it exists)")
	flags.StringVar(&s.profile, "profile", "", "profile of the settings file (default: the one that the file names, if any)")
	flags.BoolVar(&s.strict, "strict", false, "refuse variables "+config.Prefix+"… that no setting has; end with exit code 9 if a command that writes, or status, has warnings; of serve: answer 400 to parameters that the API does not know")
	flags.StringVar(&s.lake, "lake", "lake", "folder of the lake, or s3://bucket/prefix")
	flags.StringVar(&s.workDir, "work-dir", "", "local folder for unfinished files (default: the system's)")
	flags.StringVar(&s.caching, "cache-dir", "", "local folder for copies of files of a lake on S3 (default: the user's cache folder)")
	flags.IntVar(&s.cacheGB, "cache-gb", 20, "maximum size of the cache folder, in GB")
	flags.BoolVar(&s.json, "json", false, "print the result as one JSON object; refused by commands without such a result")
	flags.BoolVarP(&s.verbose, "verbose", "v", false, "log each step")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print only warnings and errors on stderr")
	flags.StringVar(&s.format, "log-format", logText, "form of the lines on stderr: text or json")
}

// addAPI adds the flags of the commands that use the API.
func (s *settings) addAPI(flags *pflag.FlagSet) {
	flags.StringVar(&s.api, "api", "", "base URL of the API, such as https://host; …/v3 is under it")
	flags.StringVar(&s.clock, "clock", "machine", "source of instants: machine, or server for a simulated market or a served lake")
	s.pageMemory = extract.DefaultPageMemory
	flags.Var(&s.pageMemory, "page-memory", "most memory for pages that are being read, of all feeds together, uncompressed; pages wait for it")
}

// addDayZone adds the flag of the commands that count days.
func (s *settings) addDayZone(flags *pflag.FlagSet) {
	shared(flags, func(flags *pflag.FlagSet) {
		flags.StringVar(&s.dayZone, "day-zone", "", "time zone of the days of snapshots, such as America/New_York (default: the lake's; of a new lake, UTC)")
	})
}

// addRequireLake adds the flag of the commands that can begin a lake and that schedules call.
func (s *settings) addRequireLake(flags *pflag.FlagSet) {
	shared(flags, func(flags *pflag.FlagSet) {
		flags.BoolVar(&s.requireLake, "require-lake", false, "refuse to begin a new lake: without a lake at --lake (a wrong address, a disk that is not mounted) nothing is written, and the exit code is 10")
	})
}

// store opens the store of the lake. For S3 it uses the settings of the AWS tools: AWS_* in the environment, profiles,
// AWS_ENDPOINT_URL_S3.
func (s *settings) store(ctx context.Context) (store.Store, error) {
	if s.lake != "" {
		return s.storeAt(ctx, "--lake", s.from(lakeSetting.Name), s.lake)
	}
	if names := s.sources.OnlyInProfiles(lakeSetting); len(names) > 0 {
		return nil, usagef("no lake: the settings file has one in its profiles alone (%s), and none of them is chosen: name it with --profile, "+
			"with %sPROFILE, or in the file with profile: %s", strings.Join(names, ", "), config.Prefix, names[0])
	}
	return nil, usagef("no lake: set --lake or DEALFLOW_LAKE to a folder or s3://bucket/prefix")
}

// looksRemote matches an address that is meant for another machine, with a slip: s3:/bucket, s3:bucket, bucket.s3:/x.
var looksRemote = regexp.MustCompile(`^(?i)[a-z][a-z0-9+.-]+:`)

// shownAddress returns the address of a store for people, hooks and metrics: without user, password and parameters, also if it
// has a slip. A folder is shown as it is.
func shownAddress(address string) string {
	if strings.Contains(address, "://") {
		return api.ShownURL(address)
	}
	scheme := looksRemote.FindString(address)
	i := strings.LastIndexByte(address, '@')
	if scheme == "" || i < len(scheme) {
		return address
	}
	if address[len(scheme)] == '/' {
		scheme += "/"
	}
	return scheme + "…" + address[i:]
}

// storeAt opens the store at an address; what names the address for errors, and from says where it is from, as for named.
func (s *settings) storeAt(ctx context.Context, what, from, address string) (store.Store, error) {
	refused := func(err error) error { return &usageError{named(what, from, err)} }
	scheme, _, remote := strings.Cut(address, "://")
	switch {
	case remote && scheme == "s3" && s.s3 != nil:
		return s.s3(address), nil
	case remote && scheme == "s3":
		remote, err := s3store.New(ctx, s3store.Config{URL: address, Log: s.log})
		if errors.Is(err, s3store.ErrURL) || errors.Is(err, s3store.ErrSetting) {
			return nil, refused(err)
		}
		if err != nil {
			return nil, err
		}
		return remote, nil
	case remote || address == "":
		return nil, refused(fmt.Errorf("%q: want a local folder or s3://bucket/prefix", shownAddress(address)))
	case looksRemote.MatchString(address):
		return nil, refused(fmt.Errorf("%q: is it s3://bucket/prefix? A folder of that name is ./%s", shownAddress(address), shownAddress(address)))
	}
	if err := checkFolder(address); err != nil { // that of a target is no flag
		return nil, refused(err)
	}
	local, err := dirstore.New(address)
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
	if err := checkFolder(user); err != nil {
		return "", usagef("the user's cache folder %w; or set --cache-dir", err)
	}
	return filepath.Join(user, "dealflow"), nil
}

// from says where the value of a flag is from; "" for the command line and for a default.
func (s *settings) from(flag string) string {
	cmd := s.sources.command
	if cmd == nil || cmd.Flag(flag) == nil || cmd.Flag(flag).Changed {
		return ""
	}
	found, _ := s.sources.Find(settingOf(cmd, cmd.Flag(flag)))
	return found.From
}

// origin is from after a comma, for the end of a flag's name: --api, from DEALFLOW_API.
func (s *settings) origin(flag string) string {
	if from := s.from(flag); from != "" {
		return ", from " + from
	}
	return ""
}

// base parses the API's address. An absent or malformed address is a usage error.
func (s *settings) base() (api.Base, error) {
	if s.api == "" {
		return api.Base{}, usagef("no API: set --api or DEALFLOW_API to its base URL, such as https://host; `dealflow serve --sim` serves one to try")
	}
	base, err := api.ParseBase(s.api)
	if err == nil {
		err = extract.CheckBase(base)
	}
	if err != nil {
		return api.Base{}, &usageError{named("--api", s.from("api"), err)}
	}
	return base, nil
}
