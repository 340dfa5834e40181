package transitions_test

import (
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// excuse is a difference that is none of the provider's.
type excuse struct {
	reason     string
	difference *regexp.Regexp
	// where is what else the changes have left; nil is anything.
	where *regexp.Regexp
}

// excusesDifference reports whether a difference in what changes have left is excused.
func (e excuse) excusesDifference(difference string, left virtual.State) bool {
	return e.difference.MatchString(difference) &&
		(e.where == nil || slices.ContainsFunc(slices.Collect(maps.Keys(left)), e.where.MatchString))
}

// noDefault is that of every life.
var noDefault = excuse{
	reason:     "where Azure shows no default, false and nothing are the same; where it shows one, the other side has a value too much",
	difference: regexp.MustCompile(`: (false|<nil>)? is (missing|too much)$`),
}

// listDifferences returns the differences in Azure between changes and a fresh apply of the last manifests.
func (l *life) listDifferences(fresh, changed end) []string {
	return slices.DeleteFunc(fresh.cloud.ListDifferences(changed.cloud), func(difference string) bool {
		return slices.ContainsFunc(append(l.excused, noDefault), func(e excuse) bool { return e.excusesDifference(difference, changed.cloud) })
	})
}

// cause is a text in a condition that names the cause: a field, or a request that Azure refused.
var cause = regexp.MustCompile(`\bspec\.\w|(PUT|PATCH|DELETE|POST) \S+: \w+|the spec has other values: \w|the spec no longer sets, so they stay as they are until they are set again: /\w`)

// lackingCause returns the conditions that name no cause of a difference from the spec.
func lackingCause(messages map[string]string) (wrong []string) {
	for name, is := range messages {
		if !cause.MatchString(is) {
			wrong = append(wrong, name+" is not as its spec, and its condition names neither a field nor a refused request:  "+is)
		}
	}
	return wrong
}

// tally is what came of the sequences of a test.
type tally struct {
	mu                                                    sync.Mutex
	sequences, manifests, refused, equal, reported, alike int
}

func (c *tally) countSequence(changed, fresh end, manifests int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sequences++
	c.manifests += manifests
	c.refused += len(changed.refused)
	switch {
	case len(changed.messages) == 0:
		c.equal++
	case len(fresh.messages) == 0:
		c.reported++
	default:
		c.alike++
	}
}

func (c *tally) logCounts(t *testing.T) {
	t.Logf("%d sequences with %d manifests, %d of them refused by field: %d ended in the cloud of a fresh apply, %d tell why they cannot, "+
		"%d have a spec that a fresh apply tells of too",
		c.sequences, c.manifests, c.refused, c.equal, c.reported, c.alike)
}

// sample are flags that have each run try the same few.
var sample = map[string]string{"rapid.checks": "2", "rapid.seed": "1"}

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { delete(sample, f.Name) })
	for name, value := range sample {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
