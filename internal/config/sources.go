package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Config is what Read reads.
type Config struct {
	Settings []Setting
	Environ  []string // NAME=value; a variable with an empty value counts as absent
	Path     string   // of the settings file, for messages; "" if there is none
	Text     []byte   // of the settings file

	// Profile is the name of the profile; "" for the one that the file names, or none.
	Profile string
	// Chosen says that Profile is on the command line. Then a variable that contradicts the profile is a fault: the user
	// has asked for another lake or account than the environment names.
	Chosen bool
}

// Sources are the variables and the settings file. They do not change, and are safe for concurrent use.
type Sources struct {
	variables map[string]string // by Setting.full
	file      *file
	profile   string
	unknown   []Unknown
}

// Value is the value of a setting.
type Value struct {
	Text string
	From string // such as "DEALFLOW_LAKE" or "dealflow.yaml line 3, profile test"

	level int // 0 for a variable, 1 for the profile, 2 for the rest of the file: the least one counts
}

// Unknown is a variable whose name begins with Prefix and that no setting has.
type Unknown struct {
	Name string
	Near string // the variable that it most probably means; "" for none
}

// String returns the name, with a question about the one that is meant.
func (u Unknown) String() string { return u.Name + DidYouMean(u.Near) }

// names are the names of all settings.
type names struct {
	byKey, byName map[string]Setting // by Setting.Key and Setting.full
	keys          []string           // that may be in the file
	variables     []string
	sections      map[string]bool
}

func namesOf(all []Setting) *names {
	n := &names{byKey: map[string]Setting{}, byName: map[string]Setting{}, sections: map[string]bool{}}
	for _, s := range all {
		n.add(s)
		if s.Command != "" {
			n.sections[s.Command] = true
		}
		if s.Shared {
			n.add(s.Plain())
		}
	}
	for _, s := range n.byKey {
		if s.Kind != CommandLine {
			n.variables = append(n.variables, s.Variable())
		}
		if s.Kind == Anywhere {
			n.keys = append(n.keys, s.Key())
		}
	}
	// What several commands share comes before what one command has.
	inOrder := func(x, y string) int {
		return cmp.Or(strings.Count(x, ".")-strings.Count(y, "."), len(x)-len(y), strings.Compare(x, y))
	}
	slices.SortFunc(n.keys, inOrder)
	slices.SortFunc(n.variables, inOrder)
	return n
}

func (n *names) add(s Setting) { n.byKey[s.Key()], n.byName[s.full()] = s, s }

// Read reads the variables and the settings file. The error has all their faults.
func Read(cfg Config) (*Sources, error) {
	known := namesOf(cfg.Settings)
	s := &Sources{variables: map[string]string{}, file: parseFile(cfg.Path, cfg.Text, known), profile: cfg.Profile}
	faults := slices.Concat(s.readVariables(cfg.Environ, known), s.file.faults)
	if s.profile == "" {
		s.profile = s.file.profile
	}
	if _, ok := s.file.profiles[s.profile]; s.profile != "" && !ok {
		faults = append(faults, s.noProfile())
	}
	if cfg.Chosen {
		faults = append(faults, s.contradictions(known)...)
	}
	return s, join(faults)
}

// join makes one error of all faults, in one line.
func join(faults []error) error {
	if len(faults) < 2 {
		return errors.Join(faults...)
	}
	var all []string
	for _, fault := range faults {
		all = append(all, fault.Error())
	}
	return errors.New(strings.Join(all, "; and "))
}

func (s *Sources) readVariables(environ []string, known *names) (faults []error) {
	for _, variable := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(variable, "=")
		short, ours := strings.CutPrefix(name, Prefix)
		if !ours || value == "" {
			continue
		}
		full := strings.ToLower(short)
		setting, ok := known.byName[full]
		switch {
		case known.isOnce(full):
			faults = append(faults, fmt.Errorf("variable %s: this is given once, on the command line: in the environment it would also count for all later runs; unset it", name))
		case ok && setting.Variable() == name:
			s.variables[full] = value
		default:
			s.unknown = append(s.unknown, Unknown{name, Suggest(strings.ToUpper(name), known.variables)})
			if last := &s.unknown[len(s.unknown)-1]; last.Near == "" {
				last.Near = Suggest(strings.ToUpper(short), known.variables)
			}
		}
	}
	return faults
}

// isOnce reports whether a variable's name without its prefix, in lower case, is that of a flag that counts once.
func (n *names) isOnce(full string) bool {
	if Once("", full) {
		return true
	}
	for command := range n.sections {
		if name, ok := strings.CutPrefix(full, command+"_"); ok && Once(command, name) {
			return true
		}
	}
	return false
}

func (s *Sources) noProfile() error {
	all := slices.Sorted(maps.Keys(s.file.profiles))
	if len(all) == 0 {
		where := "there is no settings file; name it with --config"
		if s.file.path != "" {
			where = "the settings file " + s.file.path + " has no profiles"
		}
		return fmt.Errorf("profile %q: %s", s.profile, where)
	}
	return fmt.Errorf("profile %q%s: the settings file %s has %s", s.profile, DidYouMean(Suggest(s.profile, all)), s.file.path, strings.Join(all, ", "))
}

// secrets are settings of which any one replaces the others.
var secrets = []string{"client_secret", "client_secret_file", "client_secret_command"}

// contradictions returns a fault for each variable that says something else than the profile.
func (s *Sources) contradictions(known *names) (faults []error) {
	chosen := s.file.profiles[s.profile]
	for _, full := range slices.Sorted(maps.Keys(s.variables)) {
		variable := known.byName[full]
		for _, key := range slices.Sorted(maps.Keys(chosen)) {
			inFile := known.byKey[key].Name
			secret := slices.Contains(secrets, inFile) && slices.Contains(secrets, variable.Name)
			if secret || inFile == variable.Name && chosen[key].text != s.variables[full] {
				faults = append(faults, fmt.Errorf("%s contradicts the profile %s (%s): unset the variable, or leave out --profile", variable.Variable(), s.profile, s.file.where(chosen[key], "")))
				break
			}
		}
	}
	return faults
}

// Find returns the value of a setting: from its variable or else from the file; there from the profile, or else from
// what is outside profiles. In each of them the name with the command comes before the one without.
func (s *Sources) Find(setting Setting) (Value, bool) {
	forms := []Setting{setting}
	if setting.Shared {
		forms = append(forms, setting.Plain())
	}
	if setting.Kind == CommandLine {
		return Value{}, false
	}
	for _, form := range forms {
		if text, ok := s.variables[form.full()]; ok {
			return Value{text, form.Variable(), 0}, true
		}
	}
	if setting.Kind == NotInFile {
		return Value{}, false
	}
	for _, form := range forms {
		if e, ok := s.file.profiles[s.profile][form.Key()]; ok {
			return Value{e.text, s.file.where(e, s.profile), 1}, true
		}
	}
	for _, form := range forms {
		if e, ok := s.file.layer[form.Key()]; ok {
			return Value{e.text, s.file.where(e, ""), 2}, true
		}
	}
	return Value{}, false
}

// FindOne returns the one of several settings that replace each other: environment before profile before the rest of the
// file. In one of these places the first of the settings is used, if it is of kind NotInFile; two others are a fault.
// The setting has no name if there is no value.
func (s *Sources) FindOne(alternatives ...Setting) (used Setting, value Value, err error) {
	for _, setting := range alternatives {
		found, ok := s.Find(setting)
		switch {
		case !ok:
		case used.Name == "", found.level < value.level:
			used, value = setting, found
		case found.level == value.level && used.Kind != NotInFile:
			return used, value, fmt.Errorf("got both %s and %s, want one of them", value.From, found.From)
		}
	}
	return used, value, nil
}

// Unknown returns the variables that no setting has, by name.
func (s *Sources) Unknown() []Unknown { return s.unknown }

// OnlyInProfiles returns the names of the profiles that have a setting, in order, if no profile is used and no other source has the
// setting: its value depends on a choice that is not made.
func (s *Sources) OnlyInProfiles(setting Setting) (profiles []string) {
	if _, found := s.Find(setting); found || s.profile != "" {
		return nil
	}
	for name, values := range s.file.profiles {
		if _, has := values[setting.Key()]; has {
			profiles = append(profiles, name)
		}
	}
	slices.Sort(profiles)
	return profiles
}

// Profile returns the name of the profile that is used; "" for none.
func (s *Sources) Profile() string { return s.profile }
