package api

import (
	"encoding/json"
	"maps"
	"math"
	"mime"
	"slices"
	"strings"
)

// ErrorForm is what tells the API's own error answer from one of a proxy or firewall. Forms can be compared with ==. The
// zero form is that of an answer that proves nothing: text, HTML, an empty body, an empty object, an array.
type ErrorForm struct {
	ErrorID bool   // the body carries the API's errorId
	media   string // JSON content type, without parameters; "" for another one
	members string // sorted names of the members of the body's object, as a JSON array
}

// IsRecognisable says whether another answer of the same form can be told from answers of other programs.
func (f ErrorForm) IsRecognisable() bool { return f.media != "" && f.members != "" }

// ErrorFormOf returns the form of an error answer.
func ErrorFormOf(contentType string, body []byte) ErrorForm {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil || len(object) == 0 {
		return ErrorForm{}
	}
	var id string
	carries := json.Unmarshal(object["errorId"], &id) == nil && strings.TrimSpace(id) != ""
	names, err := json.Marshal(slices.Sorted(maps.Keys(object)))
	if err != nil {
		panic(err) // texts only
	}
	return ErrorForm{ErrorID: carries, media: jsonMedia(contentType), members: string(names)}
}

// IsDamagedJSON says whether a body is called JSON and is not. An empty body is not damaged: many servers send none.
func IsDamagedJSON(contentType string, body []byte) bool {
	return len(body) > 0 && jsonMedia(contentType) != "" && !json.Valid(body)
}

// jsonMedia returns a content type without parameters if it is one of JSON; "" for another one.
func jsonMedia(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || !strings.HasSuffix(media, "json") {
		return ""
	}
	return media
}

// ImpossibleIDs returns ids that no deal should have, best first. The API's 404 for one of them is the form of its 404.
func ImpossibleIDs() []int64 { return []int64{math.MaxInt32, math.MaxInt32 - 1, 1} }
