package observe

import (
	"encoding/json"
	"hash/maphash"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// digest is what a list of all resources showed, of a subscription or a resource group. It is small: of each resource it has a hash of
// what the list says, which is tags, size, state and when it was changed last.
//
// The list shows no children, and nothing documents that changedTime moves with them. It may also lag behind by seconds. So it never
// tells that a resource is not there, and what it vouches for is read in full once in a while.
type digest struct {
	begun, ended time.Time
	// rows are by the hash of an ID, of a resource group with anything in it, or of the path of a collection.
	rows map[uint64]uint64
}

// DigestMark stands for how a resource was shown, and 0 for that this is not known. The same mark before a read and later means that
// nobody has written the resource in between.
type DigestMark uint64

var seed = maphash.MakeSeed()

func hashOf(text string) uint64 { return maphash.String(seed, text) }

// digestQuery is what a list of all resources is asked for. Virtual machines are read at each look, for whether they run.
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

// addRow notes one resource. What somebody is writing, or has no time, vouches for nothing, and has its collection look changed.
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

// markOf is how id was shown: a resource, or a collection by its path. A child is shown by its parent, a resource group by what is in
// it, and an extension, as a role assignment, not at all.
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

// digestPath is the list of everything in a scope, which is a subscription or a resource group.
func digestPath(scope arm.ID) arm.ID { return scope + "/resources" }

// latestDigest is the latest digest with id in it, or nil. c.mu is held.
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

// hasDigestSince tells whether the digest of a path is no older than oldest.
func (c *Cache) hasDigestSince(scope string, path arm.ID, oldest time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.digests[cacheKey(scope, path)]
	return d != nil && !d.begun.Before(oldest)
}

// digestMark is how a digest from oldest or later shows id, 0 for none.
func (c *Cache) digestMark(scope string, id arm.ID, oldest time.Time) DigestMark {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.latestDigest(scope, id)
	if d == nil || d.begun.Before(oldest) {
		return 0
	}
	return d.markOf(id)
}

// vouchedObservation is what was read of id earlier, if a digest from oldest or later shows that it has not been written since. What the digest
// does not show is from full or later.
func (c *Cache) vouchedObservation(scope string, id arm.ID, oldest, full time.Time) (Observation, bool) {
	if holder, path := embeddingParent(id); holder != "" {
		if found, ok := c.vouchedObservation(scope, holder, oldest, full); ok && c.IsCurrent(Observation{Observed: Observed{ID: id}, changeCount: found.changeCount}) {
			return fromParentDocument(found, id, path)
		}
	}
	mark := c.digestMark(scope, id, oldest)
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey(scope, id)
	found, ok := c.entries[key]
	if !ok || mark == 0 || found.mark != mark || found.changeCount < c.resourceChanges[id.Key()].count {
		return Observation{}, false
	}
	if row, err := types.ForID(id); err != nil || !row.FullyListed && found.At.Before(full) {
		return Observation{}, false
	}
	found.vouchedAt = c.clock.Now()
	c.entries[key] = found
	if found, ok = found.decompressBody(); !ok {
		return Observation{}, false
	}
	found.ID, found.VouchedByDigest = id, true
	return found, true
}

// withDigestMark is an observation with how the latest digest before it showed the resource.
func (c *Cache) withDigestMark(scope string, found Observation) Observation {
	d := c.latestDigest(scope, found.ID)
	if d == nil || d.ended.After(found.At) || !found.Exists || found.FromWrite || found.Err != nil {
		return found
	}
	if doing, failed := ProvisioningState(found.Body); doing == "" && !failed {
		found.mark = d.markOf(found.ID)
	}
	return found
}
