package grid

import "testing"

// TestShorten rounds the columns of quotients, each by its largest value. Other numbers and texts stay, and the title has the value.
func TestShorten(t *testing.T) {
	for _, c := range []struct {
		name       string
		texts      []string
		want, with string // of the first cell
	}{
		{">credit", []string{"59545907558.387446", "706948025"}, "59,545,907,558", "59545907558.387446"},
		{">share", []string{"0.09130006364015061", "0.5"}, "0.0913", "0.09130006364015061"},
		{">mean", []string{"23.99444444", "–"}, "24.0", "23.99444444"},
		{">exact", []string{"5.069", "12.125"}, "5.069", "5.069"},
		{">count", []string{"1006"}, "1006", "1006"},
		{"text", []string{"0.123456789"}, "0.123456789", "0.123456789"},
	} {
		table := &Table{Columns: Columns(c.name)}
		for _, text := range c.texts {
			table.Add(Cell{Text: text})
		}
		Shorten(table)
		got := table.Rows[0].Cells[0]
		if got.Text != c.want || got.exact() != c.with {
			t.Errorf("%s: got %+v, want %q and %q", c.name, got, c.want, c.with)
		}
		if last := table.Rows[len(c.texts)-1].Cells[0]; last.Text == "NaN" || c.name == ">mean" && last.Text != "–" {
			t.Errorf("%s: the last cell is %+v", c.name, last)
		}
	}
}
