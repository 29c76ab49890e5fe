package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Keys of the file that are no settings.
const (
	profileKey  = "profile"  // the profile that is used if none is named
	profilesKey = "profiles" // the profiles by name
)

// entry is a value in the file.
type entry struct {
	text string
	line int
}

// layer has the values of a file or of a profile, by Setting.Key.
type layer map[string]entry

// file is a settings file.
type file struct {
	path     string
	layer    layer // what is in no profile
	profiles map[string]layer
	profile  string // of the key "profile"
	faults   []error
}

// parseFile reads a settings file. It collects its faults.
func parseFile(path string, text []byte, known *names) *file {
	f := &file{path: path, profiles: map[string]layer{}}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return f
	}
	if err != nil {
		f.faults = append(f.faults, fmt.Errorf("settings file %s: %w", path, err))
		return f
	}
	if document.Kind != yaml.DocumentNode || document.Content[0].Kind != yaml.MappingNode {
		f.faults = append(f.faults, fmt.Errorf("settings file %s: want names and values, such as lake: /data/deals", path))
		return f
	}
	top := f.mapping("", document.Content[0])
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		f.faults = append(f.faults, fmt.Errorf("settings file %s: got a second document (---), want one", path))
		return f
	}
	f.layer = f.readLayer(slices.DeleteFunc(top, func(m member) bool {
		switch m.key {
		case profileKey:
			f.profile, _ = f.scalar(profileKey, m.node, false)
		case profilesKey:
			for _, p := range f.mapping(profilesKey, m.node) {
				f.profiles[p.key] = f.readLayer(f.mapping(profilesKey+"."+p.key, p.node), known)
			}
		}
		return m.key == profileKey || m.key == profilesKey
	}), known)
	return f
}

// readLayer reads the settings of the file or of a profile.
func (f *file) readLayer(members []member, known *names) layer {
	l := layer{}
	for _, m := range members {
		if !known.sections[m.key] {
			f.add(l, m.key, m.node, known)
			continue
		}
		for _, nested := range f.mapping(m.key, m.node) {
			f.add(l, m.key+"."+nested.key, nested.node, known)
		}
	}
	return l
}

// add adds a setting to a layer, if the file may have it.
func (f *file) add(l layer, key string, node *yaml.Node, known *names) {
	section, name, nested := strings.Cut(key, ".")
	if !nested {
		section, name = "", key
	}
	s, ok := known.byKey[key]
	earlier, again := l[key]
	switch {
	case again: // in a section, and as section.name
		f.fault(node, "%s is in line %d already: remove one of them", key, earlier.line)
	case s.Kind == CommandLine && ok, Once(section, name):
		f.fault(node, "%s is given once, on the command line, as --%s: in a file it would also count for all later runs; remove it here", key, strings.ReplaceAll(name, "_", "-"))
	case s.Kind == NotInFile && ok:
		instead := s.Variable()
		if secret := known.byKey[key+"_file"]; secret.Name != "" {
			instead += fmt.Sprintf(", or %s or %s_command here", secret.Key(), key)
		}
		f.fault(node, "%s cannot be in the file: set %s", key, instead)
	case !ok && node.Kind == yaml.MappingNode:
		f.fault(node, "unknown section %q%s; `dealflow config show` lists all", key, DidYouMean(Suggest(key, slices.Sorted(maps.Keys(known.sections)))))
	case !ok:
		f.fault(node, "unknown setting %q%s; `dealflow config show` lists all", key, DidYouMean(cmp.Or(Suggest(key, known.keys), Suggest(name, known.keys))))
	default:
		if text, ok := f.scalar(key, node, s.List); ok {
			l[key] = entry{text, node.Line}
		}
	}
}

// member is a key of a mapping, and its value.
type member struct {
	key  string
	node *yaml.Node // its value, with the line of the key
}

// mapping returns the members of a node that must be a mapping, in the order of the file.
func (f *file) mapping(key string, node *yaml.Node) (members []member) {
	content := node
	if node.Kind == yaml.AliasNode {
		content = node.Alias
	}
	if content.Kind != yaml.MappingNode { // no error of the library: it would show the value
		f.fault(node, "%s: want names and values, indented, under it", key)
		return nil
	}
	for i := 0; i < len(content.Content); i += 2 {
		if name := content.Content[i]; name.ShortTag() == "!!null" {
			f.fault(name, "a value has no name, or the name null: give it a name, or remove it")
		}
	}
	var values map[string]yaml.Node // the library refuses a name that is there twice, and merges what << names
	if err := node.Decode(&values); err != nil {
		f.faults = append(f.faults, fmt.Errorf("settings file %s: %s", f.path, strings.Join(strings.Fields(err.Error()), " ")))
	}
	lines := map[string]int{} // of what is not merged
	for i := 0; i < len(content.Content); i += 2 {
		lines[content.Content[i].Value] = content.Content[i].Line
	}
	for name, value := range values {
		value.Line = cmp.Or(lines[name], value.Line)
		members = append(members, member{name, &value})
	}
	slices.SortFunc(members, func(x, y member) int {
		return cmp.Or(cmp.Compare(x.node.Line, y.node.Line), cmp.Compare(x.node.Column, y.node.Column), strings.Compare(x.key, y.key))
	})
	return members
}

// scalar returns a node's text as it is in the file. A list has its entries, with commas.
func (f *file) scalar(key string, node *yaml.Node, list bool) (string, bool) {
	at := node
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch {
	case node.Kind == yaml.ScalarNode && node.ShortTag() != "!!null" && strings.TrimSpace(node.Value) != "":
		return node.Value, true
	case node.Kind == yaml.ScalarNode, node.Kind == yaml.SequenceNode && list && len(node.Content) == 0:
		f.fault(at, "%s has no value: give it one, or remove it", key)
		return "", false
	case node.Kind != yaml.SequenceNode || !list:
		f.fault(at, "%s: want one value", key)
		return "", false
	}
	var entries []string
	for _, e := range node.Content {
		text, ok := f.scalar(key, e, false)
		if !ok {
			return "", false
		}
		entries = append(entries, text)
	}
	return strings.Join(entries, ","), true
}

func (f *file) fault(node *yaml.Node, format string, args ...any) {
	f.faults = append(f.faults, fmt.Errorf("settings file %s, line %d: %w", f.path, node.Line, fmt.Errorf(format, args...)))
}

// where says where a value of the file is.
func (f *file) where(e entry, profile string) string {
	if profile != "" {
		return fmt.Sprintf("%s line %d, profile %s", f.path, e.line, profile)
	}
	return fmt.Sprintf("%s line %d", f.path, e.line)
}

// HasLake reports whether a text is that of a settings file which says where a lake is, or its API.
func HasLake(text []byte) bool {
	var keys map[string]yaml.Node
	if yaml.Unmarshal(text, &keys) != nil {
		return false
	}
	for _, key := range []string{"lake", "api", "client_id", profilesKey} {
		if _, ok := keys[key]; ok {
			return true
		}
	}
	return false
}

// Profiles returns the names of the profiles of a settings file. A file that cannot be read has none.
func Profiles(text []byte) []string {
	return slices.Sorted(maps.Keys(parseFile("", text, namesOf(nil)).profiles))
}
