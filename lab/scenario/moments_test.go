package scenario

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// moments are when something happened in a story that no log has.
type moments struct {
	mu       sync.Mutex
	stable   []stableMoment
	unlogged map[audited][]time.Time
}

// stableMoment is a moment at which nothing was left to do for a cluster. Its resources are in the resource group of its name.
type stableMoment struct {
	at      time.Time
	cluster string
}

func newMoments() *moments { return &moments{unlogged: map[audited][]time.Time{}} }

// markStable records that nothing is left to do for a cluster.
func (m *moments) markStable(cluster string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stable = append(m.stable, stableMoment{time.Now(), cluster})
}

// markUnlogged records that an object is changed directly in etcd.
func (m *moments) markUnlogged(object audited) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unlogged[object] = append(m.unlogged[object], time.Now())
}

func (m *moments) listStable() []stableMoment {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.stable)
}

func (m *moments) listUnlogged() map[audited][]time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.unlogged)
}
