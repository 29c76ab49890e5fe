package sim

import (
	"container/heap"
	"time"
)

// timeline is the heap of future events. Events at one instant run in the order in which they were scheduled. The order
// is therefore total and does not depend on the steps of the clock.
type timeline struct {
	events eventHeap
	count  uint64
}

type event struct {
	at   time.Time
	rank uint64
	do   func(at time.Time)
}

// schedule adds an event. An event in the past runs next.
func (t *timeline) schedule(at time.Time, do func(at time.Time)) {
	t.count++
	heap.Push(&t.events, event{at, t.count, do})
}

// run executes all events up to now, including those that they schedule.
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
