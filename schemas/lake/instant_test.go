package lake_test

import (
	"encoding/json"
	"testing"

	"dealflow/schemas/lake"
)

// TestInstantOfJSON reads RFC 3339, whatever its zone, to the microsecond, and refuses all else.
func TestInstantOfJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"2026-01-02T03:04:05.123456Z"`:         `"2026-01-02T03:04:05.123456Z"`,
		`"2026-01-02T03:04:05Z"`:                `"2026-01-02T03:04:05.000000Z"`,
		`"2026-01-02T03:04:05.1234567+05:30"`:   `"2026-01-01T21:34:05.123456Z"`,
		`"2026-02-29T03:04:05Z"`:                "", // no such day
		`"2026-01-02T03:04:05"`:                 "",
		`"2026-01-02"`:                          "",
		`""`:                                    "",
		`null`:                                  "",
		`1767323045`:                            "",
		`["2026-01-02T03:04:05Z"]`:              "",
		`"2026-01-02T03:04:05Z", "and another"`: "",
	} {
		var got lake.Instant
		err := json.Unmarshal([]byte(text), &got)
		if (err == nil) != (want != "") {
			t.Errorf("%s: got the error %v", text, err)
			continue
		}
		if err == nil {
			if written, err := json.Marshal(got); err != nil || string(written) != want {
				t.Errorf("%s: got %s, %v, want %s", text, written, err, want)
			}
		}
	}
}
