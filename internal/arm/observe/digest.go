package observe

import (
	"encoding/json"
	"hash/maphash"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// digest is the content of a list of all resources, of a subscription or a resource group. It is small: it has a hash of each entry,
// which consists of tags, size, state and time of the last change.
//
// The list has no children, and Microsoft does not document that changedTime moves with them. It may also lag by seconds. So a digest
// never proves that a resource is absent, and resources for which it shows no write are read in full from time to time.
type digest struct {
	begun, ended time.Time
	// rows are by the hash of an ID, of a resource group that is not empty, or of the path of a collection.
	rows map[uint64]uint64
}

// DigestMark identifies the entry of a resource in a digest; 0 means unknown. The same mark before a read and later means that the
// resource was not written in between.
type DigestMark uint64

var seed = maphash.MakeSeed()

func hashOf(text string) uint64 { return maphash.String(seed, text) }

// digestQuery returns the query of a list of all resources. It leaves out virtual machines: each sync reads them, for their power state.
// https://learn.microsoft.com/en-us/rest/api/resources/resources/list
func digestQuery() map[string][]string {
	return map[string][]string{"$expand": {"changedTime,provisioningState"}, "$filter": {"resourceType ne '" + types.VirtualMachine + "'"}}
}

func newDigest(begun, ended time.Time, items []json.RawMessage) *digest {
	d := &digest{begun: begun, ended: ended, rows: make(map[uint64]uint64, len(items))}
	for _, item := range items {
		d.addRow(item)
	}
	return d
}

// addRow adds one resource. A resource that is being written, or has no time, gets no mark, and its collection counts as changed.
func (d *digest) addRow(item json.RawMessage) {
	var row struct {
		ID                arm.ID `json:"id"`
		ChangedTime       string `json:"changedTime"`
		ProvisioningState string `json:"provisioningState"`
	}
	if json.Unmarshal(item, &row) != nil || row.ID == "" {
		return
	}
	hash := maphash.Bytes(seed, item) | 1
	d.rows[hashOf(resourceGroupOf(row.ID).Key())] = 1
	collection := hashOf(strings.ToLower(types.ListPath(row.ID)))
	if row.ChangedTime == "" || row.ProvisioningState != "" && !strings.EqualFold(row.ProvisioningState, "Succeeded") {
		d.rows[collection] += uint64(d.begun.UnixNano()) | 1
		return
	}
	d.rows[collection] += hash
	d.rows[hashOf(row.ID.Key())] = hash
}

// markOf returns the mark of id: a resource, or a collection by its path. A child has the mark of its parent, a resource group that of
// its content, and an extension, as a role assignment, none of its own.
func (d *digest) markOf(id arm.ID) DigestMark {
	unseen := DigestMark(0)
	for ; id != ""; id = id.Parent() {
		if row := d.rows[hashOf(id.Key())]; row != 0 {
			return DigestMark(row)
		}
		if types.IsExtension(id.Type()) {
			unseen = 1
		} else if strings.Count(id.Type(), "/") < 2 {
			break
		}
	}
	return unseen
}

// digestPath returns the path of the list of all resources in a scope, which is a subscription or a resource group.
func digestPath(scope arm.ID) arm.ID { return scope + "/resources" }

// latestDigest returns the latest digest that covers id, or nil. c.mu is held.
func (c *Cache) latestDigest(scope string, id arm.ID) *digest {
	whole := c.digests[cacheKey(scope, digestPath(arm.SubscriptionID(id.Subscription())))]
	group := c.digests[cacheKey(scope, digestPath(resourceGroupOf(id)))]
	if whole == nil || group != nil && group.begun.After(whole.begun) {
		return group
	}
	return whole
}

// storeDigest stores a digest.
func (c *Cache) storeDigest(scope string, path arm.ID, d *digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.digests[cacheKey(scope, path)] = d
}

// hasDigestSince reports whether the digest of a path is from oldest or later.
func (c *Cache) hasDigestSince(scope string, path arm.ID, oldest time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.digests[cacheKey(scope, path)]
	return d != nil && !d.begun.Before(oldest)
}

// digestMark returns the mark of id in a digest from oldest or later, 0 if there is none.
func (c *Cache) digestMark(scope string, id arm.ID, oldest time.Time) DigestMark {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.latestDigest(scope, id)
	if d == nil || d.begun.Before(oldest) {
		return 0
	}
	return d.markOf(id)
}

// confirmedObservation returns an earlier read of id, if a digest from oldest or later shows that the resource was not written since.
// For types with more than the digest shows, the read has to be from oldestFull or later.
func (c *Cache) confirmedObservation(scope string, id arm.ID, oldest, oldestFull time.Time) (Observation, bool) {
	if holder, path := embeddingParent(id); holder != "" {
		if found, ok := c.confirmedObservation(scope, holder, oldest, oldestFull); ok &&
			c.IsCurrent(Observation{Observed: Observed{ID: id}, changeCount: found.changeCount}) {
			return fromParentDocument(found, id, path)
		}
	}
	mark := c.digestMark(scope, id, oldest)
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey(scope, id)
	found, ok := c.entries.byKey[key]
	if !ok || mark == 0 || found.mark != mark || found.changeCount < c.resourceChanges[id.Key()].count {
		return Observation{}, false
	}
	if row, err := types.ForID(id); err != nil || !row.FullyListed && found.At.Before(oldestFull) {
		return Observation{}, false
	}
	found.confirmedAt = c.clock.Now()
	c.entries.store(key, found)
	if found, ok = found.decompressBody(); !ok {
		return Observation{}, false
	}
	found.ID, found.ConfirmedByDigest = id, true
	return found, true
}

// withDigestMark returns the observation with the mark of the latest digest before it.
func (c *Cache) withDigestMark(scope string, found Observation) Observation {
	d := c.latestDigest(scope, found.ID)
	if d == nil || d.ended.After(found.At) || !found.Exists || found.FromWrite || found.Err != nil {
		return found
	}
	inProgress, failed := found.Head().State()
	if row, err := types.ForID(found.ID); err != nil || inProgress != "" || failed ||
		len(arm.ListUnapprovedConnections(found.Body, row.ConnectionLists)) > 0 {
		return found
	}
	found.mark = d.markOf(found.ID)
	return found
}
