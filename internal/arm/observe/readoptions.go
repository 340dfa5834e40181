package observe

import (
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// ReadOptions choose how one reconciliation may read Azure. They extend the age that each read accepts by itself. The zero value extends
// nothing: resources are read one by one.
type ReadOptions struct {
	// Batch means that other objects are about to read resources of the same collections, so that one list serves all of them.
	Batch bool
	// MaxAge is set for the sync of an object that was in order, to SyncMaxAge of its period. Reads up to this age serve, and older ones
	// while a digest shows no write. It includes Batch. 0 means that the reconciliation is no sync.
	MaxAge time.Duration
	// ReuseSince is the time at which the work of the reconciliation began. Resources that existed and were in order when they were read
	// since then are not read again, if only writes change them. The next sync detects changes by others. The zero time disables it.
	ReuseSince time.Time
	// ReuseOnly limits ReuseSince to some resources; nil means all.
	ReuseOnly func(arm.ID) bool
}

// agesPerSyncPeriod is the time between syncs, as a multiple of the age of reads that serve one sync.
const agesPerSyncPeriod = 10

// SyncMaxAge returns ReadOptions.MaxAge for syncs with a period.
func SyncMaxAge(period time.Duration) time.Duration { return period / agesPerSyncPeriod }

func (o ReadOptions) isBatch() bool { return o.Batch || o.MaxAge > 0 }
