package grid

import (
	"testing"
	"time"
)

// TestAgo says durations in their largest unit, rounded.
func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "in the future", 59 * time.Second: "just now", 89*time.Second + time.Millisecond: "1 min ago", 89 * time.Minute: "89 min ago",
		9*time.Hour - time.Microsecond: "9 h ago", 9*time.Hour + 29*time.Minute: "9 h ago", 26*time.Hour + 31*time.Minute: "27 h ago",
		48*time.Hour - time.Microsecond: "2 days ago", 60*time.Hour - time.Second: "2 days ago", 24000 * time.Hour: "1,000 days ago",
	} {
		if got := Ago(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

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
