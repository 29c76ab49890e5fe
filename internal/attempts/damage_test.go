package attempts_test

import (
	"reflect"
	"testing"

	"dealflow/internal/attempts"
)

// TestAfterVerify says what is not over after a verify, by what it read: "" is no data, n/t a part.
func TestAfterVerify(t *testing.T) {
	t.Parallel()
	damage := func(reads ...string) (all []attempts.Damage) {
		for _, r := range reads {
			all = append(all, attempts.Damage{ReadData: r, Findings: 1})
		}
		return all
	}
	for name, c := range map[string]struct {
		earlier []attempts.Damage
		read    string
		found   int64
		want    []attempts.Damage
	}{
		"nothing":                         {nil, "", 0, nil},
		"the first finds something":       {nil, "all", 1, damage("all")},
		"found and mended without data":   {damage(""), "", 0, nil},
		"found without data, a part read": {damage(""), "2/4", 0, nil},
		"all read, then no data":          {damage("all"), "", 0, damage("all")},
		"all read, then a part":           {damage("all"), "2/4", 0, damage("all")},
		"all read twice":                  {damage("all"), "all", 0, nil},
		"a part, then another one":        {damage("2/4"), "3/4", 0, damage("2/4")},
		"a part, then one of other parts": {damage("2/4"), "2/5", 0, damage("2/4")},
		"a part, then the same":           {damage("2/4"), "2/4", 0, nil},
		"parts, then all":                 {damage("2/4", "1/4", ""), "all", 0, nil},
		"found again":                     {damage("all"), "all", 1, damage("all")},
		"found more":                      {damage("2/4", ""), "3/4", 1, damage("3/4", "2/4")},
		"all read, then less finds some":  {damage("all"), "", 1, damage("", "all")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := attempts.AfterVerify(c.earlier, attempts.Damage{ReadData: c.read, Findings: c.found}, true); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestAfterVerifyOfAPart keeps all damage that was open before a verify which could not read some files.
func TestAfterVerifyOfAPart(t *testing.T) {
	t.Parallel()
	earlier := []attempts.Damage{{ReadData: "all", Findings: 2}, {Findings: 1}}
	if got := attempts.AfterVerify(earlier, attempts.Damage{ReadData: "all"}, false); !reflect.DeepEqual(got, earlier) {
		t.Errorf("got %v, want %v", got, earlier)
	}
	now := attempts.Damage{ReadData: "all", Findings: 1}
	if got, want := attempts.AfterVerify(earlier, now, false), append([]attempts.Damage{now}, earlier...); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestOpenDamageOfOldPrograms reads attempts of programs that did not say what is not over.
func TestOpenDamageOfOldPrograms(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]int{0: 0, 1: 0, 7: 1} {
		a := attempts.Attempt{Command: attempts.Verify, RunID: "it", Result: attempts.Result{ExitCode: &code}}
		if got := a.OpenDamage(); len(got) != want || want > 0 && got[0].RunID != "it" {
			t.Errorf("exit code %d: got %v, want %d", code, got, want)
		}
	}
}
