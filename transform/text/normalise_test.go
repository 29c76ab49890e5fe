package text_test

import (
	"testing"

	"dealflow/transform/text"
)

func TestNormalise(t *testing.T) {
	for raw, want := range map[string]string{
		"":                         "",
		" \t\r\n":                  "",
		"T+95":                     "T+95",
		" T+95 ":                   "T+95",
		"\u00a0MS\u00a0+\u2009120": "MS + 120",
		"MS  +  120\r\nbp":         "MS + 120 bp",
		"MS\u22123":                "MS-3",
		"7\u20138%":                "7-8%",
		"\u2014":                   "-",
		"MS+100 (±2)":              "MS+100 (+/-2)",
		"T+95\x00":                 "T+95\x00",
		"\ufeffMS\u200b+\u200e95":  "MS+95",
		"MS+95\u200b100":           "MS+95\u200b100",
		"MS+95\u00ad100":           "MS+95\u00ad100",
		"T+95 \U0001F4C8":          "T+95 \U0001F4C8",
	} {
		arena := []byte("kept")
		got, arena := text.Normalise(arena, []byte(raw))
		if string(got) != want || string(arena[:4]) != "kept" {
			t.Errorf("%q: got %q with arena %q, want %q", raw, got, arena, want)
		}
	}
}

// TestNormaliseKeepsPlainTexts checks that a text that is already normal is returned unchanged.
func TestNormaliseKeepsPlainTexts(t *testing.T) {
	raw := []byte("DBR 2.5% Feb-34+118")
	if got, arena := text.Normalise(nil, raw); &got[0] != &raw[0] || len(arena) > 0 {
		t.Errorf("got a copy")
	}
}
