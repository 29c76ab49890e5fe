package api

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The records of this package are for writing. A reader that must keep everything (a spelling, a null) works on the
// bytes instead. EncodeRecord keeps the spelling of numbers and does not escape <, > and &.

// EncodeRecord appends the record's JSON object, without white space, to dst. Passing a pointer to the record avoids
// copies. It fails if a text is not valid UTF-8, or a Number is not a JSON number.
func EncodeRecord(dst []byte, record any) ([]byte, error) {
	body, err := json.Marshal(record)
	if err != nil {
		return dst, err
	}
	return append(dst, body...), nil
}

// Opt is an optional member of a record: absent (the zero value; tag the field omitzero), an
// explicit null, or a value.
type Opt[T any] struct {
	value T
	state optState
}

type optState uint8

const (
	absent optState = iota
	null
	present
)

// Some returns a member with a value.
func Some[T any](v T) Opt[T] { return Opt[T]{value: v, state: present} }

// Null returns a member that is null.
func Null[T any]() Opt[T] { return Opt[T]{state: null} }

// Get returns the value; false if the member is absent or null.
func (o Opt[T]) Get() (T, bool) { return o.value, o.state == present }

// IsZero reports whether the member is absent. Encoders call it for fields with the tag omitzero.
func (o Opt[T]) IsZero() bool { return o.state == absent }

// MarshalJSONTo writes the value, or null. The receiver is a pointer so that large members are not copied.
func (o *Opt[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if o.state != present {
		return enc.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(enc, &o.value)
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (o Opt[T]) MarshalJSON() ([]byte, error) { return json.Marshal(&o) }

// UnmarshalJSON reads a value or null.
func (o *Opt[T]) UnmarshalJSON(text []byte) error {
	if bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
		*o = Null[T]()
		return nil
	}
	o.state = present
	return json.Unmarshal(text, &o.value)
}

// Number is the text of a JSON number, such as 1.475E9. Two spellings of one value are different Numbers.
type Number string

// MarshalJSONTo writes the text unchanged. A text that is not a JSON number is an error.
func (n *Number) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteValue(jsontext.Value(*n))
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (n Number) MarshalJSON() ([]byte, error) { return json.Marshal(&n) }

// UnmarshalJSON keeps the text of a number.
func (n *Number) UnmarshalJSON(text []byte) error {
	if kind := jsontext.Value(text).Kind(); kind != '0' {
		return fmt.Errorf("want a number, got %s", kind)
	}
	*n = Number(text)
	return nil
}

// NumberEntry is one entry of a map from text to number.
type NumberEntry struct {
	Key   string
	Value Number
}

// NumberMap is a JSON object with numbers as values that keeps the order of its members (openapi.yaml: Stats,
// investorType and geography).
type NumberMap []NumberEntry

// MarshalJSONTo writes the entries in order; a repeated key is an error.
func (m NumberMap) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, entry := range m {
		if err := enc.WriteToken(jsontext.String(entry.Key)); err != nil {
			return err
		}
		if err := entry.Value.MarshalJSONTo(enc); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (m NumberMap) MarshalJSON() ([]byte, error) { return json.Marshal(m) }

// UnmarshalJSONFrom reads an object and keeps its order.
func (m *NumberMap) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	opening, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if opening.Kind() != '{' {
		return fmt.Errorf("want an object, got %s", opening.Kind())
	}
	*m = NumberMap{}
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return err
		}
		entry := NumberEntry{Key: key.String()}
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := entry.Value.UnmarshalJSON(value); err != nil {
			return err
		}
		*m = append(*m, entry)
	}
	_, err = dec.ReadToken()
	return err
}

// RecordLink is a link inside a record. Unlike in Link, every optional member can be null, and templated can be false.
type RecordLink struct {
	Href        string      `json:"href"`
	Hreflang    Opt[string] `json:"hreflang,omitzero"`
	Title       Opt[string] `json:"title,omitzero"`
	Type        Opt[string] `json:"type,omitzero"`
	Deprecation Opt[string] `json:"deprecation,omitzero"`
	Profile     Opt[string] `json:"profile,omitzero"`
	Name        Opt[string] `json:"name,omitzero"`
	Templated   Opt[bool]   `json:"templated,omitzero"`
}

// RecordLinks are the links of a record, in the order in which they are written. Which of them a record may have
// depends on its kind (openapi.yaml).
type RecordLinks struct {
	Self         Opt[RecordLink] `json:"self,omitzero"`
	Original     Opt[RecordLink] `json:"original,omitzero"`
	UpdatedSince Opt[RecordLink] `json:"updatedSince,omitzero"`
	PricedDeal   Opt[RecordLink] `json:"pricedDeal,omitzero"`
}

// Converted is an amount's value in US dollars.
type Converted struct {
	USD Number `json:"usd"`
}

// MonetaryValue is an amount in the deal's own currency, and its conversion (openapi.yaml: MonetaryValue).
type MonetaryValue struct {
	Amount    Number    `json:"amount"`
	Converted Converted `json:"converted"`
}

// FxRate is an exchange rate to the US dollar. Bonds require usd; loans do not.
type FxRate struct {
	USD Opt[Number] `json:"usd,omitzero"`
}
