package lake

// Held says what holds a whole run until a person has looked, in its report and in the record of its attempt. The zero value says that
// nothing does. A feed that the removal guard holds says so by its outcome.
type Held struct {
	Contract bool     `json:"contract,omitempty"` // drift that the lake has not seen before
	Checks   []string `json:"checks,omitempty"`   // the quality checks that found something
	Unasked  []string `json:"unasked,omitempty"`  // the quality checks that could not be asked
}
