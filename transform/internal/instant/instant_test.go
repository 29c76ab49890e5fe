package instant_test

import (
	"testing"
	"time"

	"dealflow/transform/internal/instant"
)

// FuzzInstants reads any text as a date and as an instant. An accepted text has the value that the standard library
// gives it. A date or an instant in its plain form is always accepted.
func FuzzInstants(f *testing.F) {
	for _, text := range []string{"2026-11-21", "2024-02-29", "2023-02-29", "0001-01-01", "9999-12-31", "2026-1-01", "2026-11-21T04:05:06Z",
		"2026-11-21T04:05:06.123456789+05:30", "9999-12-31T23:59:59.999999-14:00", "0001-01-01T00:00:00+01:00", "2026-11-21T24:00:00Z", "2026-11-21T04:05:60Z"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, wantErr := time.Parse(time.DateOnly, text)
		days, ok := instant.Date([]byte(text))
		if ok && (wantErr != nil || int64(days)*86400 != want.Unix()) {
			t.Errorf("date %q: got day %d, want %v, %v", text, days, want, wantErr)
		}
		if !ok && wantErr == nil && want.Year() >= 1 {
			t.Errorf("date %q is not taken", text)
		}
		micros, exact, ok := instant.Timestamp([]byte(text))
		want, wantErr = time.Parse(time.RFC3339Nano, text)
		if nanos := want.Nanosecond() % 1000; ok && exact && nanos != 0 {
			t.Errorf("instant %q: got an exact value, want %d ns more", text, nanos)
		}
		if ok && (wantErr != nil || micros != want.UnixMicro()) {
			t.Errorf("instant %q: got %d, want %v, %v", text, micros, want, wantErr)
		}
		if plain := want.UTC().Format("2006-01-02T15:04:05.000000Z"); wantErr == nil && want.UTC().Year() >= 1 && want.UTC().Year() <= 9999 {
			again, exact, ok := instant.Timestamp([]byte(plain))
			if !ok || !exact || again != want.UnixMicro() {
				t.Errorf("instant %q, written as %q: got %d, %t", text, plain, again, ok)
			}
		}
	})
}
