package sql

import (
	"slices"
	"testing"

	"dealflow/schemas/lake"
)

// TestPathsOf lists every file once, that of average size first.
func TestPathsOf(t *testing.T) {
	for _, c := range []struct {
		rows []int64
		want []string
	}{
		{[]int64{5}, []string{"a"}},
		{[]int64{900, 1, 2, 300}, []string{"d", "b", "c", "a"}}, // 300.75 on average
		{[]int64{10, 10, 10}, []string{"a", "b", "c"}},
		{[]int64{1, 0, 0}, []string{"b", "a", "c"}},
	} {
		var files []*lake.File
		for i, n := range c.rows {
			files = append(files, &lake.File{Path: string(rune('a' + i)), Rows: n})
		}
		if got := pathsOf(files); !slices.Equal(got, c.want) {
			t.Errorf("files of %d rows: got %q, want %q", c.rows, got, c.want)
		}
	}
}
