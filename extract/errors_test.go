package extract

import (
	"strings"
	"testing"

	"dealflow/schemas/api"
)

// TestStatusErrorSaysWhatTheCodeMeans explains an answer without a message by the API's table of statuses: of a 403, which says something
// of the account, only if the answer has the form of the API's.
func TestStatusErrorSaysWhatTheCodeMeans(t *testing.T) {
	for _, status := range api.Statuses() {
		form := api.ErrorFormOf("application/json", []byte(`{"errorId": "x"}`))
		bare := (&StatusError{Op: "GET", URL: "/v3", Status: status.Code, form: form}).Error()
		if another := (&StatusError{Op: "GET", URL: "/v3", Status: status.Code}).Error(); strings.Contains(another, status.Meaning) == (status.Code == 403) {
			t.Errorf("%d: got %q for an answer in another form", status.Code, another)
		}
		if !strings.Contains(bare, status.Meaning) {
			t.Errorf("%d: got %q, want it to say %q", status.Code, bare, status.Meaning)
		}
		told := (&StatusError{Op: "GET", URL: "/v3", Status: status.Code, Message: "told"}).Error()
		if strings.Contains(told, status.Meaning) || !strings.Contains(told, "told") {
			t.Errorf("%d: got %q, want the API's own message alone", status.Code, told)
		}
	}
}
