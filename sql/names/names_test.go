package names_test

import (
	"slices"
	"strings"
	"testing"

	"dealflow/sql/names"
)

func TestParseAliases(t *testing.T) {
	got, err := names.Parse([]byte("\ufeffalias,canonical,valid_from\n\"Aspen, Birch\",Aspen,\nOld Oak,Oak,2024-02-29\n"), nil, nil)
	want := []names.Alias{{"Aspen, Birch", "Aspen", ""}, {"Old Oak", "Oak", "2024-02-29"}, {"Aspen", "Aspen", ""}, {"Oak", "Oak", ""}}
	if err != nil || !slices.Equal(got.Banks, want) || len(got.Borrowers) > 0 || got.Version == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	other, err := names.Parse(nil, []byte("alias,canonical,valid_from\n"), nil)
	if err != nil || other.Version == got.Version {
		t.Errorf("got %+v, %v", other, err)
	}
	if none, err := names.Parse(nil, nil, nil); err != nil || none.Version != "" {
		t.Errorf("got %+v, %v", none, err)
	}
	for text, wrong := range map[string]string{
		"name,canonical,valid_from\n":                           "banks.csv: its first line is",
		"alias,canonical,valid_from\na,b\n":                     "banks.csv",
		"alias,canonical,valid_from\na,,\n":                     "banks.csv line 2",
		"alias,canonical,valid_from\na,b,1.2.24\n":              `banks.csv line 2: valid_from "1.2.24"`,
		"alias,canonical,valid_from\n\"a,b,\n":                  "banks.csv",
		"alias,canonical,valid_from\nOak  plc,b,\noak plc,c,\n": `banks.csv line 3: alias "oak plc": it is "c" here, and "b" in an earlier line`,
		"alias,canonical,valid_from\nSoci\xe9t\xe9,b,":          "banks.csv line 2: not valid UTF-8",
	} {
		if _, err := names.Parse([]byte(text), nil, nil); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: got %v, want %s", text, err, wrong)
		}
	}
}

func TestParseRoles(t *testing.T) {
	got, err := names.Parse(nil, nil, []byte("role,lead\nCo-Lead, TRUE\n\"Structurer\",false\n"))
	if want := []names.Role{{"Co-Lead", true}, {"Structurer", false}}; err != nil || !slices.Equal(got.Roles, want) || got.Version == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	for text, wrong := range map[string]string{
		"role,is_lead\n":                                "roles.csv: its first line is",
		"role,lead\na,yes\n":                            `roles.csv line 2: role "a", lead "yes": want a role, and true or false`,
		"role,lead\n,true\n":                            "roles.csv line 2",
		"role,lead\na,true,b\n":                         "roles.csv",
		"role,lead\nSole lead,true\nsole  lead,false\n": `roles.csv line 3: role "sole  lead": it is "false" here, and "true" in an earlier line`,
	} {
		if _, err := names.Parse(nil, nil, []byte(text)); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: got %v, want %s", text, err, wrong)
		}
	}
}
