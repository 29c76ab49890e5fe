package api

import (
	"fmt"
	"strings"
	"testing"
)

// TestLenient reads the id of records that a strict reader rejects. A record without a readable id could be any deal,
// and stops all removals of its feed.
func TestLenient(t *testing.T) {
	for _, record := range []string{
		`{"a":{"b":[01,nil,"\x",1 2],"c" 3,},"dealId":7}`,
		"{\"a\tb\":\"c\td\",\"dealId\":7}",
		`{"a":1,"a":2,"dealId":7}`,
		`{"a":"\ud800","dealId":7}`,
	} {
		page, err := SplitPage([]byte(`{"_embedded":{"pricedDeals":[1,`+record+`]},"_links":{}}`), igPriced)
		if err != nil || string(page.Records[1]) != record {
			t.Errorf("%q on a page: got %q, %v", record, page.Records, err)
		}
		if found, err := ReadRecordID([]byte(record), igPriced); err != nil || found.ID != 7 || !found.HasID {
			t.Errorf("%q: got %+v, %v, want id 7", record, found, err)
		}
	}
}

// TestDetails checks the error texts for records and pages that cannot be read. The texts are stored in quarantine
// files.
func TestDetails(t *testing.T) {
	deep := strings.Repeat("[", 600)
	for record, want := range map[string]string{
		`{"a" 1}`:                 `invalid_json: byte 5: want ':', got "1"`,
		`{"a":1 "b":2}`:           `invalid_json: byte 7: want ',' or '}', got "\""`,
		`{"dealId":7,}`:           `invalid_json: byte 12: want a string, got "}"`,
		`{"dealId":7`:             `invalid_json: byte 11: want ',' or '}': unexpected end`,
		`{"dealId":7} 8`:          `invalid_json: byte 13: want the end, got "8"`,
		`{"a":nil,"dealId":7}`:    `invalid_json: byte 5: want a JSON value, got "n"`,
		`{"dealId":07}`:           `invalid_json: byte 10: want a JSON value, got "0"`,
		`{"a":}`:                  `invalid_json: byte 5: want a value, got "}"`,
		`{"a":[1,{]}}`:            `invalid_json: byte 9: want the other closing bracket, got "]"`,
		`{"a":"b`:                 `invalid_json: byte 5: string: unexpected end`,
		`{"a":[1`:                 `invalid_json: byte 7: value: unexpected end`,
		`{"\x":1}`:                `invalid_json: byte 1: invalid character 'x' in string escape code`,
		"{\"a\\n\tb\":1}":         `invalid_json: byte 1: invalid character '\t' in string literal`,
		`{"a":` + deep:            `invalid_json: byte 516: value: nests deeper than 512 levels`,
		`nil`:                     `invalid_json: "nil"`,
		`[1]`:                     `not_an_object: "[1]"`,
		`{"dealId":7.5}`:          `no_usable_id: "dealId" is "7.5", want an integer of 64 bits`,
		`{"id":7}`:                `no_usable_id: no member "dealId"`,
		`{"dealId":7,"dealId":7}`: `duplicate_member: "dealId"`,
	} {
		if _, err := ReadRecordID([]byte(record), igPriced); fmt.Sprint(err) != want {
			t.Errorf("record %.60q: got %v, want %s", record, err, want)
		}
	}
	for body, want := range map[string]string{
		`<html>`: `list page: byte 0: want '{', got "<"`,
		``:       `list page: byte 0: want '{': unexpected end`,
		`{} {}`:  `list page: byte 3: want the end, got "{"`,
		`{"_embedded":{"pricedDeals":[{"a":[}]}]}}`:           `list page: byte 35: want the other closing bracket, got "}"`,
		`{"_embedded":{"pricedDeals":[1,]}}`:                  `list page: byte 31: want a value, got "]"`,
		`{"_embedded":{"pricedDeals":[1 2]}}`:                 `list page: byte 31: want ',' or ']', got "2"`,
		`{"_embedded":{"pricedDeals":[{"a":"b`:                `list page: byte 36: value: unexpected end`,
		`{"_embedded":{"pricedDeals":[` + deep:                `list page: byte 538: value: nests deeper than 512 levels`,
		`{"_embedded":{},"_embedded":{}}`:                     `list page: byte 28: _embedded: duplicate member name`,
		`{"_links":{"next":[{"href":"/a"},{"href":"/b"}]}}`:   `list page: byte 33: want one link, got "{"`,
		`{"_links":{"next":{"href":7}}}`:                      `list page: byte 26: want a string, got "7"`,
		`{"_links":{"next":{"href":"/a"},"next":{"href":1}}}`: `list page: byte 39: next: duplicate member name`,
	} {
		if _, err := SplitPage([]byte(body), igPriced); fmt.Sprint(err) != want {
			t.Errorf("page %.60q: got %v, want %s", body, err, want)
		}
	}
}
