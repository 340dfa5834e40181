package queue

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// item is a request in the queue.
type item struct {
	request  reconcile.Request
	priority int
	// readyAt is when a delayed item will be ready, or when a ready one became it.
	readyAt time.Time
	// position is the index in delayed, -1 for a ready item.
	position int
	// line is where a ready item stands, nil while a worker has its request; place is its place there.
	line  *line
	place element
}

// delayed are items that are not ready yet, as a heap with the one that is ready first at its root.
type delayed []*item

// Len implements heap.Interface, as do the following.
func (d delayed) Len() int { return len(d) }

func (d delayed) Less(i, j int) bool { return d[i].readyAt.Before(d[j].readyAt) }

func (d delayed) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].position, d[j].position = i, j
}

func (d *delayed) Push(pushed any) {
	it := pushed.(*item)
	it.position = len(*d)
	*d = append(*d, it)
}

func (d *delayed) Pop() any {
	last := len(*d) - 1
	it := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	it.position = -1
	return it
}
