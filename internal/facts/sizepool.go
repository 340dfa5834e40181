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
	mu     sync.Mutex
	byHash map[[sha256.Size]byte]weak.Pointer[plan.VMSize]
}

func newSizePool() *sizePool {
	return &sizePool{byHash: map[[sha256.Size]byte]weak.Pointer[plan.VMSize]{}}
}

// shareSize returns an equal size of another catalog, or else size. The result must not be changed.
func (p *sizePool) shareSize(size *plan.VMSize) *plan.VMSize {
	// The format quotes strings and sorts the keys of maps.
	hash := sha256.Sum256(fmt.Appendf(nil, "%#v", *size))
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.byHash[hash].Value(); known != nil {
		return known
	}
	p.byHash[hash] = weak.Make(size)
	return size
}

// dropUnused forgets sizes that no catalog has.
func (p *sizePool) dropUnused() {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.byHash, func(_ [sha256.Size]byte, size weak.Pointer[plan.VMSize]) bool { return size.Value() == nil })
}
