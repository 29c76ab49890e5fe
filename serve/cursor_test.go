package serve

import (
	"strings"
	"testing"
	"time"
)

// testRing returns a keyring of known keys, newest first.
func testRing(names ...string) keyring {
	var secrets [][]byte
	for _, name := range names {
		secrets = append(secrets, []byte(strings.Repeat(name, MinSigningKey)))
	}
	return newKeyring(secrets)
}

func TestSeekersComeBackAsTheyWere(t *testing.T) {
	ring := testRing("a")
	for _, state := range []string{"", "42", "any \x00 bytes"} {
		for _, want := range []Position{{time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), 12}, {time.Unix(0, 0).UTC(), -1}, {time.Unix(-5, 7).UTC(), 1 << 62}, {time.Time{}, 0}} {
			at, gotState, err := ring.decodeSeeker("walk", ring.encodeSeeker("walk", want, state))
			if err != nil || at != want || gotState != state {
				t.Errorf("%v %q: %v, %q, %v", want, state, at, gotState, err)
			}
		}
	}
}

func TestSealsHoldForTheirPurposeAlone(t *testing.T) {
	ring := testRing("b", "a")
	seal := ring.seal(sealCursor, "walk", []byte("payload"))
	for name, open := range map[string]func() bool{
		"another purpose": func() bool { _, _, ok := ring.open(sealToken, "walk", seal); return ok },
		"another bound":   func() bool { _, _, ok := ring.open(sealCursor, "walks", seal); return ok },
		"another key":     func() bool { _, _, ok := testRing("a").open(sealCursor, "walk", seal); return ok },
		"more bytes":      func() bool { _, _, ok := ring.open(sealCursor, "walk", seal+"AAAA"); return ok },
		"a line end":      func() bool { _, _, ok := ring.open(sealCursor, "walk", seal[:9]+"\n"+seal[9:]); return ok },
		"nothing":         func() bool { _, _, ok := ring.open(sealCursor, "walk", ""); return ok },
		"very long":       func() bool { _, _, ok := ring.open(sealCursor, "walk", strings.Repeat("A", 1<<20)); return ok },
	} {
		if open() {
			t.Errorf("%s: opened", name)
		}
	}
	for i := range seal {
		bent := seal[:i] + string("AB"[b2i(seal[i] == 'A')]) + seal[i+1:]
		if _, _, ok := ring.open(sealCursor, "walk", bent); ok {
			t.Errorf("bent at %d: opened", i)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestKeysRotate(t *testing.T) {
	sealed := testRing("a").seal(sealCursor, "", []byte("x"))
	if payload, _, ok := testRing("b", "a").open(sealCursor, "", sealed); !ok || string(payload) != "x" {
		t.Error("a seal of the older key does not open")
	}
	if testRing("b", "a").seal(sealCursor, "", []byte("x")) != testRing("b").seal(sealCursor, "", []byte("x")) {
		t.Error("the newest key does not seal")
	}
}

func FuzzSeeker(f *testing.F) {
	ring := testRing("a")
	f.Add(ring.encodeSeeker("walk", Position{time.Unix(1, 2), 3}, ""))
	f.Add(ring.encodeSeeker("walk", Position{time.Unix(1, 2), 3}, "state"))
	f.Add("MSBib25kL2lnL3ByaWNlZCAxIDI")
	f.Fuzz(func(t *testing.T, text string) {
		if at, state, err := ring.decodeSeeker("walk", text); err == nil && ring.encodeSeeker("walk", at, state) != text {
			t.Errorf("%q reads as %v, which is written otherwise", text, at)
		}
	})
}
