package sim_test

import (
	"reflect"
	"strings"
	"testing"

	"dealflow/serve/sim"
)

// TestEveryQuirkHasAName sets the quirks one by one: each name sets one field, and each field has a name.
func TestEveryQuirkHasAName(t *testing.T) {
	fields := reflect.TypeFor[sim.Quirks]()
	set := map[string]string{}
	for _, quirk := range sim.ListQuirks() {
		q, err := sim.ParseQuirks(quirk.Name + "=0.25")
		if err != nil {
			t.Error(err)
		}
		count := 0
		for i := range fields.NumField() {
			if name := fields.Field(i).Name; reflect.ValueOf(q).Field(i).Float() == 0.25 {
				set[name], count = quirk.Name, count+1
			}
		}
		if count != 1 || quirk.Rate <= 0 || quirk.About == "" {
			t.Errorf("%s sets %d fields, its rate is %v, it says %q", quirk.Name, count, quirk.Rate, quirk.About)
		}
	}
	if len(set) != fields.NumField() {
		t.Errorf("%d of %d fields have a name: %v", len(set), fields.NumField(), set)
	}
}

func TestParseQuirks(t *testing.T) {
	for text, want := range map[string]sim.Quirks{
		"none":                        {},
		"usual":                       sim.DefaultQuirks(),
		"undated,dangling":            {Undated: 0.03, DanglingLink: 0.015},
		" null = 0.5":                 {},
		"undated=1, late-record=0.25": {Undated: 1, LateRecord: 0.25},
	} {
		got, err := sim.ParseQuirks(text)
		if text == " null = 0.5" {
			if err == nil {
				t.Errorf("%q: got no error", text)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	if all, err := sim.ParseQuirks("all"); err != nil || all.Misfit == 0 || all.Undated == 0 {
		t.Errorf("all: got %+v, %v", all, err)
	}
	for text, want := range map[string]string{
		"":                  `quirk ""`,
		"danglign":          "late-record",
		"null=2":            `rate "2"`,
		"null=x,undatde":    `quirk "undatde"`,
		"misfit=NaN":        "want 0 to 1",
		"usual,misfit=-0.1": "want 0 to 1",
	} {
		if _, err := sim.ParseQuirks(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want it to name %s", text, err, want)
		}
	}
}

// TestDefaultQuirksBreakNothing checks which quirks are off by default: those that say what they break.
func TestDefaultQuirksBreakNothing(t *testing.T) {
	usual := sim.DefaultQuirks()
	for _, off := range []float64{
		usual.NullOptional, usual.NoLinks, usual.BadPricingTime, usual.LinksDiffer, usual.LateRecord, usual.LateLink, usual.DanglingLink,
		usual.Misfit, usual.UnknownField, usual.UnknownEnum,
	} {
		if off != 0 {
			t.Errorf("a quirk that breaks the document is on by default: %+v", usual)
		}
	}
}
