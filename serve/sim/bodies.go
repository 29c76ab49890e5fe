package sim

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// bodies keeps the bodies that were made, up to a limit of bytes, and drops the oldest first.
type bodies struct {
	limit, size int
	kept        []keptBody // in the order in which they were made
}

// keptBody is a body that was made for a deal. The deal may have another by now.
type keptBody struct {
	deal *deal
	size int
}

// make makes the bodies that deals lack, on all processors where there are many.
func (b *bodies) make(deals []*deal, render func(*deal) []byte) {
	var lacking []*deal
	for _, d := range deals {
		if d.body == nil {
			lacking = append(lacking, d)
		}
	}
	const worthIt = 32
	if len(lacking) < worthIt {
		for _, d := range lacking {
			d.body = render(d)
		}
	} else {
		renderAll(lacking, render)
	}
	for _, d := range lacking {
		b.kept = append(b.kept, keptBody{d, len(d.body)})
		b.size += len(d.body)
	}
}

// renderAll makes bodies in parallel. What a deal says hangs on nothing that another's changes.
func renderAll(deals []*deal, render func(*deal) []byte) {
	var next atomic.Int64
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(deals)); i = next.Add(1) - 1 {
				deals[i].body = render(deals[i])
			}
		})
	}
	done.Wait()
}

// trim drops the oldest bodies beyond the limit. Who has got one may go on using it. A body that was
// made anew meanwhile may go with the entry of its forerunner: it costs making it again.
func (b *bodies) trim() {
	dropped := 0
	for ; b.size > b.limit && dropped < len(b.kept); dropped++ {
		old := &b.kept[dropped]
		b.size -= old.size
		old.deal.body = nil
		*old = keptBody{}
	}
	b.kept = b.kept[dropped:]
}
