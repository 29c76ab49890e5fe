package api

import (
	_ "embed"
	"strings"
)

//go:embed required.txt
var required string

// Required returns the pointers of the members that openapi.yaml requires of a feed's records, "*" for any entry of a
// list. A nested member is required of an object that is present. The caller owns the slice.
func Required(f Feed) []string {
	var pointers []string
	for line := range strings.Lines(required) {
		if feed, pointer, ok := strings.Cut(strings.TrimSpace(line), " "); ok && feed == f.String() {
			pointers = append(pointers, pointer)
		}
	}
	return pointers
}
