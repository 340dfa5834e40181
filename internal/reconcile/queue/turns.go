package queue

import (
	"container/list"
	"slices"
)

// patience is how many turns there are for one that disregards priorities.
const patience = 4

type element = *list.Element

// turns orders the items that can be handed out. Namespaces and priorities without items are not kept.
type turns struct {
	// levels are the priorities, highest first.
	levels     []*level
	namespaces map[string]*namespace
	// order has the namespaces, the one whose turn was longest ago first.
	order list.List
	taken int
}

// level is a priority.
type level struct {
	priority int
	// order has the lines of this priority, the one whose turn was longest ago first.
	order list.List
}

// namespace has the lines of a namespace, highest priority first.
type namespace struct {
	name  string
	lines []*line
	place element
}

// line has the items of a namespace and priority in the order in which they became ready.
type line struct {
	of    *namespace
	level *level
	items list.List
	// place is the place of the line in its level.
	place element
}

func newTurns() *turns { return &turns{namespaces: map[string]*namespace{}} }

func (t *turns) isEmpty() bool { return len(t.levels) == 0 }

// pushItem puts an item at the end of its line.
func (t *turns) pushItem(it *item) {
	of := t.namespaces[it.request.Namespace]
	if of == nil {
		of = &namespace{name: it.request.Namespace}
		of.place = t.order.PushBack(of)
		t.namespaces[of.name] = of
	}
	at, found := slices.BinarySearchFunc(of.lines, it.priority, func(l *line, priority int) int { return priority - l.level.priority })
	if !found {
		added := &line{of: of, level: t.levelOf(it.priority)}
		added.place = added.level.order.PushBack(added)
		of.lines = slices.Insert(of.lines, at, added)
	}
	it.line = of.lines[at]
	it.place = it.line.items.PushBack(it)
}

func (t *turns) levelOf(priority int) *level {
	at, found := slices.BinarySearchFunc(t.levels, priority, func(l *level, priority int) int { return priority - l.priority })
	if !found {
		t.levels = slices.Insert(t.levels, at, &level{priority: priority})
	}
	return t.levels[at]
}

// takeNext removes the item whose turn it is. There has to be one.
func (t *turns) takeNext() *item {
	t.taken++
	from := t.levels[0].order.Front().Value.(*line)
	if t.taken%patience == 0 {
		from = t.order.Front().Value.(*namespace).lines[0]
	}
	from.level.order.MoveToBack(from.place)
	t.order.MoveToBack(from.of.place)
	it := from.items.Front().Value.(*item)
	t.removeItem(it)
	return it
}

// removeItem removes an item from its line.
func (t *turns) removeItem(it *item) {
	from := it.line
	from.items.Remove(it.place)
	it.line, it.place = nil, nil
	if from.items.Len() > 0 {
		return
	}
	from.level.order.Remove(from.place)
	if from.level.order.Len() == 0 {
		t.levels = slices.DeleteFunc(t.levels, func(l *level) bool { return l == from.level })
	}
	of := from.of
	if of.lines = slices.DeleteFunc(of.lines, func(l *line) bool { return l == from }); len(of.lines) == 0 {
		t.order.Remove(of.place)
		delete(t.namespaces, of.name)
	}
}
