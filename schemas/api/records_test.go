package api

import (
	stdjson "encoding/json"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// sampleRecord has a member in each state.
type sampleRecord struct {
	Absent  Opt[string]        `json:"absent,omitzero"`
	Null    Opt[string]        `json:"null,omitzero"`
	Empty   Opt[string]        `json:"empty,omitzero"`
	Text    Opt[string]        `json:"text,omitzero"`
	Number  Opt[Number]        `json:"number,omitzero"`
	List    Opt[[]LoanSponsor] `json:"list,omitzero"`
	Object  Opt[BondRatings]   `json:"object,omitzero"`
	Map     Opt[NumberMap]     `json:"map,omitzero"`
	Integer Opt[int32]         `json:"integer,omitzero"`
}

func stateSample() sampleRecord {
	return sampleRecord{
		Null: Null[string](), Empty: Some(""), Text: Some("<b>&amp;</b> \"é\u2028\x07"), Number: Some(Number("1.475E9")),
		List: Some([]LoanSponsor{}), Object: Some(BondRatings{}), Integer: Some(int32(0)),
		Map: Some(NumberMap{{"z", "-0.0"}, {"", "9007199254740993"}, {"a", "99.500"}}),
	}
}

const sampleJSON = `{"null":null,"empty":"","text":"<b>&amp;</b> \"é` + "\u2028" + `\u0007","number":1.475E9,"list":[],"object":{},"map":{"z":-0.0,"":9007199254740993,"a":99.500},"integer":0}`

func TestRecordsKeepSpellingsNullsAndOrder(t *testing.T) {
	record := stateSample()
	body, err := EncodeRecord([]byte("["), &record)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(body); got != "["+sampleJSON {
		t.Errorf("got  %s\nwant [%s", got, sampleJSON)
	}
	body, err = EncodeRecord(nil, record)
	if err != nil || string(body) != sampleJSON {
		t.Errorf("by value: %s (%v)", body, err)
	}
}

func TestRecordsComeBackAsTheyWere(t *testing.T) {
	var read sampleRecord
	if err := json.Unmarshal([]byte(sampleJSON), &read); err != nil {
		t.Fatal(err)
	}
	again, err := EncodeRecord(nil, &read)
	if err != nil || string(again) != sampleJSON {
		t.Errorf("%s (%v)", again, err)
	}
	if _, filled := read.Null.Get(); filled || read.Null.IsZero() || !read.Absent.IsZero() {
		t.Error("null and absent are not told apart")
	}
	if value, filled := read.Number.Get(); !filled || value != "1.475E9" {
		t.Errorf("number: %s, %t", value, filled)
	}
}

func TestRecordsWithTheStandardEncoder(t *testing.T) {
	body, err := stdjson.Marshal(stateSample())
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := stdjson.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if err := stdjson.Unmarshal([]byte(sampleJSON), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", body, diff)
	}
}

func TestEncodeRecordRefusesWhatIsNoJSON(t *testing.T) {
	for name, record := range map[string]sampleRecord{
		"number": {Number: Some(Number("1,5"))},
		"text":   {Text: Some("\xff")},
		"map":    {Map: Some(NumberMap{{"a", "1"}, {"a", "2"}})},
	} {
		if body, err := EncodeRecord(nil, &record); err == nil {
			t.Errorf("%s: no error: %s", name, body)
		}
	}
}
