package facts

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"sync"
	"weak"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// sizePool has equal VM sizes of several catalogs share their memory: a region has about a thousand, and most are the same for every
// identity and subscription. Each catalog is still listed with its own identity. The pool keeps no size in memory.
type sizePool struct {
	mu sync.Mutex
	// byRow has the sizes by location and row of Azure's answer, so that a row that was read before is not decoded again. Several rows may
	// have the same content.
	byRow, byContent map[[sha256.Size]byte]weak.Pointer[plan.VMSize]
}

// sizes are those of the process, which all Catalogs share.
var sizes = newSizePool()

func newSizePool() *sizePool {
	return &sizePool{byRow: map[[sha256.Size]byte]weak.Pointer[plan.VMSize]{}, byContent: map[[sha256.Size]byte]weak.Pointer[plan.VMSize]{}}
}

// hashRow identifies a row of a location.
func hashRow(location string, row []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(location+"\n"), row...))
}

// findSize returns the size of a row that was read before, else nil. The result must not be changed.
func (p *sizePool) findSize(row [sha256.Size]byte) *plan.VMSize {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byRow[row].Value()
}

// shareSize returns an equal size of another catalog, or else size. The result must not be changed.
func (p *sizePool) shareSize(row [sha256.Size]byte, size *plan.VMSize) *plan.VMSize {
	// The format quotes strings and sorts the keys of maps.
	content := sha256.Sum256(fmt.Appendf(nil, "%#v", *size))
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.byContent[content].Value(); known != nil {
		size = known
	}
	p.byRow[row], p.byContent[content] = weak.Make(size), weak.Make(size)
	return size
}

// maxRowsPerSize limits how many rows are known for a size on average. Azure may order a row differently in each answer.
const maxRowsPerSize = 8

// dropUnused forgets sizes that no catalog has, and all rows if there are too many.
func (p *sizePool) dropUnused() {
	p.mu.Lock()
	defer p.mu.Unlock()
	isUnused := func(_ [sha256.Size]byte, size weak.Pointer[plan.VMSize]) bool { return size.Value() == nil }
	maps.DeleteFunc(p.byRow, isUnused)
	maps.DeleteFunc(p.byContent, isUnused)
	if len(p.byRow) > maxRowsPerSize*len(p.byContent) {
		clear(p.byRow)
	}
}
