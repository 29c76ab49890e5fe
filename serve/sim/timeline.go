package sim

import (
	"container/heap"
	"time"
)

// timeline is the heap of what will happen. Events at one instant happen in the order in which they
// were put there, so the order is total and the same however the clock moves.
type timeline struct {
	events eventHeap
	count  uint64
}

type event struct {
	at   time.Time
	rank uint64
	do   func(at time.Time)
}

// schedule puts an event on the timeline. An event in the past happens next.
func (t *timeline) schedule(at time.Time, do func(at time.Time)) {
	t.count++
	heap.Push(&t.events, event{at, t.count, do})
}

// run lets everything up to now happen.
func (t *timeline) run(now time.Time) {
	for len(t.events) > 0 && !t.events[0].at.After(now) {
		next := heap.Pop(&t.events).(event)
		next.do(next.at)
	}
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].rank < h[j].rank
	}
	return h[i].at.Before(h[j].at)
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = event{}
	*h = (*h)[:last]
	return x
}
