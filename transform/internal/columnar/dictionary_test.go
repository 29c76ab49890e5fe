package columnar

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// TestDictionary numbers texts of which few or most are distinct, the empty one among them, batch after batch, and
// compares with a map.
func TestDictionary(t *testing.T) {
	for _, distinct := range []int{1, 2, 31, 32, 33, 1000, 1 << 20} {
		t.Run(fmt.Sprint(distinct), func(t *testing.T) {
			mem := memory.NewCheckedAllocator(dirtyAllocator{memory.NewGoAllocator()})
			defer mem.AssertSize(t, 0)
			random := rand.New(rand.NewPCG(1, uint64(distinct)))
			d := newDictionary(mem)
			defer d.release()
			for range 3 {
				numberTexts(t, random, d, distinct)
			}
			d.numberOf([]byte("left over"))
		})
	}
}

// numberTexts puts texts into a column and takes them.
func numberTexts(t *testing.T, random *rand.Rand, d *dictionary, distinct int) {
	t.Helper()
	numbers, want := map[string]int{}, []string{}
	for range 5000 {
		n := random.IntN(distinct)
		text := strings.Repeat("x", n%3) + fmt.Sprint(n)[min(1, n%2):] // some empty, many of one length
		number, known := numbers[text]
		if !known {
			number = len(want)
			numbers[text], want = number, append(want, text)
		}
		if got := d.numberOf([]byte(text)); got != number {
			t.Fatalf("text %q, the %dth new one: got number %d, want %d", text, len(want), got, number)
		}
	}
	taken := d.take()
	defer taken.Release()
	texts := taken.(*array.String)
	if texts.Len() != len(want) || texts.NullN() != 0 {
		t.Fatalf("got %d texts, %d of them NULL, want %d", texts.Len(), texts.NullN(), len(want))
	}
	for i := range want {
		if texts.Value(i) != want[i] {
			t.Fatalf("text %d: got %q, want %q", i, texts.Value(i), want[i])
		}
	}
}
