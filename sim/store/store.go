// Package store keeps the simulated Azure's state: resources by case-insensitive ID, the references between them,
// long-running operations, and the clock.
//
// Its promise: a transaction is all or nothing, it is on disk before Update returns (when a state directory is set),
// and a committed resource is never changed in place, so readers may keep the resources that they got.
package store

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Resource is one stored resource. Children that live in an array of their parent (subnets, security rules) are part of the parent's Body.
type Resource struct {
	ID       string         `json:"id"`
	Type     string         `json:"type"` // canonical casing
	Location string         `json:"location,omitempty"`
	Body     map[string]any `json:"body"`             // envelope without id, name, type and etag
	Secret   map[string]any `json:"secret,omitempty"` // write-only values (customData, protectedSettings); never rendered
	Etag     string         `json:"etag,omitempty"`
	Version  int            `json:"version"` // counts writes
	Created  time.Time      `json:"created"`
	Changed  time.Time      `json:"changed"`
	Written  time.Time      `json:"written,omitzero"` // by a request for the resource itself, and not for one of its children
}

// Name returns the last segment of the ID.
func (r *Resource) Name() string { return r.ID[strings.LastIndexByte(r.ID, '/')+1:] }

// Clone returns a deep copy.
func (r *Resource) Clone() *Resource {
	c := *r
	c.Body = deepCopy(r.Body)
	c.Secret = deepCopy(r.Secret)
	return &c
}

func deepCopy(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	return deepValue(m).(map[string]any)
}

func deepValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = deepValue(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = deepValue(e)
		}
		return l
	}
	return v
}

// Store is the whole state. Use Update and View; everything else is reached through the Tx they pass.
type Store struct {
	Clock Clock

	mu       sync.Mutex
	byKey    map[string]*Resource
	keys     keys                        // of all resources
	byType   map[string]keys             // of those of a type
	refs     map[string]map[string][]Ref // target key -> source key -> refs
	ops      map[string]*Operation
	running  map[string]*Operation
	meta     map[string]json.RawMessage
	revision int64
	journal  *journal
	changed  chan struct{}
	// committed is called with the keys of the resources that a commit changed, before the next transaction begins.
	committed func(tx *Tx, keys []string)
	origin    origin
}

// OnCommit sets a function that is called after each commit with the keys of the resources that it changed. f must not write.
func (s *Store) OnCommit(f func(tx *Tx, keys []string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.committed = f
}

// Open returns a store that keeps its state in dir, or only in memory when dir is "". It loads the state that an
// earlier process acknowledged; a half-written last record (the process was killed while writing) is dropped.
// A directory that another store has open is refused.
func Open(clock Clock, dir string) (*Store, error) {
	s := newEmpty(clock)
	if dir == "" {
		return s, nil
	}
	j, err := openJournal(dir, s)
	if err != nil {
		return nil, err
	}
	s.journal = j
	return s, nil
}

func newEmpty(clock Clock) *Store {
	return &Store{
		Clock: clock, byKey: map[string]*Resource{}, byType: map[string]keys{}, refs: map[string]map[string][]Ref{},
		ops: map[string]*Operation{}, running: map[string]*Operation{}, meta: map[string]json.RawMessage{}, changed: make(chan struct{}),
	}
}

// Close releases the state directory.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return nil
	}
	return s.journal.closeJournal()
}

// Revision counts commits.
func (s *Store) Revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// Changed returns a channel that is closed at the next commit.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// View runs f on a consistent state. f must not write.
func (s *Store) View(f func(tx *Tx)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&Tx{s: s})
}

// Update runs f as one transaction. An error or a panic of f undoes everything f wrote, and goes on to the caller.
func (s *Store) Update(f func(tx *Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tx := &Tx{s: s, undo: map[string]*Resource{}, undoOps: map[string]*Operation{}, undoMeta: map[string]json.RawMessage{}}
	committed := false
	defer func() {
		if !committed {
			tx.rollBack() // An HTTP server survives a panic, and would go on with half a transaction.
		}
	}()
	if err := f(tx); err != nil {
		return err
	}
	if len(tx.undo) == 0 && len(tx.undoOps) == 0 && len(tx.undoMeta) == 0 {
		return nil
	}
	if s.journal != nil {
		if err := s.journal.appendRecord(tx.record()); err != nil {
			return err
		}
	}
	committed = true
	s.revision++
	s.origin.recordDeletions(s, maps.Keys(tx.undo))
	close(s.changed)
	s.changed = make(chan struct{})
	if s.committed != nil && len(tx.undo) > 0 {
		s.committed(&Tx{s: s}, slices.Sorted(maps.Keys(tx.undo)))
	}
	return nil
}

func (s *Store) applyResource(key string, r *Resource) {
	s.updateIndex(key, s.byKey[key], r)
	if old := s.byKey[key]; old != nil {
		for _, ref := range extractReferences(old.ID, old.Body) {
			if m := s.refs[Key(ref.To)]; m != nil {
				if delete(m, key); len(m) == 0 {
					delete(s.refs, Key(ref.To))
				}
			}
		}
	}
	if r == nil {
		delete(s.byKey, key)
		return
	}
	s.byKey[key] = r
	for _, ref := range extractReferences(r.ID, r.Body) {
		to := Key(ref.To)
		if s.refs[to] == nil {
			s.refs[to] = map[string][]Ref{}
		}
		s.refs[to][key] = append(s.refs[to][key], ref)
	}
}

func (s *Store) applyOp(id string, op *Operation) {
	delete(s.running, id)
	if op == nil {
		delete(s.ops, id)
		return
	}
	s.ops[id] = op
	if op.IsRunning() {
		s.running[id] = op
	}
}

// Tx is a view of the state inside Update or View.
type Tx struct {
	s        *Store
	undo     map[string]*Resource
	undoOps  map[string]*Operation
	undoMeta map[string]json.RawMessage
}

// Now returns the store's time.
func (tx *Tx) Now() time.Time { return tx.s.Clock.Now() }

// Get returns the stored resource with that ID, or nil. It must not be changed; see Edit.
func (tx *Tx) Get(id string) *Resource {
	key := Key(id)
	tx.s.copyFromOrigin(id, key)
	return tx.s.byKey[key]
}

// Edit returns a copy of the stored resource; Put writes it back.
func (tx *Tx) Edit(id string) *Resource {
	if r := tx.Get(id); r != nil {
		return r.Clone()
	}
	return nil
}

// Put stores r. The caller must not change r afterwards.
func (tx *Tx) Put(r *Resource) {
	key := Key(r.ID)
	tx.rememberOld(key)
	now := tx.Now()
	if old := tx.s.byKey[key]; old != nil {
		r.Created, r.Version = old.Created, old.Version+1
	} else {
		r.Created, r.Version = now, 1
	}
	r.Changed = now
	tx.s.applyResource(key, r)
}

// Delete removes the resource with that ID, if there is one. Nested resources stay; see Children.
func (tx *Tx) Delete(id string) {
	key := Key(id)
	tx.rememberOld(key)
	tx.s.applyResource(key, nil)
}

func (tx *Tx) rememberOld(key string) {
	if _, ok := tx.undo[key]; !ok {
		tx.undo[key] = tx.s.byKey[key]
	}
}

// Range yields the resources of a type (any when "") at or below a scope (anywhere when ""), ordered by ID, and only
// those behind after unless that is "". Its cost depends on the number of resources taken from it, not on the number
// stored. The transaction must not write meanwhile.
func (tx *Tx) Range(typ, scope, after string) iter.Seq[*Resource] {
	tx.s.copyListFromOrigin(typ, scope)
	from := tx.s.keys
	if typ != "" {
		from = tx.s.byType[strings.ToLower(typ)]
	}
	prefix := ""
	if scope != "" {
		prefix = Key(scope) + "/"
	}
	return func(yield func(*Resource) bool) {
		for _, key := range from.keysBelow(prefix, after) {
			if !strings.HasPrefix(key, prefix) || !yield(tx.s.byKey[key]) {
				return
			}
		}
	}
}

// List returns the resources that Range yields as a slice, so that the caller may write while it iterates.
func (tx *Tx) List(typ, scope string) []*Resource { return slices.Collect(tx.Range(typ, scope, "")) }

// Each calls f with every resource of a type, ordered by ID.
func (tx *Tx) Each(typ string, f func(r *Resource)) {
	for r := range tx.Range(typ, "", "") {
		f(r)
	}
}

// Children returns everything stored below id, ordered by ID.
func (tx *Tx) Children(id string) []*Resource { return tx.List("", id) }

// Referrers returns the references to id, ordered by where they stand.
func (tx *Tx) Referrers(id string) []Ref {
	var out []Ref
	for _, refs := range tx.s.refs[Key(id)] {
		out = append(out, refs...)
	}
	sortRefs(out)
	return out
}

// Operation returns a copy of the operation with that ID, or nil. PutOperation writes it back.
func (tx *Tx) Operation(id string) *Operation {
	op := tx.s.ops[strings.ToLower(id)]
	if op == nil {
		return nil
	}
	c := *op
	c.Data = deepCopy(op.Data)
	return &c
}

// PutOperation stores op.
func (tx *Tx) PutOperation(op *Operation) {
	id := strings.ToLower(op.ID)
	if _, ok := tx.undoOps[id]; !ok {
		tx.undoOps[id] = tx.s.ops[id]
	}
	if op.Seq == 0 {
		op.Seq = int64(len(tx.s.ops)) + 1
	}
	tx.s.applyOp(id, op)
}

// Operations returns every operation in the order they were started.
func (tx *Tx) Operations() []*Operation {
	out := make([]*Operation, 0, len(tx.s.ops))
	for _, op := range tx.s.ops {
		out = append(out, op)
	}
	slices.SortFunc(out, func(a, b *Operation) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

// Running returns the operations that have not ended, the one due first at the front; those that never end come last.
func (tx *Tx) Running() []*Operation {
	return slices.SortedFunc(tx.EachRunning(), (*Operation).CompareDue)
}

// EachRunning yields the operations that have not ended, in any order. The transaction must not write meanwhile.
func (tx *Tx) EachRunning() iter.Seq[*Operation] { return maps.Values(tx.s.running) }

// RunningOn returns the running operation that holds the key of id, or nil.
func (tx *Tx) RunningOn(id string) *Operation {
	key := Key(id)
	var first *Operation
	for _, op := range tx.s.running {
		for _, k := range op.Keys {
			if k == key && (first == nil || op.Seq < first.Seq) {
				first = op
			}
		}
	}
	return first
}

// ReadNote reads a note kept beside the resources into v and returns whether there was one.
func (tx *Tx) ReadNote(key string, v any) bool {
	raw, ok := tx.s.meta[key]
	return ok && json.Unmarshal(raw, v) == nil
}

// SetMeta keeps a note beside the resources; nil removes it.
func (tx *Tx) SetMeta(key string, v any) {
	if _, ok := tx.undoMeta[key]; !ok {
		tx.undoMeta[key] = tx.s.meta[key]
	}
	if v == nil {
		delete(tx.s.meta, key)
		return
	}
	if raw, err := json.Marshal(v); err == nil {
		tx.s.meta[key] = raw
	}
}

// MetaKeys lists the keys with that prefix, ordered.
func (tx *Tx) MetaKeys(prefix string) []string {
	var out []string
	for k := range tx.s.meta {
		if strings.HasPrefix(k, prefix) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// Try runs f and takes back what it has written.
func (tx *Tx) Try(f func() error) error {
	outer := *tx
	tx.undo, tx.undoOps, tx.undoMeta = map[string]*Resource{}, map[string]*Operation{}, map[string]json.RawMessage{}
	defer func() {
		tx.rollBack()
		tx.undo, tx.undoOps, tx.undoMeta = outer.undo, outer.undoOps, outer.undoMeta
	}()
	return f()
}

func (tx *Tx) rollBack() {
	for k, r := range tx.undo {
		tx.s.applyResource(k, r)
	}
	for id, op := range tx.undoOps {
		tx.s.applyOp(id, op)
	}
	for k, raw := range tx.undoMeta {
		if raw == nil {
			delete(tx.s.meta, k)
		} else {
			tx.s.meta[k] = raw
		}
	}
}

func (tx *Tx) record() record {
	rec := record{Meta: map[string]json.RawMessage{}}
	for k := range tx.undo {
		if r := tx.s.byKey[k]; r != nil {
			rec.Put = append(rec.Put, r)
		} else {
			rec.Delete = append(rec.Delete, k)
		}
	}
	for id := range tx.undoOps {
		if op := tx.s.ops[id]; op != nil {
			rec.Operations = append(rec.Operations, op)
		}
	}
	for k := range tx.undoMeta {
		rec.Meta[k] = tx.s.meta[k]
	}
	return rec
}
