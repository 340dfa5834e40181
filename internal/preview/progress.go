package preview

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
)

// progress counts states that are new in a plan. An object that returns to a state, or a write that is repeated after a refusal, is none.
type progress struct {
	mu    sync.Mutex
	seen  map[[sha256.Size]byte]bool
	count int
}

// recordObject counts an object after a change.
func (p *progress) recordObject(_ context.Context, before, after client.Object) {
	if after == nil {
		p.record("gone", fmt.Sprintf("%T", before), string(before.GetUID()))
		return
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	if err != nil {
		return
	}
	removeTimes(content)
	p.record(fmt.Sprintf("%T", after), content)
}

// recordWrites counts writes.
func (p *progress) recordWrites(writes []overlay.Write) {
	for _, w := range writes {
		p.record(w.Method, w.Path, string(w.Body))
	}
}

func (p *progress) record(state ...any) {
	raw, err := json.Marshal(state)
	if err != nil {
		return
	}
	hash := sha256.Sum256(raw)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen = map[[sha256.Size]byte]bool{}
	}
	if !p.seen[hash] {
		p.seen[hash] = true
		p.count++
	}
}

func (p *progress) total() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// timeless are members that change without a change of the values on which controllers decide.
var timeless = []string{"resourceVersion", "managedFields", "lastTransitionTime", "message", "longRunningOperationStates", "generation",
	"observedGeneration"}

func removeTimes(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range timeless {
			delete(v, key)
		}
		for _, each := range v {
			removeTimes(each)
		}
	case []any:
		for _, each := range v {
			removeTimes(each)
		}
	}
}
