package lake

import "dealflow/schemas/api"

// Held says what of a run waits for a person, in its report and in the record of its attempt. The zero value says that nothing does.
type Held struct {
	Feeds    []api.Feed `json:"feeds,omitempty"`    // by the removal guard; the other feeds are committed
	Contract bool       `json:"contract,omitempty"` // the whole run, by drift that the lake has not seen before
	Checks   []string   `json:"checks,omitempty"`   // the whole run, by these quality checks
	Unasked  []string   `json:"unasked,omitempty"`  // the whole run, because these quality checks could not be asked
}
