package oracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// decode reads a deal into maps, lists, strings (a lone surrogate as U+FFFD), json.Number, bool
// and nil. A record that belongs in quarantine is an error.
func decode(payload []byte) (map[string]any, error) {
	if !utf8.Valid(payload) {
		return nil, errors.New("deal is not valid UTF-8")
	}
	if !json.Valid(payload) { // also bounds the depth, and so the recursion below
		return nil, errors.New("deal is not valid JSON")
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	value, err := decodeValue(d)
	if err != nil {
		return nil, err
	}
	record, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("deal is no JSON object")
	}
	return record, nil
}

// decodeValue reads the next value, token by token, because Unmarshal hides repeated member names.
func decodeValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return decodeObject(d)
	case json.Delim('['):
		return decodeList(d)
	}
	return token, nil
}

func decodeObject(d *json.Decoder) (any, error) {
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("deal has %v where a member name belongs", token)
		}
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("deal repeats the member name %q", name)
		}
		if object[name], err = decodeValue(d); err != nil {
			return nil, err
		}
	}
	_, err := d.Token() // the closing brace
	return object, err
}

func decodeList(d *json.Decoder) (any, error) {
	list := []any{}
	for d.More() {
		value, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := d.Token() // the closing bracket
	return list, err
}
