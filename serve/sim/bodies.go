package sim

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// bodies is the cache of bodies. It keeps up to limit bytes and drops the oldest bodies first.
type bodies struct {
	limit, size int
	kept        []keptBody // in the order in which they were made
}

// keptBody is a body that was made for a deal. The deal can have a newer one.
type keptBody struct {
	deal *deal
	size int
}

// fill makes the missing bodies of deals, on all processors if there are many.
func (b *bodies) fill(deals []*deal, render func(*deal) []byte) {
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

// renderAll makes bodies in parallel. Rendering one deal does not depend on any other deal.
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

// trim drops the oldest bodies above the limit. Records that were returned keep theirs. The entry of an outdated body
// can drop the deal's newer body too: that body is made again when it is needed.
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
