package extract

import (
	"strings"
	"testing"

	"dealflow/schemas/api"
)

// TestStatusErrorSaysWhatTheCodeMeans explains an answer without a body by the API's table of statuses.
func TestStatusErrorSaysWhatTheCodeMeans(t *testing.T) {
	for _, status := range api.Statuses() {
		bare := (&StatusError{Op: "GET", URL: "/v3", Status: status.Code}).Error()
		if !strings.Contains(bare, status.Meaning) {
			t.Errorf("%d: got %q, want it to say %q", status.Code, bare, status.Meaning)
		}
		told := (&StatusError{Op: "GET", URL: "/v3", Status: status.Code, Message: "told"}).Error()
		if strings.Contains(told, status.Meaning) || !strings.Contains(told, "told") {
			t.Errorf("%d: got %q, want the API's own message alone", status.Code, told)
		}
	}
}
