// Package fault scripts the faults of the simulated Azure.
//
// A [Rule] selects requests and has the fault for them. Rules are tried in the order they were added; the first that
// matches and is not used up acts. Its promise: with the same rules and the same requests the same faults happen.
package fault

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// Kind is the effect of a rule.
type Kind string

// Kinds of faults.
const (
	Status    Kind = "status"      // answer with Status, Code and Message before anything happens; RetryAfter seconds if set
	Throttle  Kind = "throttle"    // 429 TooManyRequests with RetryAfter seconds
	Lost      Kind = "lost"        // do the request, then cut the connection
	LateError Kind = "lateError"   // do the request, then answer with Status (504 by default)
	Reset     Kind = "reset"       // cut the connection, do nothing
	Stuck     Kind = "stuck"       // the operation does not end before the rules are removed
	Slow      Kind = "slow"        // the operation takes Factor times as long, or exactly Seconds when set
	Fail      Kind = "fail"        // the operation ends Failed with Code and Message
	Cancel    Kind = "cancel"      // the operation ends Canceled with Code and Message
	Allocate  Kind = "allocation"  // the operation ends with AllocationFailed, or Code of its family
	Quota     Kind = "quota"       // the PUT is refused with OperationNotAllowed for cores
	Capacity  Kind = "skuCapacity" // the PUT is refused with SkuNotAvailable
	EtagRace  Kind = "etagRace"    // another client writes the resource just before, so If-Match fails
	Edit      Kind = "edit"        // before the request, Patch (RFC 7396) is merged into the resource: an out-of-band edit
	// Modify merges Patch (RFC 7396) into the body of a PUT or PATCH, like the effect Modify of a policy. A patch of tags applies only to
	// bodies with tags.
	Modify   Kind = "modify"
	Remove   Kind = "remove"   // before the request, the resource is removed behind everyone's back
	Omit     Kind = "omit"     // leave the items whose ID ends with Target out of the list that is answered
	Evict    Kind = "evict"    // before the request, the spot VM is evicted by its own policy
	SlowBody Kind = "slowBody" // do the request, answer with half of the body, and with the rest after Seconds
	Truncate Kind = "truncate" // do the request, answer with half of the body, then cut the connection
	Stale    Kind = "stale"    // answer a GET with the answer that the same GET had up to Seconds ago, 60 by default
	Unseen   Kind = "unseen"   // after a PUT that creates the resource, a GET of it answers 404 for Seconds, 10 by default
	Token    Kind = "token"    // 401 with Code, InvalidAuthenticationToken by default, as for a token that expired on the way
)

// Kinds are all of them.
var Kinds = []Kind{Status, Throttle, Lost, LateError, Reset, Stuck, Slow, Fail, Cancel, Allocate, Quota, Capacity, EtagRace, Edit, Modify,
	Remove, Omit, Evict, SlowBody, Truncate, Stale, Unseen, Token}

// Rule is one scripted fault. Empty match fields match everything.
type Rule struct {
	Method string `json:"method,omitempty"` // "PUT"
	Type   string `json:"type,omitempty"`   // "Microsoft.Compute/virtualMachines"
	ID     string `json:"id,omitempty"`     // glob over the lower-case ID, or the path of a list of all resources: "*/virtualmachines/cp-*"; "*" also crosses "/"
	Nth    int    `json:"nth,omitempty"`    // from the nth matching request on; 0 and 1 mean the first
	Count  int    `json:"count,omitempty"`  // how often; 0 means once, -1 always
	Now    bool   `json:"now,omitempty"`    // acts at once on the resource with the ID, without waiting for a request

	Kind       Kind           `json:"kind"`
	Status     int            `json:"status,omitempty"`
	Code       string         `json:"code,omitempty"`
	Message    string         `json:"message,omitempty"`
	Target     string         `json:"target,omitempty"`
	RetryAfter int            `json:"retryAfter,omitempty"` // seconds
	Factor     float64        `json:"factor,omitempty"`
	Seconds    float64        `json:"seconds,omitempty"` // how long a slow operation or body takes, or a stale or unseen answer lasts; not scaled
	Patch      map[string]any `json:"patch,omitempty"`
}

// OfOperation reports whether the kind acts on the long-running operation and not on the request.
func (k Kind) OfOperation() bool {
	return k == Stuck || k == Slow || k == Fail || k == Cancel || k == Allocate
}

// OfCheck reports whether the kind acts inside a provider's own check.
func (k Kind) OfCheck() bool { return k == Quota || k == Capacity }

// Script is a list of rules with their counters. The zero value is empty and ready for use.
type Script struct {
	mu    sync.Mutex
	rules []*counted
	added int
}

type counted struct {
	Rule
	number     int
	seen, done int
}

// Add appends a rule.
func (s *Script) Add(r Rule) error {
	if err := r.Validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added++
	s.rules = append(s.rules, &counted{Rule: r, number: s.added})
	return nil
}

// Remove removes the rule of a number, and reports whether there was one.
func (s *Script) Remove(number int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.rules)
	s.rules = slices.DeleteFunc(s.rules, func(r *counted) bool { return r.number == number })
	return len(s.rules) < before
}

// HasStuck reports whether a rule keeps operations of this kind from ending.
func (s *Script) HasStuck(method, typ, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.rules, func(r *counted) bool { return r.Kind == Stuck && r.matchesRequest(method, typ, id) })
}

// Use is a rule with its number, how often requests matched it, how often it acted, and whether it will act no more. Numbers count from 1 in
// the order in which rules were added, and are not given again.
type Use struct {
	Number int `json:"number"`
	Rule
	Seen  int  `json:"seen"`
	Done  int  `json:"done"`
	Spent bool `json:"spent"`
}

// ListUses returns all rules in the order they were added.
func (s *Script) ListUses() []Use {
	s.mu.Lock()
	defer s.mu.Unlock()
	uses := make([]Use, 0, len(s.rules))
	for _, r := range s.rules {
		uses = append(uses, Use{Number: r.number, Rule: r.Rule, Seen: r.seen, Done: r.done, Spent: r.isSpent()})
	}
	return uses
}

// Restore replaces all rules, including their counters.
func (s *Script) Restore(uses []Use) error {
	rules, added := make([]*counted, 0, len(uses)), 0
	for i, u := range uses {
		if err := u.Validate(); err != nil {
			return fmt.Errorf("rule %d: %w", i, err)
		}
		added = max(added+1, u.Number)
		rules = append(rules, &counted{Rule: u.Rule, number: added, seen: u.Seen, done: u.Done})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules, s.added = rules, added
	return nil
}

// Clear removes all rules.
func (s *Script) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
}

// TakeMatching finds the rule that acts on a request and counts it. want chooses among kinds; rules of other kinds are not counted.
func (s *Script) TakeMatching(method, typ, id string, want func(Kind) bool) (Rule, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rules {
		if !want(r.Kind) || !r.matchesRequest(method, typ, id) {
			continue
		}
		r.seen++
		if r.seen < r.Nth || r.isSpent() {
			continue
		}
		r.done++
		return r.Rule, true
	}
	return Rule{}, false
}

func (r *counted) isSpent() bool { return r.Count >= 0 && r.done >= max(r.Count, 1) }

func (r *counted) matchesRequest(method, typ, id string) bool {
	return (r.Method == "" || strings.EqualFold(r.Method, method)) &&
		(r.Type == "" || strings.EqualFold(r.Type, typ)) &&
		(r.ID == "" || matchGlob(strings.ToLower(r.ID), strings.ToLower(id)))
}

// matchGlob matches with "*" that crosses "/", which path.Match does not; "?" and classes work as in path.Match.
func matchGlob(pattern, s string) bool {
	const slash = "\x00"
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", slash), strings.ReplaceAll(s, "/", slash))
	return err == nil && ok
}
