package serve

import (
	"testing"
	"time"

	"dealflow/schemas/api"
)

func TestSeekersComeBackAsTheyWere(t *testing.T) {
	for _, feed := range api.Feeds() {
		for _, at := range []Position{{time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), 12}, {time.Unix(0, 0).UTC(), -1}, {time.Unix(-5, 7).UTC(), 1 << 62}} {
			got, err := decodeSeeker(feed, encodeSeeker(feed, at))
			if err != nil || got != at {
				t.Errorf("%s %v: %v, %v", feed, at, got, err)
			}
		}
	}
}

func FuzzSeeker(f *testing.F) {
	feed := api.Feeds()[0]
	f.Add(encodeSeeker(feed, Position{time.Unix(1, 2), 3}))
	f.Add("MSBib25kL2lnL3ByaWNlZCAxIDI")
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := decodeSeeker(feed, text); err == nil && encodeSeeker(feed, at) != text {
			t.Errorf("%q reads as %v, which is written otherwise", text, at)
		}
	})
}
