package words

import (
	"strings"
	"testing"
	"time"
)

// TestAgo checks that nothing in the future is said to be ago.
func TestAgo(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "in the future", 59 * time.Second: "59 s ago", 119 * time.Minute: "1 h 59 min ago", 72 * time.Hour: "3 days ago",
	} {
		if got := Ago(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

// TestReason checks what tables and findings show of a reason: the first detail of a list, the last clause of a long
// line, and the command that shows what was left out.
func TestReason(t *testing.T) {
	const all = " … (`dealflow runs show 01AB` has all)"
	long := strings.Repeat("the lake counts days in UTC, ", 9)
	for _, test := range []struct{ reason, want string }{
		{"no lake found", "no lake found"},
		{"the data has schema drift that the lake has not seen before:\n  bond/ig/priced: unknown_field at /esg, 1 times\n  bond/hy/priced: misfit at /fpr\nnothing was committed",
			"the data has schema drift that the lake has not seen before: bond/ig/priced: unknown_field at /esg, 1 times" + all},
		{"some feeds failed:\n  bond/ig/priced: got status 500\n", "some feeds failed: bond/ig/priced: got status 500"},
		{"first\nsecond", "first" + all},
		{"another time zone of days: the lake counts days in UTC, and --day-zone is Asia/Tokyo; leave --day-zone out, or pass --accept-day-zone to count days in Asia/Tokyo from now on",
			"another time zone of days: the lake counts days in UTC, and --day-zone is Asia/Tokyo; leave --day-zone out, or pass --accept-day-zone to count days in Asia/Tokyo from now on"},
		{long + "; leave --day-zone out, or pass --accept-day-zone", long[:119] + " … leave --day-zone out, or pass --accept-day-zone" + all},
		{strings.Repeat("é", 241), strings.Repeat("é", 120) + " … " + strings.Repeat("é", 120) + all},
	} {
		if got := Reason(test.reason, "01AB"); got != test.want {
			t.Errorf("%.60s:\n got %q\nwant %q", test.reason, got, test.want)
		}
	}
	if got, want := Reason("first\nsecond", ""), "first …"; got != want {
		t.Errorf("without an id: got %q, want %q", got, want)
	}
}
